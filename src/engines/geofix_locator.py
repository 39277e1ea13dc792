"""Finds the location of IP addresses in columns of Apache Arrow, with Geofix.

`geofix engine python DIR` writes this module. It needs Python 3.9 or newer and pyarrow, and the command `geofix`:

    import pyarrow as pa
    from geofix_locator import Locator

    with Locator() as locator:
        locations = locator.locate(pa.array(["81.2.69.142", "10.0.0.1", None]))
    locations.field("city").to_pylist()  # ['London', None, None]

A `Locator` keeps a process of Geofix, sends it columns, and reads exactly one location for each row. If the process is killed, it
starts another one and sends the rows again that have no answer yet. Lookups have no effects, so no row is lost or doubled.
"""

from __future__ import annotations

import os
import queue
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import weakref
from collections import deque
from datetime import datetime, timezone
from typing import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

# The fields of a location, as `geofix enrich --fields` names them, in the groups and the order of the struct.
GROUPS = {
    "country": {"code": "country_code", "name": "country_name"},
    "region": {"name": "region_name", "code": "region_code"},
    "city": "city",
    "postal_code": "postal_code",
    "coordinates": {"latitude": "latitude", "longitude": "longitude"},
    "timezone": {"id": "timezone_id", "offset": "timezone_offset"},
}
ASN_FIELDS = {"number": "asn_number", "organization": "asn_organization"}
NUMBERS = ("latitude", "longitude", ASN_FIELDS["number"])
FIELDS = [name for group in GROUPS.values() for name in ([group] if isinstance(group, str) else group.values())]

# The numbers before a request and before an answer of `geofix engine columns`.
REQUEST, ANSWER = struct.Struct("<4sIII"), struct.Struct("<III")
# The microseconds of a row without a time.
NO_TIME = -(2**63)
# The longest texts of addresses and times in a column of long texts. Bytes.
MOST_TEXT = 256
# The most rows of a request.
REQUEST_ROWS = 100_000
# Requests that are sent to the process before the first of them is answered.
SENT_AHEAD = 2
PIPE_BYTES = 2**20
# Characters of what a process that failed has said.
REASON_CHARS = 2000
# How often the same rows are sent to another process after one has ended.
RETRIES = 2


def struct_of(make, type_of):
    """The struct of a location. `make` makes a struct type of names and types, `type_of` the type of a field."""
    return make(
        [
            (name, type_of(group) if isinstance(group, str) else make([(own, type_of(f)) for own, f in group.items()]))
            for name, group in GROUPS.items()
        ]
    )


def arrow_type(field):
    return pa.float64() if field in NUMBERS else pa.string()


#: The type of a location: null for a row without one.
LOCATION = struct_of(pa.struct, arrow_type)
#: The type of the field `asn` that locations have with asn=True.
ASN = pa.struct([("number", pa.int64()), ("organization", pa.string())])


class GeofixEnded(RuntimeError):
    """A process of Geofix has ended before it had answered all rows. The message has what it said."""


class Locator:
    """Finds the locations of addresses in Arrow arrays.

    program  the command of Geofix. Default: `geofix` on the PATH, or else node_modules/.bin/geofix in the working folder.
             `bin/geofix` of an unpacked geofix-worker.tgz (`geofix engine spark DIR`) runs without Node
    db       the path of a database. Default: the embedded one
    locale   the language of the names of countries and regions
    asn      whether locations have the field `asn` too: number and organization of the autonomous system
    at       a datetime with a time zone, for the offset from UTC of rows without a time. Default: when the Locator was made,
             for calls without times
    options  more options of `geofix engine columns`, such as ("--city-names", "locale")

    The process starts with the first rows, or with `start()`. It has the database that the file had then: `restart()` takes the new
    one. A Locator can be pickled and used by several threads; each forked process starts a process of its own.
    """

    def __init__(
        self,
        program: str | None = None,
        *,
        db: str | None = None,
        locale: str = "en",
        asn: bool = False,
        at: datetime | None = None,
        options: Sequence[str] = (),
    ) -> None:
        if at is not None and at.tzinfo is None:
            raise ValueError("at must have a time zone: datetime(2026, 7, 1, tzinfo=timezone.utc)")
        self._state = (program, db, locale, asn, at, datetime.now(timezone.utc), tuple(options))
        self._open()

    def _open(self) -> None:
        self._idle: dict[str, Process] = {}
        self._turn = threading.Lock()
        self._is_closed = False
        _locators.add(self)

    def __getstate__(self):
        return self._state

    def __setstate__(self, state) -> None:
        self._state = state
        self._open()

    @property
    def type(self) -> pa.StructType:
        """The type of the locations."""
        return pa.struct([*LOCATION, ("asn", ASN)]) if self._state[3] else LOCATION

    def start(self) -> Locator:
        """Starts the process, which the first rows do too."""
        self.locate(pa.nulls(1, pa.string()))
        return self

    def restart(self) -> None:
        """Ends the idle processes. The next rows are answered by a new one, with the database that the file has then."""
        while self._idle:
            self._idle.popitem()[1].kill()

    def close(self) -> None:
        """Ends the processes. Later calls are an error."""
        self._is_closed = True
        self.restart()

    def __enter__(self) -> Locator:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def locate(self, addresses: pa.Array, times: pa.Array | None = None) -> pa.StructArray:
        """The location of each address: an array of the type `type`, as long as the addresses.

        addresses  texts of any type of Arrow; binary is read as text. Null, blank and what is no address have the location null
        times      when each event happened, for the offset from UTC: timestamps, ISO 8601 texts with an offset, or numbers of
                   seconds, milliseconds, microseconds or nanoseconds since 1970

        Calls of several threads take turns.
        """
        slices = (
            (addresses[at : at + REQUEST_ROWS], None if times is None else times[at : at + REQUEST_ROWS])
            for at in range(0, len(addresses), REQUEST_ROWS)
        )
        if times is not None and len(times) != len(addresses):
            raise ValueError(f"there are {len(addresses)} addresses and {len(times)} times")
        with self._turn:
            located = list(self.locate_batches(slices))
        return pa.concat_arrays(located) if located else pa.array([], self.type)

    def locate_batches(
        self, batches: Iterable[pa.Array | tuple[pa.Array, pa.Array | None]]
    ) -> Iterator[pa.StructArray]:
        """Yields the locations of each batch, in order. A batch is an array of addresses, or one of addresses and one of times.

        Takes at most three batches ahead from the iterable, so memory stays bounded however many there are.
        """
        first, kind = None, "none"
        batches = iter(batches)
        for first in batches:
            kind = _kind_of(first[1]) if isinstance(first, tuple) else "none"
            break
        if first is None:
            return

        def requests():
            yield self._requested(first, kind)
            for batch in batches:
                yield self._requested(batch, kind)

        fields = [*FIELDS, *ASN_FIELDS.values()] if self._state[3] else FIELDS
        take, give = (lambda: self._take(kind)), (lambda process: self._give(kind, process))
        for _, answer in exchange(take, give, requests(), Process.locations, RETRIES):
            location, *asn = located(*answer, fields)
            if asn:
                members = [location.field(index) for index in range(location.type.num_fields)]
                location = pa.StructArray.from_arrays([*members, *asn], fields=list(self.type), mask=location.is_null())
            yield location

    def _requested(self, batch, kind: str):
        addresses, times = batch if isinstance(batch, tuple) else (batch, None)
        if _kind_of(times) != kind:
            raise ValueError("the times of all batches must have one type")
        texts = _as_text(addresses)
        if kind == "text":
            times = _as_text(times)
        elif kind == "microseconds":
            times = _whole(times)
        return len(texts), request(texts, times), None

    def _take(self, kind: str) -> Process:
        if self._is_closed:
            raise ValueError("the Locator is closed")
        process = self._idle.pop(kind, None)
        if process is not None and process.is_idle:
            return process
        if process is not None:
            process.kill()
        return Process(self._command(kind))

    def _give(self, kind: str, process: Process) -> None:
        if self._is_closed or kind in self._idle:
            process.kill()
        else:
            self._idle[kind] = process

    def _command(self, kind: str) -> list[str]:
        program, db, locale, asn, at, made, options = self._state
        fields = [*FIELDS, *ASN_FIELDS.values()] if asn else FIELDS
        command = [_found(program), "engine", "columns", "--times", kind, "--fields", ",".join(fields), "--locale", locale]
        if asn:
            command.append("--asn")
        if db is not None:
            command += ["--db", os.fspath(db)]
        if at is not None or kind == "none":
            command += ["--at", instant_text(at or made)]
        return [*command, *options]


# A process that is forked would read the answers to its parent.
_locators: weakref.WeakSet[Locator] = weakref.WeakSet()


def _forget() -> None:
    for locator in _locators:
        locator._idle, locator._turn = {}, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def instant_text(at):
    """A datetime as `--at` takes it."""
    return at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _found(program):
    path = shutil.which(program or "geofix") or shutil.which("node_modules/.bin/geofix" if program is None else "")
    if path is None:
        raise FileNotFoundError(f"{program or 'geofix'} is not a command: npm install geofix, or give program= its path")
    return path


def _kind_of(times):
    if times is None:
        return "none"
    return "microseconds" if pa.types.is_timestamp(times.type) else "text"


def _whole(array):
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _as_text(array):
    """The values as texts. Bytes that are not UTF-8 stay as they are: Geofix knows that they are no address."""
    array = _whole(array)
    return array if array.type == pa.string() else array.cast(pa.string(), safe=False)


# ---- Processes


class Process:
    """A process of Geofix that answers requests in their order."""

    def __init__(self, command, env=None):
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, env=env, bufsize=0
        )
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                import fcntl

                fcntl.fcntl(pipe, getattr(fcntl, "F_SETPIPE_SZ", 1031), PIPE_BYTES)
            except (ImportError, OSError):
                pass  # The system has no such pipes, or allows this user no larger ones.
        self._requests = queue.SimpleQueue()
        threading.Thread(target=self._write, daemon=True).start()

    def send(self, parts):
        self._requests.put(parts)

    def _write(self):
        try:
            while (parts := self._requests.get()) is not None:
                for part in parts:
                    data = memoryview(part)
                    while data:
                        data = data[self._process.stdin.write(data) :]
        except OSError:
            pass  # `receive` finds out why the process has ended.

    def locations(self, rows):
        """The answer of `geofix engine columns`: its rows and locations, and the memory with both."""
        found, locations, size = ANSWER.unpack(self._read(ANSWER.size))
        if found != rows:
            raise RuntimeError(f"geofix answered {found} rows, and not {rows}")
        return rows, locations, self._read(size)

    def _read(self, size):
        data = pa.allocate_buffer(size)
        rest = memoryview(data)
        while rest:
            count = self._process.stdout.readinto(rest)
            if not count:
                raise self._failure()
            rest = rest[count:]
        return data

    def _failure(self):
        try:
            status = self._process.wait(10)
        except subprocess.TimeoutExpired:
            status = "unknown"
        self._log.seek(0)
        reason = " ".join(self._log.read().decode("utf-8", "replace").split())[:REASON_CHARS]
        message = f"geofix ended with status {status} before it had answered all rows: {reason or 'no message'}"
        print(message, file=sys.stderr, flush=True)
        return GeofixEnded(message)

    @property
    def is_idle(self):
        """Whether it is running and has answered all that it was sent, and no more."""
        return self._process.poll() is None

    def kill(self):
        self._requests.put(None)
        self._process.kill()
        self._process.wait()


def exchange(take, give, requests, receive, retries=0):
    """Sends requests, which are numbers of rows, parts of bytes and anything, and yields that with the answer, which `receive`
    reads. No requests, no process.

    take     gives a process that has answered all that it was sent
    give     gets it back. A process that failed, or was left half way, is killed instead
    retries  how often another process gets the requests without an answer when one has ended
    """
    process, waiting, left = None, deque(), retries
    is_done = False

    def answered():
        nonlocal process, left
        while True:
            rows, _, context = waiting[0]
            try:
                answer = receive(process, rows)
            except GeofixEnded:
                if left == 0:
                    raise
                left -= 1
                process.kill()
                process = take()
                for _, parts, _ in waiting:
                    process.send(parts)
            else:
                waiting.popleft()
                left = retries
                return context, answer

    try:
        for rows, parts, context in requests:
            if process is None:
                process = take()
            process.send(parts)
            waiting.append((rows, parts, context))
            if len(waiting) > SENT_AHEAD:
                yield answered()
        while waiting:
            yield answered()
        is_done = True
    finally:
        if process is not None:
            if is_done and process.is_idle:
                give(process)
            else:
                process.kill()


# ---- The memory of Arrow


def bytes_of(texts):
    """The bytes of all texts of an array, one after another."""
    _, offsets, data = texts.buffers()
    ends = memoryview(offsets).cast("i")[texts.offset :]
    return data[ends[0] : ends[len(texts)]] if data is not None else b""


def request(addresses, times=None):
    """A request of `geofix engine columns`. The columns are sent as Arrow has them in memory."""
    offsets, texts = _offsets_and_texts(addresses)
    instants = time_texts = b""
    if times is not None and pa.types.is_timestamp(times.type):
        # Nanoseconds are cut off. Without `safe`, other units could overflow.
        whole = times.cast(pa.timestamp("us", times.type.tz), safe=times.type.unit != "ns")
        instants = _numbers(_filled(whole.view(pa.int64()), NO_TIME))
    elif times is not None:
        instants, time_texts = _offsets_and_texts(times)
    header = REQUEST.pack(b"GFX1", len(addresses), len(texts), len(time_texts))
    return header, offsets, instants, texts, time_texts


def _offsets_and_texts(column):
    column = _filled(column, "")
    texts = bytes_of(column)
    if len(texts) > MOST_TEXT * len(column):
        # Neither addresses nor times are so long. A question mark keeps the value from being one.
        return _offsets_and_texts(pc.if_else(pc.less_equal(pc.binary_length(column), MOST_TEXT), column, "?"))
    ends = pa.Array.from_buffers(pa.int32(), len(column) + 1, [None, column.buffers()[1]], offset=column.offset)
    return _numbers(ends if ends[0].as_py() == 0 else pc.subtract(ends, ends[0])), texts


def _filled(column, value):
    return column.fill_null(value) if column.null_count > 0 else column


def _numbers(array):
    width = array.type.bit_width // 8
    return array.buffers()[1][array.offset * width : (array.offset + len(array)) * width]


def located(rows, count, data, fields):
    """For each row its location in an answer, as a struct; with the fields of `ASN`, and its struct. Nothing is parsed: Geofix
    answers with the memory of Arrow's arrays, each part of which is padded to 8 bytes.
    """
    end = 0

    def part(size):
        nonlocal end
        start, end = end, end + (size + 7) // 8 * 8
        return data.slice(start, size)

    def column(field):
        known = part((count + 7) // 8)
        if field in NUMBERS:
            return pa.Array.from_buffers(pa.float64(), count, [known, part(8 * count)])
        offsets = part(4 * (count + 1))
        return pa.Array.from_buffers(pa.string(), count, [known, offsets, part(memoryview(offsets).cast("i")[count])])

    numbers = pa.Array.from_buffers(pa.int32(), rows, [None, part(4 * rows)])
    columns = {field: column(field) for field in fields}

    def struct(parts, mask):
        return pa.StructArray.from_arrays([array for _, array in parts], [name for name, _ in parts], mask=mask)

    parts = [
        (name, columns[group] if isinstance(group, str) else struct([(own, columns[f]) for own, f in group.items()], None))
        for name, group in GROUPS.items()
    ]
    # Location 0 is that of rows without one.
    is_first = pa.Array.from_buffers(pa.bool_(), count, [None, pa.py_buffer(b"\x01" + bytes(count // 8))])
    structs = [struct(parts, is_first)]
    if len(fields) > len(FIELDS):
        own = [(name, columns[field]) for name, field in ASN_FIELDS.items()]
        own[0] = ("number", own[0][1].cast(pa.int64()))
        structs.append(struct(own, own[0][1].is_null()))
    return [each.take(numbers) for each in structs]
