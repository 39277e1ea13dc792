"""Locates the lines of an access log: spark-submit … whole.py WAY INPUT OUTPUT PARTITIONS. Writes a line and ten columns."""

import sys

from geofix_spark import FIELDS, GROUPS, enrich, enrich_lines
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

ORDER = [
    *("country_code", "country_name", "region_code", "region_name", "city", "postal_code"),
    *("latitude", "longitude", "timezone_id", "timezone_offset"),
]
PATHS = {
    field: f"location.{name}" if isinstance(group, str) else f"location.{name}.{own}"
    for name, group in GROUPS.items()
    for own, field in ([("", group)] if isinstance(group, str) else group.items())
}
OPTIONS = ["--append", "--fields", ",".join(ORDER)]


def text_of(field):
    column = F.col(PATHS[field])
    if field in ("latitude", "longitude"):
        # As JavaScript writes numbers: without an exponent and without zeros at the end.
        column = F.regexp_replace(column.cast("decimal(20,12)").cast("string"), r"\.?0+$", "")
    return F.coalesce(column, F.lit(""))


def main():
    way, path, output, partitions = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    assert sorted(ORDER) == sorted(FIELDS)
    spark = SparkSession.builder.getOrCreate()
    lines = spark.sparkContext.textFile(path, partitions)
    assert lines.getNumPartitions() >= partitions
    if way == "enrich_lines":
        enrich_lines(lines, options=OPTIONS).saveAsTextFile(output)
        return
    table = lines.map(lambda line: (line,)).toDF("value string")
    if way == "enrich":
        time = r"try_to_timestamp(regexp_extract(value, '\\[([^\\]]+)\\]', 1), 'dd/MMM/yyyy:HH:mm:ss Z')"
        table = table.select("value", F.split("value", " ")[0].alias("client_ip"), F.expr(time).alias("ts"))
        located = enrich(table).select(F.concat_ws("\t", "value", *map(text_of, ORDER)))
    else:
        table.createOrReplaceTempView("logs")
        command = f"./geofix/bin/geofix enrich --rows --format access-log {' '.join(OPTIONS)}"
        columns = ", ".join(["value", *ORDER])
        # The default delimiter of columns is Control-A.
        tabs = r"ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t'"
        located = spark.sql(f"SELECT TRANSFORM (value) {tabs} USING '{command}' AS ({columns}) {tabs} FROM logs")
        located = located.select(F.concat_ws("\t", *[F.coalesce(F.col(name), F.lit("")) for name in located.columns]))
    located.write.text(output)


main()
