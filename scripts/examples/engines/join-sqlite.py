# SQLite: pip install pyarrow
import csv
import sqlite3
import pyarrow.parquet as pq
from ip_key import ip_key

db = sqlite3.connect("networks.db")
db.execute("CREATE TABLE networks (start_key BLOB PRIMARY KEY, end_key BLOB, country_code TEXT, city TEXT) WITHOUT ROWID")
for batch in pq.ParquetFile("networks.parquet").iter_batches():
    db.executemany("INSERT INTO networks VALUES (?, ?, ?, ?)", zip(*(column.to_pylist() for column in batch.columns)))
db.create_function("ip_key", 1, ip_key, deterministic=True)
db.execute("CREATE TABLE visits (ip TEXT)")
db.executemany("INSERT INTO visits VALUES (?)", ([row["ip"]] for row in csv.DictReader(open("visits.csv"))))
db.commit()
located = db.execute("""
  SELECT ip, country_code, city FROM visits LEFT JOIN networks
  ON start_key = (SELECT max(start_key) FROM networks WHERE start_key <= ip_key(ip)) AND ip_key(ip) <= end_key
""")
with open("located.csv", "w", newline="") as file:
    csv.writer(file).writerows([("ip", "country_code", "city"), *located])
