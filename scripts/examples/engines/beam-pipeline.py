# Counts the events of events.parquet by country. pip install apache-beam pyarrow
import apache_beam as beam
import pyarrow as pa
from geofix_locator import Locator


class Locate(beam.DoFn):
    """Adds the member "location" to each of a list of events."""

    def __init__(self):
        self.locator = Locator()

    def process(self, events):
        addresses = pa.array([event["client_ip"] for event in events], pa.string())
        for event, location in zip(events, self.locator.locate(addresses).to_pylist()):
            yield {**event, "location": location}

    def teardown(self):
        self.locator.close()


with beam.Pipeline() as pipeline:
    (pipeline
     | beam.io.ReadFromParquet("events.parquet")
     | beam.BatchElements(min_batch_size=100, max_batch_size=10_000)
     | beam.ParDo(Locate())
     | beam.Map(lambda event: (event["location"] or {"country": {"code": None}})["country"]["code"] or "")
     | beam.combiners.Count.PerElement()
     | beam.Map(print))
