"""Adds the location of IP addresses to rows of Apache Spark, with Geofix.

`geofix engine spark DIR` writes this module and `geofix-worker.tgz`, which holds Geofix, its database and Node. The driver and the
executors need Python with pyarrow and pandas, as `pip install 'pyspark[sql]'` installs them, and nothing else:

    spark-submit --py-files geofix_spark.py --archives geofix-worker.tgz#geofix job.py

    from geofix_spark import enrich
    located = enrich(spark.read.parquet("events"), ip="client_ip", time="ts")

It works with PySpark 3.5 and 4, on batches and streams. Each task sends its rows to a process of Geofix and reads exactly one
answer for each row. If that process ends early, the task fails and Spark runs it again.
"""

import argparse
import fcntl
import gc
import os
import queue
import struct
import subprocess
import sys
import tempfile
import threading
from collections import deque
from datetime import datetime, timezone

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

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

# The subcommand of Geofix for lines.
ROWS = ("enrich", "--rows")
# The numbers before a request and before an answer of `geofix engine columns`.
REQUEST, ANSWER = struct.Struct("<4sIII"), struct.Struct("<III")
# The microseconds of a row without a time.
NO_TIME = -(2**63)
# The longest texts of addresses and times in a column of long texts. Bytes.
MOST_TEXT = 256

# Requests that are sent to the process before the first of them is answered.
SENT_AHEAD = 2
PIPE_BYTES = 2**20
# Lines of an RDD in a request.
REQUEST_LINES = 5000
# Characters of what a process that failed has said.
REASON_CHARS = 2000


def _spark_type(field):
    return T.DoubleType() if field in NUMBERS else T.StringType()


def _arrow_type(field):
    return pa.float64() if field in NUMBERS else pa.string()


def _struct(make, type_of):
    """The struct of a location. `make` makes a struct type of names and types."""
    return make(
        [
            (name, type_of(group) if isinstance(group, str) else make([(own, type_of(f)) for own, f in group.items()]))
            for name, group in GROUPS.items()
        ]
    )


#: The type of the column that `enrich` adds.
LOCATION = _struct(lambda fields: T.StructType([T.StructField(*field) for field in fields]), _spark_type)
#: The type of the column that `enrich` adds with asn=True.
ASN = T.StructType([T.StructField("number", T.LongType()), T.StructField("organization", T.StringType())])
#: The type of the column that `enrich_text` adds: with the address that was found in the line.
TEXT_LOCATION = T.StructType([T.StructField("ip", T.StringType()), *LOCATION.fields])
_ARROW_TEXT_LOCATION = pa.struct([("ip", pa.string()), *_struct(pa.struct, _arrow_type)])


def enrich(df, ip="client_ip", into="location", time="ts", locale="en", asn=False, at=None, worker="geofix"):
    """Adds a column with the location of an address to each row of a DataFrame, batch or streaming.

    ip      the column with the address; `client.ip` is a field of a struct
    into    the name of the column that is added, of the type `LOCATION`; null in rows without a location
    time    the column with the time of the event, for the offset from UTC: a timestamp, ISO 8601 text with an offset, or a
            number of seconds, milliseconds, microseconds or nanoseconds since 1970. None: all rows have the time `at`
    locale  the language of the names of countries and regions
    asn     whether to add the autonomous system of the address too, as a column of the type `ASN`: `asn`, or `NAME_asn` if `into`
            is another NAME than `location`. Null in rows without a location, or whose network has no known owner
    at      a datetime with a time zone, for rows without a time. Default: without `time`, the time of this call; with it, none,
            so that the offset of such rows is null
    worker  the name of the archive on the executors (`--archives geofix-worker.tgz#geofix`), or the path of a folder with
            its content that exists on all of them
    """
    added = [T.StructField(into, LOCATION)]
    fields = FIELDS
    if asn:
        added.append(T.StructField("asn" if into == "location" else f"{into}_asn", ASN))
        fields = [*FIELDS, *ASN_FIELDS.values()]
    for field in added:
        _check_is_new(df, field.name)
    keys, times = [(ip, F.col(ip).cast("string"))], "none"
    if time is not None:
        instant, times = _instant(df, time)
        keys.append((time, instant))
    elif at is None:
        at = datetime.now(timezone.utc)
    options = ["--times", times, "--fields", ",".join(fields), *(["--asn"] if asn else [])]
    command = _command(worker, ["engine", "columns"], options, locale, at)
    rows, places = _with_keys(df, keys)
    count = len(df.columns)

    def locate(batches):
        requests = (
            (batch.num_rows, _request(*[batch.column(place) for place in places]), batch.columns[:count])
            for batch in batches
            if batch.num_rows > 0
        )
        for columns, answer in _exchange(command, requests, _Process.locations):
            yield pa.RecordBatch.from_arrays([*columns, *_located(*answer, fields)], schema.names)

    schema = T.StructType([*df.schema.fields, *added])
    return rows.mapInArrow(locate, schema)


def enrich_text(df, column="value", into="location", format="access-log", options=(), locale="en", at=None, worker="geofix"):
    """Adds a column with the location of the client to each row of a DataFrame whose rows are lines of a log.

    column  the column with the line
    format  one that `geofix enrich --append` knows: `access-log`, `aws-alb`, `aws-elb`, `aws-s3`, `squid`, `custom-log`, `list`
            or `text`
    options other options of `geofix enrich --rows`, such as `("--log-format", "…")`
    at      a datetime with a time zone, for lines without a time. Required by formats whose lines have none

    The others are those of `enrich`. The column has the type `TEXT_LOCATION`.
    """
    _check_is_new(df, into)
    command = _command(worker, ROWS, ["--format", format, "--append", *options], locale, at)
    rows, (place,) = _with_keys(df, [(column, F.col(column).cast("string"))])
    count = len(df.columns)

    def locate(batches):
        requests = (
            (batch.num_rows, [_lines(batch.column(place))], batch.columns[:count]) for batch in batches if batch.num_rows > 0
        )
        for columns, answer in _exchange(command, requests, _Process.rows):
            yield pa.RecordBatch.from_arrays([*columns, _appended_locations(answer)], schema.names)

    schema = T.StructType([*df.schema.fields, T.StructField(into, TEXT_LOCATION)])
    return rows.mapInArrow(locate, schema)


def enrich_lines(rdd, format="access-log", options=(), locale="en", at=None, worker="geofix"):
    """Pipes the lines of an RDD through `geofix enrich --rows`. Gives an RDD with one line for each.

    As `rdd.pipe` does, but partitions without lines start no process, a line end within a line cannot shift lines, and
    a process that fails fails its task. The arguments are those of `enrich_text`; `options` can have `"--append"`.
    """
    command = _command(worker, ROWS, ["--format", format, *options], locale, at)

    def locate(lines):
        requests = ((len(part), [_joined(part)], None) for part in _parts(lines, REQUEST_LINES))
        for _, answer in _exchange(command, requests, _Process.rows):
            yield from answer.decode("utf-8", "replace")[:-1].split("\n")

    return rdd.mapPartitions(locate)


def _check_is_new(df, into):
    if into.lower() in [name.lower() for name in df.columns]:
        raise ValueError(f'the DataFrame has a column "{into}" already: name another one with into=')


def _with_keys(df, keys):
    """A DataFrame that has the keys as columns too, and their places. Text and timestamps need no second column."""
    kinds = {field.name: field.dataType for field in df.schema if df.columns.count(field.name) == 1}
    places, added = [], []
    for name, column in keys:
        if isinstance(kinds.get(name), (T.StringType, T.TimestampType)):
            places.append(df.columns.index(name))
        else:
            places.append(len(df.columns) + len(added))
            added.append(column.alias(f"_geofix_{len(added)}"))
    return df.select("*", *added) if added else df, places


def _instant(df, time):
    """The time of the event as Geofix reads it, and what it is: microseconds since 1970 or text."""
    column = F.col(time)
    kind = df.select(column).schema[0].dataType
    if isinstance(kind, T.TimestampType):
        return column, "microseconds"
    if isinstance(kind, (T.FloatType, T.DoubleType)):
        # Text of a double can have an exponent. A cast of what is too large would fail the query.
        return F.when(F.abs(column) < 1e20, column.cast("decimal(38,6)").cast("string")), "text"
    if isinstance(kind, (T.StringType, T.IntegralType, T.DecimalType)):
        return column.cast("string"), "text"
    raise ValueError(
        f'the column "{time}" is of the type {kind.simpleString()}, which is no instant: make a timestamp of it, or write'
        " time=None"
    )


def _command(worker, subcommand, options, locale, at):
    """The command of the process. It is made by the driver, so that a task that runs again gets the same `--at`."""
    command = [worker, *subcommand, "--locale", locale, *options]
    if at is not None:
        if at.tzinfo is None:
            raise ValueError("at must have a time zone: datetime(2026, 7, 1, tzinfo=timezone.utc)")
        command += ["--at", at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")]
    return tuple(command)


# ---- On the executors


class _Process:
    """A process of Geofix that answers requests in their order."""

    def __init__(self, command):
        worker, *arguments = command
        # An absolute path stays as it is.
        program = os.path.join(SparkFiles.get(worker), "bin", "geofix")
        if not os.path.exists(program):
            raise FileNotFoundError(f"{program} does not exist: add --archives geofix-worker.tgz#{worker}")
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, env={}, bufsize=0
        )
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                fcntl.fcntl(pipe, getattr(fcntl, "F_SETPIPE_SZ", 1031), PIPE_BYTES)
            except OSError:
                pass  # The system allows this user no larger pipes.
        self._requests = queue.SimpleQueue()
        self._rest = b""
        threading.Thread(target=self._write, daemon=True).start()

    def send(self, parts):
        self._requests.put(parts)

    def _write(self):
        try:
            while True:
                for part in self._requests.get():
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

    def rows(self, rows):
        """The next rows of `geofix enrich --rows`, each with its line end."""
        parts, chunk = [], self._rest
        while (lines := chunk.count(b"\n")) < rows:
            parts.append(chunk)
            rows -= lines
            chunk = os.read(self._process.stdout.fileno(), PIPE_BYTES)
            if not chunk:
                raise self._failure()
        end = 0
        if lines == rows:
            end = chunk.rfind(b"\n") + 1
        else:
            for _ in range(rows):
                end = chunk.index(b"\n", end) + 1
        self._rest = chunk[end:]
        return b"".join([*parts, chunk[:end]])

    def _failure(self):
        try:
            status = self._process.wait(10)
        except subprocess.TimeoutExpired:
            status = "unknown"
        self._log.seek(0)
        reason = " ".join(self._log.read().decode("utf-8", "replace").split())[:REASON_CHARS]
        message = f"geofix ended with status {status} before it had answered all rows: {reason or 'no message'}"
        print(message, file=sys.stderr, flush=True)
        return RuntimeError(message)

    @property
    def is_idle(self):
        """Whether it is running and has answered all that it was sent, and no more."""
        return not self._rest and self._process.poll() is None

    def kill(self):
        self._process.kill()
        self._process.wait()


# The process that the last task of this process of Python left, by its command: at most one. A new process would first read
# the parts of the database that this one has in memory. It ends when the process of Python does, which closes its input.
_idle = {}
# A process that is forked would read the answers to this one.
os.register_at_fork(after_in_child=_idle.clear)


def _process_of(command):
    """The process that the last task left, if it has the same command, or a new one."""
    if _idle:
        kept, process = _idle.popitem()
        if kept == command and process.is_idle:
            return process
        process.kill()
    if gc.get_freeze_count() == 0:
        # Spark collects garbage after each task, and would look through all that is imported for 40 ms.
        gc.collect()
        gc.freeze()
    return _Process(command)


def _exchange(command, requests, receive):
    """Sends requests, which are numbers of rows, parts of bytes and anything, and yields that with the answer, which `receive`
    reads. No requests, no process.
    """
    process, waiting = None, deque()
    is_done = False
    try:
        for rows, parts, context in requests:
            if process is None:
                process = _process_of(command)
            process.send(parts)
            waiting.append((rows, context))
            if len(waiting) > SENT_AHEAD:
                rows, context = waiting.popleft()
                yield context, receive(process, rows)
        for rows, context in waiting:
            yield context, receive(process, rows)
        is_done = True
    finally:
        if process is not None:
            if is_done and process.is_idle and not _idle:
                _idle[command] = process
            else:
                process.kill()


def _parts(items, size):
    part = []
    for item in items:
        part.append(item)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


def _joined(lines):
    text = "\n".join(["" if line is None else line for line in lines])
    if text.count("\n") >= len(lines):
        text = "\n".join(["" if line is None else line.replace("\n", " ") for line in lines])
    return f"{text}\n".encode("utf-8", "surrogatepass")


def _bytes_of(texts):
    """The bytes of all texts of an array, one after another."""
    _, offsets, data = texts.buffers()
    ends = memoryview(offsets).cast("i")[texts.offset :]
    return data[ends[0] : ends[len(texts)]] if data is not None else b""


def _lines(column):
    """The texts, each with a line feed."""
    texts = _bytes_of(pc.binary_join_element_wise(column, "\n", "", null_handling="replace", null_replacement=""))
    data = texts.to_pybytes()
    return data if data.count(b"\n") == len(column) else _lines(pc.replace_substring(column, "\n", " "))


def _request(addresses, times=None):
    """A request of `geofix engine columns`. The columns are sent as Arrow has them in memory."""
    offsets, texts = _offsets_and_texts(addresses)
    instants = time_texts = b""
    if times is not None and pa.types.is_timestamp(times.type):
        instants = _numbers(_filled(times.cast(pa.timestamp("us", times.type.tz)).view(pa.int64()), NO_TIME))
    elif times is not None:
        instants, time_texts = _offsets_and_texts(times)
    header = REQUEST.pack(b"GFX1", len(addresses), len(texts), len(time_texts))
    return header, offsets, instants, texts, time_texts


def _offsets_and_texts(column):
    column = _filled(column, "")
    texts = _bytes_of(column)
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


def _located(rows, count, data, fields):
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


def _appended_locations(answer):
    """The locations in rows of `geofix enrich --append`: a line, a tab, and JSON without a tab."""
    rows = pc.split_pattern(pa.array([memoryview(answer)[:-1]], pa.string()), "\n").flatten()
    parts = pc.split_pattern(rows, "\t", max_splits=1, reverse=True).flatten()
    texts = parts.take(pa.array(range(1, 2 * len(rows), 2)))
    objects = _bytes_of(pc.binary_join_element_wise('{"location":', texts, "}\n", ""))
    return pyarrow.json.read_json(
        pa.BufferReader(objects),
        pyarrow.json.ReadOptions(use_threads=False, block_size=len(objects) + 1),
        pyarrow.json.ParseOptions(
            explicit_schema=pa.schema([("location", _ARROW_TEXT_LOCATION)]), unexpected_field_behavior="ignore"
        ),
    )["location"].combine_chunks()


# ---- spark-submit --archives geofix-worker.tgz#geofix geofix_spark.py


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Adds the location of IP addresses to the rows of files.")
    parser.add_argument("--input", required=True, help="a file, or a folder of files")
    parser.add_argument("--format", required=True, choices=["text", "json", "csv", "parquet"], help="csv needs a header")
    parser.add_argument("--output", required=True, help="a folder, which must not exist")
    parser.add_argument("--output-format", required=True, choices=["parquet", "json", "csv"])
    parser.add_argument("--ip", default="client_ip", help="the column with the address (default: client_ip)")
    parser.add_argument("--time", help="the column with the time of the event (default: all rows have the time of --at)")
    parser.add_argument("--into", default="location", help="the column that is added (default: location)")
    parser.add_argument("--lines", default="access-log", help="the format of text (default: access-log)")
    parser.add_argument("--asn", action="store_true", help="add the autonomous system too; not for text")
    parser.add_argument("--locale", default="en", help="the language of the names of countries and regions (default: en)")
    parser.add_argument("--at", type=_instant_of, help="the time of rows without a time, such as 2026-07-01T00:00:00+00:00")
    flags = parser.parse_args(arguments)

    spark = SparkSession.builder.appName("geofix").getOrCreate()
    spark.sparkContext.addPyFile(os.path.abspath(__file__))
    names = {"into": flags.into, "locale": flags.locale, "at": flags.at}
    if flags.format == "text":
        if flags.asn:
            parser.error("--asn is for json, csv and parquet")
        located = enrich_text(spark.read.text(flags.input), format=flags.lines, **names)
    else:
        reader = spark.read.option("header", True) if flags.format == "csv" else spark.read
        located = enrich(reader.format(flags.format).load(flags.input), ip=flags.ip, time=flags.time, asn=flags.asn, **names)
    if flags.output_format == "csv":
        located = _flat(located, flags.into)
    # JSON has a location of null in rows without one, and not a missing member.
    located.write.format(flags.output_format).options(header=True, ignoreNullFields=False).save(flags.output)


def _instant_of(text):
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        raise argparse.ArgumentTypeError("write it with its offset: 2026-07-01T00:00:00+00:00")
    return instant


def _flat(df, into):
    """Columns such as `location_country_code` in place of the struct, which CSV cannot hold."""
    fields = {f: f"{name}" if isinstance(group, str) else f"{name}.{own}"
              for name, group in GROUPS.items()
              for own, f in ([(None, group)] if isinstance(group, str) else group.items())}
    others = [F.col(f"`{name}`") for name in df.columns if name != into]
    flat = [F.col(f"`{into}`.{path}").alias(f"{into}_{field}") for field, path in fields.items()]
    asn = "asn" if into == "location" else f"{into}_asn"
    if asn in df.columns:
        others = [column for column, name in zip(others, (n for n in df.columns if n != into)) if name != asn]
        flat += [F.col(f"`{asn}`.{own}").alias(f"{asn}_{own}") for own in ASN_FIELDS]
    return df.select(*others, *flat)


if __name__ == "__main__":
    # Executors import the functions by the name of the module, which keeps their processes of Geofix from task to task.
    from geofix_spark import main as main_of_module

    main_of_module()
