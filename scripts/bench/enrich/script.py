# The script that a user would write in Python, with Debian's python3-maxminddb:
#
#     python3 script.py DATABASE FILE access-log|ndjson|csv
#
# writes each line of FILE as it is, with six more fields: after tabs, or after commas in CSV.
import re
import sys

import maxminddb

CLIENT = re.compile(r'"client":{"ip":"([^"]*)"')


def client_of_event(line):
    found = CLIENT.search(line)
    return found[1] if found else ""


ADDRESS = {
    "access-log": lambda line: line.split(" ", 1)[0],
    "ndjson": client_of_event,
    "csv": lambda line: line.split(",", 2)[1],
}


def fields_of(reader, ip):
    try:
        found = reader.get(ip) or {}
    except ValueError:
        found = {}
    location = found.get("location", {})
    region = found.get("subdivisions", [{}])[0]
    city = found.get("city", {}).get("names", {}).get("en", "")
    return [
        found.get("country", {}).get("iso_code", ""),
        region.get("iso_code", ""),
        city,
        str(location.get("latitude", "")),
        str(location.get("longitude", "")),
        location.get("time_zone", ""),
    ]


database, file, format = sys.argv[1:]
address_of = ADDRESS[format]
separator = "," if format == "csv" else "\t"
with maxminddb.open_database(database) as reader, open(file, encoding="utf-8", newline="\n") as lines:
    for line in lines:
        fields = fields_of(reader, address_of(line))
        sys.stdout.write(line.rstrip("\n") + separator + separator.join(fields) + "\n")
