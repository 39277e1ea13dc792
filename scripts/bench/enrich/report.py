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
LINE = re.compile(
    r'(\S+) \S+ \S+ \[([^\]]+)\] "(?:(\S+) ([^ ?"]*)[^"]*)?" (\d{3}) (\d+|-)(?: "([^"]*)" "(.*)")?'
)
MOST = 250
TIMELINE_COUNTRIES = 5
ASSET = re.compile(
    r"\.(?:css|m?js|map|json|png|jpe?g|gif|svg|ico|webp|avif|bmp|woff2?|ttf|otf|eot|mp[34]|webm|ogg|wav|wasm)$", re.I
)
HOST = re.compile(r"[a-z][a-z\d+.-]*://(?:[^/?#@]*@)?([^/?#@]+)", re.I)
CRAWLER = re.compile(
    r"bot|crawl|spider|slurp|feed|fetch|reader|http|url|scan|monitor|check|archive|preview|validator|proxy|rss|^-?$"
    r"|^(?!Mozilla/|Opera/)\S*$|^(?:\w+/[\d.]+ ?)+$|compatible;(?! *(?:MSIE|Konqueror))",
    re.I,
)
PRODUCT = re.compile(r"(?:.*?\bcompatible; *)?([^;/()]+)")
VERSION = re.compile(r"(?: -)?(?: v?\d[\w.]*.*)?$")
BROWSERS = {name: re.compile(pattern, re.I) for name, pattern in (
    ("Opera", r"\bopera|\bopr/|opios"),
    ("Internet Explorer", r"msie|trident"),
    ("Microsoft Edge", r"\bedg([ea]|ios)?/"),
    ("SeaMonkey", r"seamonkey"),
    ("Chromium", r"chromium"),
    ("Chrome", r"chrome|crios"),
    ("Firefox", r"firefox|iceweasel|fxios"),
    ("Android Browser", r"android"),
    ("Safari", r"safari|applewebkit"),
)}
SYSTEMS = {name: re.compile(pattern, re.I) for name, pattern in (
    ("Windows Phone", r"windows phone"),
    ("Windows", r"windows"),
    ("iOS", r"ipod|iphone|ipad"),
    ("macOS", r"macintosh"),
    ("Android", r"android"),
    ("Linux", r"linux"),
    ("Chrome OS", r"cros"),
)}

minutes, sent, requests, errors = Counter(), Counter(), Counter(), Counter()
methods, page_bytes, referrers, agents = Counter(), Counter(), Counter(), Counter()
lines = unread = 0
with open(log, encoding="utf-8", errors="replace", newline="\n") as file:
    for line in file:
        lines += 1
        match = LINE.match(line)
        if match is None:
            unread += 1
            continue
        address, time, method, path, status, size, referrer, agent = match.groups()
        minutes[address, time[:17]] += 1
        if status >= "400":
            errors[time[:14], status[0]] += 1
        methods[method] += 1
        requests[path, status] += 1
        referrers[referrer] += 1
        agents[agent] += 1
        if size != "-":
            size = int(size)
            sent[address] += size
            page_bytes[path] += size

addresses = Counter()
days = {}
for (address, minute), count in minutes.items():
    addresses[address] += count
    days.setdefault(minute[:11], set()).add(address)


def english(names):
    return names.get("en") or next(iter(names.values()), None)


def network_of(address):
    if "." in address:
        return address.rpartition(".")[0] + ".0/24"
    return str(ipaddress.ip_network((address, 48), strict=False))


def first_match(patterns, text):
    return next((name for name, pattern in patterns.items() if pattern.search(text)), None)


class Sums:
    """Lines and distinct addresses by key."""

    def __init__(self):
        self.lines, self.addresses = Counter(), Counter()

    def add(self, key, count):
        self.lines[key] += count
        self.addresses[key] += 1

    def largest(self, most=None, more=None):
        some = self.lines.most_common(most)
        return [[key, count, self.addresses[key], *([] if more is None else [more.get(key)])] for key, count in some]


places, countries, regions, cities, networks, owners, cells = {}, Sums(), Sums(), Sums(), Sums(), Sums(), {}
country_bytes, network_countries = Counter(), Counter()
located = 0
with maxminddb.open_database(city_file) as city_reader, maxminddb.open_database(asn_file) as asn_reader:
    for address, count in addresses.items():
        try:
            found = city_reader.get(address)
            owner = asn_reader.get(address)
        except ValueError:
            found = owner = None
        network = network_of(address)
        networks.add(network, count)
        if owner is not None:
            key = (owner["autonomous_system_number"], owner.get("autonomous_system_organization"))
            owners.add(key, count)
        if found is None or not found.keys() & {"country", "location"}:
            continue
        located += count
        country = found.get("country", {})
        code = country.get("iso_code")
        network_countries[network, code] += count
        name = english(country.get("names", {}))
        location = found.get("location", {})
        city = english(found.get("city", {}).get("names", {}))
        places[address] = (name, location.get("time_zone"), city)
        countries.add((code, name), count)
        country_bytes[code, name] += sent[address]
        region = english(found.get("subdivisions", [{}])[0].get("names", {}))
        if region is not None:
            regions.add((code, region), count)
        if city is not None:
            cities.add((code, region, city), count)
        if "latitude" in location:
            latitude, longitude = location["latitude"], location["longitude"]
            cell = cells.setdefault((int(latitude // 1), int(longitude // 1)), [0, 0, 0])
            cell[0] += latitude * count
            cell[1] += longitude * count
            cell[2] += count

largest = {name for (_, name), _ in countries.lines.most_common(TIMELINE_COUNTRIES)}
instants, zones, offsets = {}, {}, {}
week_hours, timeline = [0] * 168, {}
for (address, minute), count in minutes.items():
    instant = instants.get(minute)
    if instant is None:
        instant = datetime.strptime(minute, "%d/%b/%Y:%H:%M").replace(tzinfo=timezone.utc)
        instants[minute] = instant
    name, zone, _ = places.get(address, (None, None, None))
    day = timeline.setdefault(minute[:11], Counter())
    day[name if name in largest else "others"] += count
    if zone is None:
        continue
    offset = offsets.get((zone, minute[:14]))
    if offset is None:
        zone_info = zones.setdefault(zone, ZoneInfo(zone))
        offset = instant.astimezone(zone_info).utcoffset().total_seconds() // 60
        offsets[zone, minute[:14]] = offset
    week_hours[int((instant.weekday() * 1440 + instant.hour * 60 + instant.minute + offset) // 60 % 168)] += count

statuses, pages, assets, not_found = Counter(), Counter(), Counter(), Counter()
for (path, status), count in requests.items():
    statuses[status] += count
    if path is None:
        continue
    (assets if ASSET.search(path) else pages)[path] += count
    if status == "404":
        not_found[path] += count
hosts = Counter()
for referrer, count in referrers.items():
    host = HOST.match(referrer or "")
    if host is not None:
        hosts[host[1].lower()] += count
browsers, systems, crawlers = Counter(), Counter(), Counter()
for agent, count in agents.items():
    if agent is None or agent == "-":
        continue
    browser = first_match(BROWSERS, agent)
    if CRAWLER.search(agent):
        product = PRODUCT.match(agent)
        crawlers[product and VERSION.sub("", product[1]).strip() or agent] += count
    else:
        browsers[browser] += count
        systems[first_match(SYSTEMS, agent)] += count

countries_of = {}
for (network, code), count in network_countries.most_common():
    countries_of.setdefault(network, []).append(code)


def with_bytes(some):
    return [[path, count, page_bytes[path]] for path, count in some.most_common(MOST)]


print(
    json.dumps(
        {
            "lines": {"all": lines, "located": located, "unreadable": unread},
            "addresses": len(addresses),
            "first": min(instants.values()).isoformat(),
            "last": max(instants.values()).isoformat(),
            "bytes_sent": sum(sent.values()),
            "local_hours": [sum(week_hours[hour::24]) for hour in range(24)],
            "local_week_hours": week_hours,
            "timeline": timeline,
            "days": {day: len(some) for day, some in days.items()},
            "errors": [[*key, count] for key, count in errors.items()],
            "map": [[latitude / count, longitude / count, count] for latitude, longitude, count in cells.values()],
            "countries": countries.largest(None, country_bytes),
            "regions": regions.largest(),
            "cities": cities.largest(),
            "top_addresses": [[key, count, places.get(key)] for key, count in addresses.most_common(MOST)],
            "networks": networks.largest(MOST, countries_of),
            "owners": owners.largest(MOST),
            "statuses": statuses.most_common(),
            "methods": methods.most_common(MOST),
            "pages": with_bytes(pages),
            "assets": with_bytes(assets),
            "not_found": not_found.most_common(MOST),
            "referrers": hosts.most_common(MOST),
            "browsers": browsers.most_common(MOST),
            "systems": systems.most_common(MOST),
            "crawlers": crawlers.most_common(MOST),
        }
    )
)
