"""How a process of Python keeps its process of Geofix from task to task: reuse.py FOLDER, which has what is in the archive. Needs no
cluster. Prints what is right as JSON.
"""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import datetime, timezone

import geofix_spark as module
from geofix_locator import request
import pyarrow as pa
from pyspark import SparkFiles

SparkFiles._is_running_on_worker = True
SparkFiles._root_directory = "/"
LONDON = "81.2.69.142"
checks = {}


AT = datetime(2026, 7, 1, tzinfo=timezone.utc)


def command(locale="en"):
    options = ["--times", "none", "--fields", "country_name,city"]
    return module._command(sys.argv[-1], ["engine", "columns"], options, locale, AT)


def task(locale="en", batches=5):
    """The answers of a task, each with the number of the batch."""
    requests = ((2, request(pa.array([LONDON, None])), number) for number in range(batches))
    return module._exchange(command(locale), requests, module._Process.locations)


def run(*args, **options):
    """The number of the process after a task. Checks that each batch has its answer."""
    answers = list(task(*args, **options))
    numbers = [(context, rows, count) for context, (rows, count, _) in answers]
    checks["each batch has its answer"] = checks.get("each batch has its answer", True) and numbers == [
        (number, 2, 2) for number in range(len(answers))
    ]
    return idle()


def idle():
    return [process._process.pid for process in module._idle.values()]


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(") ", 1)[1][0] != "Z"
    except FileNotFoundError:
        return False


def ends(pid):
    for _ in range(200):
        if not runs(pid):
            return True
        time.sleep(0.05)
    return False


if sys.argv[1] == "parent":
    # Killed by the other process while it has one of Geofix.
    print(*run(), flush=True)
    time.sleep(60)

checks["a task without rows starts nothing"] = run(batches=0) == []
(first,) = run()
checks["the next task has the same process"] = run() == [first]

half = task()
next(half)
checks["nothing is idle in a task"] = idle() == []
half.close()
checks["a task that stops half way ends its process"] = idle() == [] and ends(first)
(second,) = run()

half = task(batches=10)
next(half)
os.kill(second, signal.SIGKILL)
try:
    list(half)
    message = ""
except RuntimeError as error:
    message = str(error)
checks["a process that is killed in a task fails it"] = "status -9 before it had answered all rows" in message and idle() == []

(third,) = run()
os.kill(third, signal.SIGKILL)
# Until its last thread has ended, it looks as if it was running.
module._idle[command()]._process.wait()
(fourth,) = run()
checks["a process that is killed between tasks is replaced"] = fourth != third

(fifth,) = run("de")
checks["other options have a process of their own, and no other stays"] = fifth != fourth and ends(fourth)
checks["the options are those of the task"] = [
    bytes(answer[2]).count("Vereinigtes Königreich".encode()) for _, answer in task("de", 1)
] == [1]


def failing():
    yield 1, request(pa.array([LONDON])), None
    raise ValueError("rows of another task")


try:
    list(module._exchange(command("de"), failing(), module._Process.locations))
except ValueError:
    checks["a task whose rows fail ends its process"] = idle() == [] and ends(fifth)

(sixth,) = run()
child = os.fork()
if child == 0:
    os._exit(len(module._idle))
checks["a forked process has none"] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 and run() == [sixth]

nested = task()
next(nested)
(other,) = run()
list(nested)
checks["of two tasks at a time one process stays"] = idle() == [other] and ends(sixth)

parent = subprocess.Popen([sys.executable, __file__, "parent", sys.argv[-1]], stdout=subprocess.PIPE, text=True)
orphan = int(parent.stdout.readline())
parent.kill()
checks["a process ends with its parent"] = ends(orphan)
print(json.dumps(checks))
