# Counts the addresses of events.csv by city. pip install apache-flink pandas pyarrow
import pandas as pd
import pyarrow as pa
from geofix_locator import Locator
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.udf import ScalarFunction, udf


class City(ScalarFunction):
    """A field of the location, such as "country.code"."""

    def open(self, context):
        self.locator = Locator()

    def close(self):
        self.locator.close()

    def eval(self, addresses: pd.Series) -> pd.Series:
        return self.locator.locate(pa.array(addresses, pa.string(), from_pandas=True)).field("city").to_pandas()


environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
environment.create_temporary_function("city", udf(City(), result_type=DataTypes.STRING(), func_type="pandas"))
environment.execute_sql("CREATE TABLE events (client_ip STRING) WITH ('connector' = 'filesystem', 'path' = 'events.csv', 'format' = 'csv')")
environment.execute_sql("SELECT city, COUNT(*) FROM (SELECT city(client_ip) AS city FROM events) GROUP BY city").print()
