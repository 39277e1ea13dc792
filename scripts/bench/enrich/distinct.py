# The report that a user would write in Python, with Debian's python3-maxminddb:
#
#     python3 distinct.py DATABASE ACCESS_LOG
#
# counts the distinct addresses first, looks each of them up once, and prints the number of lines of each country.
import sys
from collections import Counter

import maxminddb

database, file = sys.argv[1:]
with open(file, encoding="utf-8", newline="\n") as lines:
    addresses = Counter(line.split(" ", 1)[0] for line in lines)
countries = Counter()
with maxminddb.open_database(database) as reader:
    for address, count in addresses.items():
        try:
            found = reader.get(address) or {}
        except ValueError:
            found = {}
        countries[found.get("country", {}).get("iso_code", "")] += count
for country, count in countries.most_common():
    print(country, count)
