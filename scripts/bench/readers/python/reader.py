"""What a Python program pays: the C extension of maxminddb looks up the addresses of a file and reads the fields of a
LocationRecord. ../readers.ts describes the protocol of this program.

    python3 reader.py rounds DATABASE.mmdb ADDRESSES.txt
"""

import sys
import time

import maxminddb

BLOCK = 1000


def ask(reader, address):
    """Looks up one address and reads the fields; None if there is no record."""
    record = reader.get(address)
    if record is None:
        return None
    country = record.get("country", {})
    region = record.get("subdivisions", [{}])[0]
    location = record.get("location", {})
    return (
        country.get("iso_code"),
        country.get("names", {}).get("en"),
        region.get("iso_code"),
        region.get("names", {}).get("en"),
        record.get("city", {}).get("names", {}).get("en"),
        record.get("postal", {}).get("code"),
        location.get("latitude"),
        location.get("longitude"),
        location.get("time_zone"),
    )


def main():
    _, _, database, addresses_path = sys.argv
    with open(addresses_path, encoding="ascii") as file:
        addresses = file.read().split()
    # The C extension or an error: the fallback in Python is another contender.
    reader = maxminddb.open_database(database, maxminddb.MODE_MMAP_EXT)
    print(f'{{"version":"maxminddb (Python) {maxminddb.__version__}"}}', flush=True)
    cursor = 0
    for line in sys.stdin:
        budget = float(line) / 1e3
        items = found = 0
        elapsed = 0.0
        started = time.perf_counter()
        while elapsed < budget if budget > 0 else items < len(addresses):
            for _ in range(BLOCK):
                if ask(reader, addresses[cursor]) is not None:
                    found += 1
                cursor = (cursor + 1) % len(addresses)
            items += BLOCK
            elapsed = time.perf_counter() - started
        print(f'{{"items":{items},"seconds":{elapsed},"found":{found}}}', flush=True)


main()
