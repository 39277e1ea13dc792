# From the topic "events" to "located", each event once. pip install confluent-kafka pyarrow
import json
import os
import sys

import pyarrow as pa
from confluent_kafka import Consumer, Producer
from geofix_locator import Locator

servers = {"bootstrap.servers": os.environ.get("KAFKA", "localhost:9092")}
consumer = Consumer({**servers, "group.id": "geofix", "auto.offset.reset": "earliest", "enable.auto.commit": False,
                     "isolation.level": "read_committed"})
# One name for each worker that runs at the same time: the broker then stops an older worker with this name.
producer = Producer({**servers, "transactional.id": os.environ.get("WORKER", "geofix-1")})
consumer.subscribe(["events"])
producer.init_transactions()


def parsed(message):
    try:
        event = json.loads(message.value())
        return event if isinstance(event, dict) else {"raw": event}
    except (TypeError, ValueError):
        return {"raw": (message.value() or b"").decode(errors="replace")}


with Locator() as locator:
    while True:
        batch = consumer.consume(10_000, timeout=1)
        messages = [message for message in batch if message.error() is None]
        if len(messages) < len(batch):
            # Such as a topic that does not exist. The consumer goes on when it does.
            print(*[message.error() for message in batch if message.error() is not None], sep="\n", file=sys.stderr)
        if not messages:
            continue
        events = [parsed(message) for message in messages]
        ips = [event.get("client_ip") for event in events]
        locations = locator.locate(pa.array([ip if isinstance(ip, str) else None for ip in ips], pa.string()))
        # The rows and how far the group has read are written together, or not at all.
        producer.begin_transaction()
        for message, event, location in zip(messages, events, locations.to_pylist()):
            producer.produce("located", json.dumps({**event, "location": location}), key=message.key())
            producer.poll(0)
        producer.send_offsets_to_transaction(consumer.position(consumer.assignment()), consumer.consumer_group_metadata())
        producer.commit_transaction()
