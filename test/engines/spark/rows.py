"""Rows that are not as they should be. Prints what is right as JSON, and the message of a failed task."""

import json
import os
from datetime import date, datetime, timezone
from decimal import Decimal

from geofix_spark import ASN, LOCATION, enrich, enrich_lines, enrich_text
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.config("spark.sql.session.timeZone", "America/New_York").getOrCreate()
checks = {}
LONDON = "81.2.69.142"
JULY, JANUARY = datetime(2026, 7, 1, 12, tzinfo=timezone.utc), datetime(2026, 1, 1, 12, tzinfo=timezone.utc)


def offsets(rows, schema, **options):
    df = spark.createDataFrame(rows, schema)
    located = enrich(df, ip="ip", **options).collect()
    return [(row["location"] and row["location"]["timezone"]["offset"]) for row in located]


def refused(call):
    try:
        call()
    except ValueError as error:
        return str(error)
    return ""


# Addresses
texts = [
    LONDON, None, "", " ", "nonsense", "10.0.0.1", "081.2.69.142", f"{LONDON}\n", f"\t{LONDON}", f"{LONDON}\\", f"{LONDON}\r",
    f"::ffff:{LONDON}", f"{LONDON}:443", '"', "\\N", "\x00", "é" * 70_000, LONDON,
]  # fmt: skip
places = [True, *[False] * 10, True, True, *[False] * 4, True]
rows = enrich(
    spark.createDataFrame([(number, text, JULY) for number, text in enumerate(texts)], "id int, ip string, ts timestamp"),
    ip="ip",
).collect()
checks["each row is there, in its place"] = [(row["id"], row["ip"]) for row in rows] == list(enumerate(texts))
checks["only addresses have a location"] = [row["location"] is not None for row in rows] == places
checks["a location is typed"] = rows[0]["location"].asDict(recursive=True) == {
    "country": {"code": "GB", "name": "United Kingdom"},
    "region": {"name": "England", "code": "GB-ENG"},
    "city": "London",
    "postal_code": None,
    "coordinates": {"latitude": rows[0]["location"]["coordinates"]["latitude"], "longitude": rows[0]["location"]["coordinates"]["longitude"]},
    "timezone": {"id": "Europe/London", "offset": "+01:00"},
} and isinstance(rows[0]["location"]["coordinates"]["latitude"], float)

# Times
checks["a timestamp"] = offsets([(LONDON, JULY), (LONDON, JANUARY), (LONDON, None)], "ip string, ts timestamp") == ["+01:00", "+00:00", None]
checks["an unknown timestamp"] = offsets([(LONDON, datetime(1970, 1, 1, tzinfo=timezone.utc))], "ip string, ts timestamp") == [None]
checks["text"] = offsets(
    [(LONDON, "2026-07-01T12:00:00Z"), (LONDON, "2026-01-01T12:00:00+02:00"), (LONDON, "2026-07-01 12:00"), (LONDON, "x\ty\n")],
    "ip string, ts string",
) == ["+01:00", "+00:00", None, None]
checks["seconds"] = offsets([(LONDON, int(JULY.timestamp())), (LONDON, int(JANUARY.timestamp())), (LONDON, None)], "ip string, ts long") == ["+01:00", "+00:00", None]
checks["seconds with a fraction"] = offsets(
    [(LONDON, JULY.timestamp() + 0.5), (LONDON, float("nan")), (LONDON, 1e300), (LONDON, None)], "ip string, ts double"
) == ["+01:00", None, None, None]
checks["a decimal"] = offsets([(LONDON, Decimal("1782907200.25"))], "ip string, ts decimal(20,6)") == ["+01:00"]
checks["a struct"] = [
    row["location"]["timezone"]["offset"]
    for row in enrich(
        spark.createDataFrame([(LONDON, JULY)], "ip string, ts timestamp").select(F.struct("ip", "ts").alias("event")), "event.ip", time="event.ts"
    ).collect()
] == ["+01:00"]
checks["no time"] = offsets([(LONDON,)], "ip string", time=None, at=JANUARY) == ["+00:00"]
checks["a time for rows without one"] = offsets([(LONDON, JULY), (LONDON, None)], "ip string, ts timestamp", at=JANUARY) == ["+01:00", "+00:00"]
one = spark.createDataFrame([(LONDON, JULY, date(2026, 7, 1))], "ip string, ts timestamp, day date")
checks["a day is refused"] = "which is no instant" in refused(lambda: enrich(one, ip="ip", time="day"))
checks["a time without a zone is refused"] = "timestamp_ntz" in refused(lambda: enrich(one.withColumn("ts", F.col("ts").cast("timestamp_ntz")), ip="ip"))
checks["an instant without a zone is refused"] = "must have a time zone" in refused(lambda: enrich(one, ip="ip", at=datetime(2026, 7, 1)))
checks["a name that is taken is refused"] = "already" in refused(lambda: enrich(one, ip="ip", into="TS"))

# Lines
line = f'{LONDON} - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5'
lines = [line, None, "", "nonsense\twith a tab", f"{line}\nsecond", f"{line}\r", "é" * 600_000, line]
rows = enrich_text(spark.createDataFrame([(each,) for each in lines], "value string")).collect()
checks["each line is there, in its place"] = [row["value"] for row in rows] == lines
checks["only lines with an address have a location"] = [row["location"] is not None for row in rows] == [True, False, False, False, True, True, False, True]
checks["the address of a line"] = rows[0]["location"]["ip"] == LONDON and rows[0]["location"]["timezone"]["offset"] == "+01:00"
piped = enrich_lines(spark.sparkContext.parallelize(lines, 3), options=["--append"]).collect()
checks["one line for each"] = len(piped) == len(lines) and [text.rstrip("\r").endswith("}}") for text in piped] == [True, False, False, False, True, True, False, True]
spark.createDataFrame([(each,) for each in lines[:6]], "value string").createOrReplaceTempView("logs")
# JSON escapes tabs and line ends, which would be columns and rows.
transformed = spark.sql(
    "SELECT TRANSFORM (to_json(struct(split(value, ' ')[0] AS client_ip, value), map('ignoreNullFields', 'false')))"
    " USING './geofix/bin/geofix enrich --rows --format ndjson --field client_ip --at 2026-07-01' AS (json) FROM logs"
).collect()
checks["TRANSFORM"] = [json.loads(row["json"])["value"] for row in transformed] == lines[:6]

# Partitions without rows start nothing, so that nothing fails here.
empty = spark.createDataFrame([], "ip string, ts timestamp, value string").repartition(3)
checks["nothing is started for no rows"] = (
    enrich(empty, ip="ip", worker="/nowhere").count() + enrich_text(empty, worker="/nowhere").count() == 0
    and enrich_lines(spark.sparkContext.parallelize([], 3), worker="/nowhere").collect() == []
)
# A task that stops early leaves no process that still has rows to answer.
many = spark.range(0, 200_000, 1, 4).select(F.lit(LONDON).alias("ip"), F.timestamp_seconds(F.lit(1782907200) + F.col("id")).alias("ts"), "id")
checks["a limit"] = [row["id"] for row in enrich(many, ip="ip").limit(5).collect()] == [0, 1, 2, 3, 4]
checks["after a limit"] = enrich(many, ip="ip").where("location.city = 'London'").agg(F.sum("id"), F.count("*")).first()[:] == (19999900000, 200_000)


def processes():
    """The processes of Geofix that tasks have left in the executors."""

    def left(_):
        import time

        from geofix_spark import _idle

        # Both executors get some of these tasks.
        time.sleep(0.2)
        return [(os.getpid(), process._process.pid) for process in _idle.values()]

    return set(spark.sparkContext.parallelize(range(8), 8).mapPartitions(left).collect())


before = processes()
enrich(many, ip="ip").write.format("noop").mode("overwrite").save()
checks["tasks one after another have the same process"] = len(before & processes()) > 0
checks["a process of Python has one of Geofix"] = len(before) == len({python for python, _ in before})


try:
    enrich(one, ip="ip", locale="not a tag").collect()
    message = ""
except Exception as error:  # The class differs between versions of PySpark.
    message = str(error)
try:
    enrich(one, ip="ip", worker="missing").collect()
except Exception as error:
    checks["an archive that is missing is named"] = "add --archives geofix-worker.tgz#missing" in str(error)
checks["the type of the column"] = enrich(one, ip="ip").schema["location"].dataType == LOCATION
systems = spark.createDataFrame([(text, JULY) for text in ("8.8.8.8", "10.0.0.1", None)], "ip string, ts timestamp")
located = enrich(systems, ip="ip", asn=True)
checks["the type of the autonomous system"] = located.schema["asn"].dataType == ASN
checks["the autonomous system"] = [row["asn"] and row["asn"].asDict() for row in located.collect()] == [
    {"number": 15169, "organization": "Google LLC"}, None, None,
]  # fmt: skip
checks["its column follows the name of the other"] = enrich(systems, ip="ip", into="place", asn=True).columns[2:] == ["place", "place_asn"]
print(json.dumps({"checks": checks, "message": message}))
