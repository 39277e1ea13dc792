"""Events of Kafka, or of a folder of files, to Parquet: spark-submit … stream.py STEP kafka:SERVERS|files:FOLDER FOLDER EVENTS."""

import json
import sys

from geofix_spark import enrich
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

step, folder, events = sys.argv[1], sys.argv[3], int(sys.argv[4])
kind, place = sys.argv[2].split(":", 1)
spark = SparkSession.builder.config("spark.sql.shuffle.partitions", 4).getOrCreate()
TOPIC = "events"
BATCHES = 25


def produce():
    """An address in London, a private one, none, and values that are not JSON. Every thousandth event is a year late."""
    ip = F.element_at(F.array(F.lit("81.2.69.142"), F.lit("10.0.0.1"), F.lit(None)), (F.col("id") % 3 + 1).cast("int"))
    seconds = 1782907200 + F.col("id") - F.when(F.col("id") % 1000 == 0, 31_536_000).otherwise(0)
    event = F.to_json(F.struct("id", ip.alias("client_ip"), F.timestamp_seconds(seconds).alias("ts")))
    value = F.when(F.col("id") % 100 == 99, F.concat(F.lit("not JSON "), F.col("id"))).otherwise(event)
    rows = spark.range(0, events, 1, 4 if kind == "kafka" else BATCHES).select(F.col("id").cast("string").alias("key"), value.alias("value"))
    if kind == "kafka":
        rows.write.format("kafka").option("kafka.bootstrap.servers", place).option("topic", TOPIC).save()
    else:
        rows.write.csv(place)


def messages():
    if kind == "kafka":
        source = spark.readStream.format("kafka").option("kafka.bootstrap.servers", place).option("subscribe", TOPIC)
        return source.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", events // BATCHES).load()
    return spark.readStream.schema("key string, value string").option("maxFilesPerTrigger", 1).csv(place)


def stream(**trigger):
    parsed = F.from_json(F.col("value").cast("string"), "id long, client_ip string, ts timestamp")
    table = messages().select(F.col("key").cast("string").cast("long").alias("number"), parsed.alias("event")).select("number", "event.*")
    sink = enrich(table).writeStream.format("parquet").option("checkpointLocation", f"{folder}/checkpoint")
    sink.trigger(**trigger).start(f"{folder}/located").awaitTermination()


def check():
    located = spark.read.parquet(f"{folder}/located")
    code = F.col("location.country.code")
    is_right = F.coalesce(code, F.lit("none")) == F.when((F.col("number") % 3 == 0) & (F.col("number") % 100 != 99), "GB").otherwise("none")
    late = located.where("number % 1000 = 0 AND number % 3 = 0").select("location.timezone.offset").distinct()
    row = located.agg(F.count("*"), F.count_distinct("number"), F.min("number"), F.max("number"), F.count_if(is_right)).first()
    print(json.dumps({"found": list(row), "late": [each[0] for each in late.collect()]}))


if step == "produce":
    produce()
elif step == "stream":
    stream(processingTime="1 second")
else:
    stream(availableNow=True)
    check()
