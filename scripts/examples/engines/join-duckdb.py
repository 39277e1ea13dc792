# DuckDB: pip install duckdb
import duckdb
from ip_key import ip_key

db = duckdb.connect()
db.create_function("ip_key", ip_key, ["VARCHAR"], "BLOB")
located = db.sql("""
  SELECT ip, if(key <= end_integer, country_code, NULL) AS country_code, if(key <= end_integer, city, NULL) AS city
  FROM (SELECT ip, ip_key(ip) AS key FROM 'visits.csv')
  ASOF LEFT JOIN 'networks.parquet' ON key >= start_integer
""")
located.write_csv("located.csv")
