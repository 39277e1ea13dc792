"""Adds the location of IP addresses to rows of Apache Spark, with Geofix.

`geofix engine spark DIR` writes this module, `geofix_locator.py`, which it needs, and `geofix-worker.tgz`, which holds Geofix, its
database and Node. The driver and the executors need Python with pyarrow and pandas, as `pip install 'pyspark[sql]'` installs them,
and nothing else:

    spark-submit --py-files geofix_locator.py,geofix_spark.py --archives geofix-worker.tgz#geofix job.py

    from geofix_spark import enrich
    located = enrich(spark.read.parquet("events"), ip="client_ip", time="ts")

It works with PySpark 3.5 and 4, on batches and streams. Each task sends its rows to a process of Geofix and reads exactly one
answer for each row. If that process ends early, the task fails and Spark runs it again.
"""

import argparse
import gc
import os
from datetime import datetime, timezone

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
from geofix_locator import ASN_FIELDS, FIELDS, GROUPS, NUMBERS, PIPE_BYTES, Process
from geofix_locator import LOCATION as ARROW_LOCATION
from geofix_locator import bytes_of, exchange, instant_text, located, request, struct_of
from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

# The subcommand of Geofix for lines.
ROWS = ("enrich", "--rows")
# Lines of an RDD in a request.
REQUEST_LINES = 5000


def _spark_type(field):
    return T.DoubleType() if field in NUMBERS else T.StringType()


#: The type of the column that `enrich` adds.
LOCATION = struct_of(lambda fields: T.StructType([T.StructField(*field) for field in fields]), _spark_type)
#: The type of the column that `enrich` adds with asn=True.
ASN = T.StructType([T.StructField("number", T.LongType()), T.StructField("organization", T.StringType())])
#: The type of the column that `enrich_text` adds: with the address that was found in the line.
TEXT_LOCATION = T.StructType([T.StructField("ip", T.StringType()), *LOCATION.fields])
_ARROW_TEXT_LOCATION = pa.struct([("ip", pa.string()), *ARROW_LOCATION])


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
            (batch.num_rows, request(*[batch.column(place) for place in places]), batch.columns[:count])
            for batch in batches
            if batch.num_rows > 0
        )
        for columns, answer in _exchange(command, requests, _Process.locations):
            yield pa.RecordBatch.from_arrays([*columns, *located(*answer, fields)], schema.names)

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
        command += ["--at", instant_text(at)]
    return tuple(command)


# ---- On the executors


class _Process(Process):
    """A process of Geofix of the archive, which also answers lines with rows."""

    def __init__(self, command):
        worker, *arguments = command
        # An absolute path stays as it is.
        program = os.path.join(SparkFiles.get(worker), "bin", "geofix")
        if not os.path.exists(program):
            raise FileNotFoundError(f"{program} does not exist: add --archives geofix-worker.tgz#{worker}")
        super().__init__([program, *arguments], env={})
        self._rest = b""

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

    @property
    def is_idle(self):
        return not self._rest and super().is_idle


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


def _keep(command, process):
    if _idle:
        process.kill()
    else:
        _idle[command] = process


def _exchange(command, requests, receive):
    return exchange(lambda: _process_of(command), lambda process: _keep(command, process), requests, receive)


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


def _lines(column):
    """The texts, each with a line feed."""
    texts = bytes_of(pc.binary_join_element_wise(column, "\n", "", null_handling="replace", null_replacement=""))
    data = texts.to_pybytes()
    return data if data.count(b"\n") == len(column) else _lines(pc.replace_substring(column, "\n", " "))


def _appended_locations(answer):
    """The locations in rows of `geofix enrich --append`: a line, a tab, and JSON without a tab."""
    rows = pc.split_pattern(pa.array([memoryview(answer)[:-1]], pa.string()), "\n").flatten()
    parts = pc.split_pattern(rows, "\t", max_splits=1, reverse=True).flatten()
    texts = parts.take(pa.array(range(1, 2 * len(rows), 2)))
    objects = bytes_of(pc.binary_join_element_wise('{"location":', texts, "}\n", ""))
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
    folder = os.path.dirname(os.path.abspath(__file__))
    for module in ("geofix_locator.py", "geofix_spark.py"):
        spark.sparkContext.addPyFile(os.path.join(folder, module))
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
