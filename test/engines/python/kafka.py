"""The events of a topic: kafka.py produce | drain. `drain` waits for the located ones, and prints what is right as JSON."""

import json
import os
import sys
import time

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

servers = {"bootstrap.servers": os.environ["KAFKA"]}
EVENTS = 60_000
ADDRESSES = ["81.2.69.142", "10.0.0.1", None, 7]

if sys.argv[1] == "produce":
    admin = AdminClient(servers)
    for topic in admin.create_topics([NewTopic(name, 2, 1) for name in ("events", "located")]).values():
        topic.result(60)
    producer = Producer({**servers, "queue.buffering.max.messages": 2 * EVENTS})
    for number in range(EVENTS):
        producer.produce("events", json.dumps({"id": number, "client_ip": ADDRESSES[number % len(ADDRESSES)]}), key=str(number))
    for poison in (b"", b"\xff", b"[1]", b"{"):
        producer.produce("events", poison)
    producer.flush()
else:
    consumer = Consumer({**servers, "group.id": "drain", "auto.offset.reset": "earliest", "isolation.level": "read_committed"})
    consumer.subscribe(["located"])
    events, keys, end = [], [], time.monotonic() + 120
    while time.monotonic() < end:
        messages = [message for message in consumer.consume(10_000, timeout=2) if message.error() is None]
        events += [json.loads(message.value()) for message in messages]
        keys += [message.key() for message in messages]
        if len(events) >= EVENTS + 4:
            # What comes twice comes soon.
            end = min(end, time.monotonic() + 5)
    ids = sorted(event["id"] for event in events if "id" in event)
    cities = {(event["id"] % len(ADDRESSES), event["location"] and event["location"]["city"]) for event in events if "id" in event}
    print(json.dumps({
        "each event once": ids == list(range(EVENTS)),
        "each with its key": all(key == str(event["id"]).encode() for event, key in zip(events, keys) if "id" in event),
        "each with its location": cities == {(0, "London"), (1, None), (2, None), (3, None)},
        "values that are no events too": len([event for event in events if "raw" in event]) == 4,
    }))
