# polars: pip install polars
import polars as pl
from ip_key import ip_key


def number(column: str) -> pl.Expr:
    return pl.col(column).bin.reinterpret(dtype=pl.Int128, endianness="big").alias(column)


networks = pl.read_parquet("networks.parquet").with_columns(number("start_integer"), number("end_integer"))
visits = pl.read_csv("visits.csv")
keys = visits.with_columns(pl.Series("key", [ip_key(ip) for ip in visits["ip"]], pl.Binary)).with_columns(number("key"))
joined = keys.sort("key").join_asof(networks.set_sorted("start_integer"), left_on="key", right_on="start_integer")
inside = pl.col("key") <= pl.col("end_integer")
located = joined.select("ip", *(pl.when(inside).then(name).alias(name) for name in ("country_code", "city")))
located.write_csv("located.csv")
