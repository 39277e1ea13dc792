"""What a Locator promises: locator.py GEOFIX DB OTHER, two databases in which London and Paris have other names. Prints what is right as
JSON.
"""

import json
import os
import pickle
import shutil
import signal
import sys
import threading
from datetime import datetime, timezone

import pyarrow as pa
from geofix_locator import LOCATION, REQUEST_ROWS, GeofixEnded, Locator

program, first, other = sys.argv[1:]
db = f"{first}.current"
shutil.copyfile(first, db)
checks = {}
LONDON, PARIS, PRIVATE = "81.2.69.142", "5.39.0.1", "10.0.0.1"
at = datetime(2026, 7, 1, tzinfo=timezone.utc)
locator = Locator(program, db=db, at=at)


def cities(addresses, of=locator, **more):
    return of.locate(pa.array(addresses), **more).field("city").to_pylist()


def pids(of=locator):
    return [process._process.pid for process in of._idle.values()]


def raised(kind, call):
    try:
        call()
    except kind as error:
        return str(error)
    return ""


checks["the type is that of the rows"] = locator.locate(pa.array([LONDON])).type == LOCATION == locator.type
row = locator.locate(pa.array([LONDON])).to_pylist()[0]
checks["a location has all its fields"] = [row["country"]["code"], row["city"], row["timezone"]] == [
    "GB", "London", {"id": "Europe/London", "offset": "+01:00"}]
checks["no rows"] = len(locator.locate(pa.array([], pa.string()))) == 0 and locator.locate(pa.array([], pa.string())).type == LOCATION

poison = [LONDON, None, "", " ", "nonsense", PRIVATE, "081.2.69.142", "\x00", "\n", "é" * 70_000, "-" * 10_000_000, PARIS]
checks["a poisoned row has no location, and shifts none"] = cities(poison) == ["London", *[None] * 10, "Paris"]
binary = pa.array([b"\xff\xfe", LONDON.encode(), b"\x80" * 300], pa.binary())
checks["bytes that are no text"] = locator.locate(binary).field("city").to_pylist() == [None, "London", None]
texts = pa.array([LONDON, None, PARIS])
arrays = [texts.cast(kind) for kind in (pa.large_string(), pa.string_view())] + [texts.dictionary_encode(), pa.chunked_array([texts])]
checks["all types of texts"] = all(locator.locate(each).field("city").to_pylist() == ["London", None, "Paris"] for each in arrays)
checks["a slice"] = locator.locate(pa.array([PARIS, LONDON, PRIVATE])[1:]).field("city").to_pylist() == ["London", None]

instants = [datetime(2026, 1, 1, tzinfo=timezone.utc), None, at]
for name, times in {
    "timestamps": pa.array(instants, pa.timestamp("ms", "UTC")),
    "timestamps with nanoseconds": pa.array([1767225600000000001, None, 1782864000000000001], pa.timestamp("ns", "UTC")),
    "texts": pa.array(["2026-01-01T00:00:00Z", None, "2026-07-01T00:00:00Z"]),
    "numbers": pa.array([1767225600, None, 1782864000]),
}.items():
    located = Locator(program, db=db).locate(pa.array([LONDON] * 3), times).to_pylist()
    checks[f"offsets of {name}"] = [each["timezone"]["offset"] for each in located] == ["+00:00", None, "+01:00"]
checks["times of another length"] = "2 times" in raised(ValueError, lambda: locator.locate(texts, pa.array([1, 2])))

many = [LONDON if number % 3 else PARIS for number in range(3 * REQUEST_ROWS + 1)]
expected = ["London" if number % 3 else "Paris" for number in range(len(many))]
checks["many rows"] = cities(many) == expected

(before,) = pids()
seen = []


def batches():
    for number in range(40):
        if number in (7, 20):
            # The process that has the batches before.
            for pid in children():
                os.kill(pid, signal.SIGKILL)
        seen.append(number)
        yield pa.array([LONDON, f"10.0.0.{number}", PARIS] * (number + 1))


def children():
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return [int(pid) for pid in file.read().split()]


answers = [each.field("city").to_pylist() for each in locator.locate_batches(batches())]
checks["a killed process loses and doubles nothing"] = answers == [["London", None, "Paris"] * (number + 1) for number in range(40)]
checks["another process has answered"] = pids() != [before]

ahead = locator.locate_batches(pa.array([LONDON]) for number in range(100) if seen.append(number) is None)
seen.clear()
next(ahead)
checks["batches are taken as they are answered"] = len(seen) == 3
ahead.close()

cities([LONDON])
os.replace(shutil.copyfile(other, f"{other}.copy"), db)
checks["a replaced file changes nothing midway"] = cities([LONDON, PARIS]) == ["London", "Paris"]
for pid in pids():
    os.kill(pid, signal.SIGKILL)
checks["the rows after it are all there"] = cities([LONDON, PRIVATE, PARIS]) == ["Londres", None, "Lutetia"]
os.replace(shutil.copyfile(first, f"{first}.copy"), db)
locator.restart()
checks["restart takes the new file"] = cities([LONDON, PARIS]) == ["London", "Paris"]

answers = {}
threads = [threading.Thread(target=lambda key=key: answers.__setitem__(key, cities([key] * 5000))) for key in (LONDON, PARIS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
checks["threads take turns"] = answers == {LONDON: ["London"] * 5000, PARIS: ["Paris"] * 5000} and len(pids()) == 1

copy = pickle.loads(pickle.dumps(locator))
checks["a pickled one has a process of its own"] = cities([PARIS], copy) == ["Paris"] and pids(copy) != pids()
child = os.fork()
if child == 0:
    os._exit(0 if pids() == [] and cities([PARIS]) == ["Paris"] else 1)
checks["a forked one too"] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 and cities([LONDON]) == ["London"]

with Locator(program, db=db, asn=True) as scoped:
    located = scoped.locate(pa.array([LONDON, PRIVATE]))
    checks["asn is a field"] = located.type == scoped.type and located.to_pylist()[1] is None
    (pid,) = pids(scoped)
checks["close ends it"] = pid not in children() and "closed" in raised(ValueError, lambda: cities([LONDON], scoped))

reason = raised(GeofixEnded, lambda: cities([LONDON], Locator(program, locale="e n")))
checks["a failure says its reason"] = "status 2" in reason and "--locale" in reason
checks["a missing command says what to do"] = "npm install geofix" in raised(FileNotFoundError, lambda: cities([LONDON], Locator("no-such")))
checks["a time without a zone is refused"] = "time zone" in raised(ValueError, lambda: Locator(program, at=datetime(2026, 7, 1)))
locator.close()
print(json.dumps(checks))
