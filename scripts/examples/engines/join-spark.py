# Spark: pip install pyspark pandas pyarrow
import numpy as np
import pandas as pd
from ip_key import ip_key
from pyspark.sql import SparkSession
from pyspark.sql.functions import pandas_udf

spark = SparkSession.builder.config("spark.driver.memory", "4g").getOrCreate()
spark.sparkContext.addPyFile("ip_key.py")
networks = pd.read_parquet("networks.parquet")
bounds = [np.array(networks[name], "S16") for name in ("start_integer", "end_integer")]
table = spark.sparkContext.broadcast((*bounds, networks[["country_code", "city"]]))


@pandas_udf("country_code string, city string")
def locate(ips: pd.Series) -> pd.DataFrame:
    starts, ends, places = table.value
    keys = np.array([ip_key(ip) for ip in ips], "S16")
    row = np.searchsorted(starts, keys, side="right") - 1
    row[keys > ends[row]] = -1
    return places.reindex(row).set_axis(ips.index)


located = spark.read.csv("visits.csv", header=True).withColumn("place", locate("ip")).select("ip", "place.*")
located.toPandas().to_csv("located.csv", index=False)
