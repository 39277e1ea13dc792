# What the report of `geofix enrich --summary` says of an access log, as a user would count it in Python with Debian's
# python3-maxminddb:
#
#     python3 report.py CITY_DATABASE ASN_DATABASE ACCESS_LOG
#
# reads each line once, looks each address up once, and prints the figures as JSON, without a page.
import ipaddress
import json
import re
import sys
from collections import Counter
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

import maxminddb

city_file, asn_file, log = sys.argv[1:]
LINE = re.compile(r'(\S+) \S+ \S+ \[([^\]]+)\] "(?:(\S+) ([^ ?"]*)[^"]*)?" (\d{3}) (\d+|-)')
MOST = 250
TIMELINE_COUNTRIES = 5

minutes, statuses, methods, pages, not_found = Counter(), Counter(), Counter(), Counter(), Counter()
lines = unread = sent = 0
with open(log, encoding="utf-8", newline="\n") as file:
    for line in file:
        lines += 1
        match = LINE.match(line)
        if match is None:
            unread += 1
            continue
        address, time, method, path, status, size = match.groups()
        minutes[address, time[:17]] += 1
        statuses[status] += 1
        if method is not None:
            methods[method] += 1
            pages[path] += 1
            if status == "404":
                not_found[path] += 1
        if size != "-":
            sent += int(size)

addresses = Counter()
for (address, _), count in minutes.items():
    addresses[address] += count


def english(names):
    return names.get("en") or next(iter(names.values()), None)


def network_of(address):
    return address.rpartition(".")[0] if "." in address else str(ipaddress.ip_address(address))[:14]


class Sums:
    """Lines and distinct addresses by key."""

    def __init__(self):
        self.lines, self.addresses = Counter(), Counter()

    def add(self, key, count):
        self.lines[key] += count
        self.addresses[key] += 1

    def largest(self, most=None):
        return [[key, count, self.addresses[key]] for key, count in self.lines.most_common(most)]


places, countries, regions, cities, networks, owners = {}, Sums(), Sums(), Sums(), Sums(), Sums()
located = 0
with maxminddb.open_database(city_file) as city_reader, maxminddb.open_database(asn_file) as asn_reader:
    for address, count in addresses.items():
        try:
            found = city_reader.get(address)
        except ValueError:
            found = None
        networks.add(network_of(address), count)
        if found is None:
            continue
        located += count
        country = found.get("country", {})
        name = english(country.get("names", {}))
        places[address] = (name, found.get("location", {}).get("time_zone"))
        countries.add((country.get("iso_code"), name), count)
        region = english(found.get("subdivisions", [{}])[0].get("names", {}))
        if region is not None:
            regions.add((name, region), count)
        city = english(found.get("city", {}).get("names", {}))
        if city is not None:
            cities.add((name, region, city), count)
        owner = asn_reader.get(address)
        if owner is not None:
            owners.add((owner["autonomous_system_number"], owner.get("autonomous_system_organization")), count)

largest = {name for (_, name), _ in countries.lines.most_common(TIMELINE_COUNTRIES)}
instants, zones, offsets = {}, {}, {}
local_hours, timeline = [0] * 24, {}
for (address, minute), count in minutes.items():
    instant = instants.get(minute)
    if instant is None:
        instant = datetime.strptime(minute, "%d/%b/%Y:%H:%M").replace(tzinfo=timezone.utc)
        instants[minute] = instant
    name, zone = places.get(address, (None, None))
    day = timeline.setdefault(minute[:11], Counter())
    day[name if name in largest else "others"] += count
    if zone is None:
        continue
    offset = offsets.get((zone, minute[:14]))
    if offset is None:
        zone_info = zones.setdefault(zone, ZoneInfo(zone))
        offset = instant.astimezone(zone_info).utcoffset().total_seconds() // 60
        offsets[zone, minute[:14]] = offset
    local_hours[int((instant.hour * 60 + instant.minute + offset) // 60 % 24)] += count

print(
    json.dumps(
        {
            "lines": {"all": lines, "located": located, "unreadable": unread},
            "addresses": len(addresses),
            "first": min(instants.values()).isoformat(),
            "last": max(instants.values()).isoformat(),
            "bytes_sent": sent,
            "local_hours": local_hours,
            "timeline": timeline,
            "countries": countries.largest(),
            "regions": regions.largest(),
            "cities": cities.largest(),
            "top_addresses": addresses.most_common(MOST),
            "networks": networks.largest(MOST),
            "owners": owners.largest(MOST),
            "statuses": statuses.most_common(),
            "methods": methods.most_common(MOST),
            "pages": pages.most_common(MOST),
            "not_found": not_found.most_common(MOST),
        }
    )
)
