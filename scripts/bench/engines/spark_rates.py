"""Ways of adding locations to a table of addresses and times, on a Spark cluster. Prints a JSON object for each round.

    spark-submit … spark_rates.py WAY:PARTITIONS,… ROUNDS FOLDER DATABASE ARCHIVE

Each round reads another part of a log, `FOLDER/0.log` and so on, since a log does not have the same addresses again and again. The
ways take turns in it, and write the same columns to nowhere. Processor time is that of all processes of the cluster's workers: executors, Python and
Geofix.
"""

import json
import os
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

COLUMNS = [
    "country_code", "country_name", "region_code", "region_name", "city", "latitude", "longitude", "timezone_id", "timezone_offset",
]  # fmt: skip
NUMBERS = ("latitude", "longitude")
MOST_PARTITIONS = 16
ASHBURN = {
    "country": {"code": "US", "name": "United States"},
    "region": {"code": "US-VA", "name": "Virginia"},
    "city": "Ashburn",
    "postal_code": "20149",
    "coordinates": {"latitude": 39.0469, "longitude": -77.4903},
    "timezone": {"id": "America/New_York", "offset": "-04:00"},
}
SCHEMA = ", ".join(f"{name} {'double' if name in NUMBERS else 'string'}" for name in COLUMNS)


def with_nothing(df):
    """What reading the table and sending it through Spark takes."""
    return df


def through_python(df):
    """What `mapInArrow` takes without a lookup."""
    return df.mapInArrow(lambda batches: batches, df.schema)


def with_columns(df):
    """What `mapInArrow` takes that adds a column like that of `enrich` without a lookup: one location for all rows."""
    from geofix_spark import enrich

    schema = enrich(df, ip="client_ip", time="ts").schema

    def add(batches):
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_type

        one = pa.array([ASHBURN], to_arrow_type(schema["location"].dataType))
        for batch in batches:
            rows = pa.nulls(batch.num_rows, pa.int32()).fill_null(0)
            yield pa.RecordBatch.from_arrays([*batch.columns, one.take(rows)], names=schema.names)

    return df.mapInArrow(add, schema)


def with_geofix(df):
    from geofix_spark import enrich

    return enrich(df, ip="client_ip", time="ts")


def with_text(df):
    """Whole lines, and not addresses and times."""
    from geofix_spark import enrich_text

    return enrich_text(df)


def with_maxminddb(df):
    """`mapInPandas` with the C extension of maxminddb."""
    path = sys.argv[4]

    def locate(frames):
        from datetime import timezone
        from zoneinfo import ZoneInfo

        import maxminddb

        with maxminddb.open_database(path, maxminddb.MODE_MMAP_EXT) as reader:

            def row(ip, ts):
                try:
                    record = reader.get(ip)
                except (ValueError, TypeError):
                    record = None
                if record is None:
                    return (None,) * len(COLUMNS)
                country, location = record.get("country", {}), record.get("location", {})
                region = next(iter(record.get("subdivisions", ())), {})
                zone = location.get("time_zone")
                offset = None
                if zone is not None:
                    text = ts.astimezone(ZoneInfo(zone)).strftime("%z")
                    offset = f"{text[:3]}:{text[3:]}"
                code = country.get("iso_code")
                region_code = region.get("iso_code")
                return (
                    code,
                    country.get("names", {}).get("en"),
                    None if region_code is None else f"{code}-{region_code}",
                    region.get("names", {}).get("en"),
                    record.get("city", {}).get("names", {}).get("en"),
                    location.get("latitude"),
                    location.get("longitude"),
                    zone,
                    offset,
                )

            for frame in frames:
                times = frame["ts"].dt.tz_localize(timezone.utc).dt.to_pydatetime()
                located = zip(*map(row, frame["client_ip"], times))
                yield frame.assign(**{name: list(values) for name, values in zip(COLUMNS, located)})

    return df.mapInPandas(locate, f"client_ip string, ts timestamp, id long, {SCHEMA}")


def with_java(df):
    """A UDF in Java with MaxMind's reader."""
    schema = df.sparkSession.createDataFrame([], SCHEMA).schema
    df.sparkSession.udf.registerJavaFunction("location_of", "Locate", schema)
    return df.withColumn("location", F.expr("location_of(client_ip, ts)"))


def with_pipe(df):
    """`RDD.pipe` of Spark, with text."""
    lines = df.select(F.concat_ws("\t", "client_ip", F.unix_micros("ts").cast("string"))).rdd.map(lambda row: row[0])
    program = f"{sys.argv[5]}/bin/geofix enrich --rows --format tsv --quoting none --field 1 --time-field 2"
    return lines.pipe(program, checkCode=True)


def with_lines(df):
    """`enrich_lines`, with text."""
    from geofix_spark import enrich_lines

    lines = df.select(F.concat_ws("\t", "client_ip", F.unix_micros("ts").cast("string"))).rdd.map(lambda row: row[0])
    return enrich_lines(lines, "tsv", ["--quoting", "none", "--field", "1", "--time-field", "2"])


def with_transform(df):
    df.createOrReplaceTempView("events")
    program = f"{sys.argv[5]}/bin/geofix enrich --rows --format tsv --quoting none --field 1 --time-field 2"
    names = "client_ip, ts, country_code, country_name, region_code, region_name, city, postal_code, latitude, longitude, timezone_id, timezone_offset"
    tabs = r"ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t'"
    return df.sparkSession.sql(
        f"SELECT TRANSFORM (client_ip, unix_micros(ts)) {tabs} USING '{program}' AS ({names}) {tabs} FROM events"
    )


WAYS = {
    "nothing": with_nothing,
    "python": through_python,
    "columns": with_columns,
    "geofix": with_geofix,
    "text": with_text,
    "maxminddb": with_maxminddb,
    "java": with_java,
    "pipe": with_pipe,
    "lines": with_lines,
    "transform": with_transform,
}


def processor_ticks():
    """Of the processes whose session began with a worker of the cluster, by kind and number, with those of their ended children."""
    sessions = {int(pid) for pid in os.environ["WORKER_SESSIONS"].split(",")}
    ticks = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read()
        except OSError:
            continue
        if int(fields[3]) in sessions:
            kind = "geofix" if b"geofix/dist/cli.cjs" in command else "java" if b"java" in command[:60] else "python"
            ticks[kind, pid] = sum(map(int, fields[11:15]))
    return ticks


def seconds_between(before, after):
    """Processor seconds of each kind of process, without those that have ended: nobody has the time of an idle process of Python,
    and of its Geofix, that Spark has ended since.
    """
    ticks = {}
    for (kind, pid), value in after.items():
        ticks[kind] = ticks.get(kind, 0) + value - before.get((kind, pid), 0)
    return {kind: round(value / os.sysconf("SC_CLK_TCK"), 2) for kind, value in ticks.items()}


def main():
    settings = SparkSession.builder.config("spark.sql.session.timeZone", "UTC")
    # Without it, Spark asks for the size of the batch after each row that it sends to Python.
    spark = settings.config("spark.sql.execution.arrow.maxBytesPerBatch", 2**31 - 1).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    time_of_line = r"try_to_timestamp(regexp_extract(value, '\\[([^\\]]+)\\]', 1), 'dd/MMM/yyyy:HH:mm:ss Z') AS ts"
    columns = ["split(value, ' ')[0] AS client_ip", time_of_line, "monotonically_increasing_id() AS id"]
    items = [item.split(":") for item in sys.argv[1].split(",")]
    for number in range(int(sys.argv[2])):
        # All ways have the same tables in memory, which `coalesce` does not copy.
        lines = spark.read.text(f"{sys.argv[3]}/{number}.log").repartition(MOST_PARTITIONS).cache()
        table = lines.selectExpr(*columns).cache()
        rows = table.count()
        # In turns, the second round backwards: what slows the machine down then slows all ways down.
        for way, partitions in items[:: 1 if number % 2 == 0 else -1]:
            df = (lines if way == "text" else table).coalesce(int(partitions))
            before, begin = processor_ticks(), time.monotonic()
            located = WAYS[way](df)
            if hasattr(located, "write"):
                located.write.format("noop").mode("overwrite").save()
            else:
                located.foreachPartition(lambda lines: [None for _ in lines])
            seconds, after = time.monotonic() - begin, processor_ticks()
            used = seconds_between(before, after)
            row = {"way": way, "partitions": int(partitions), "rows": rows, "seconds": round(seconds, 2), **used}
            print(json.dumps(row), flush=True)
        table.unpersist()
        lines.unpersist()


main()
