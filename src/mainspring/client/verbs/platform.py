"""Tasks, workers and queues over REST, and the numbers of what goes on."""

from __future__ import annotations

from msgspec import to_builtins

from mainspring.client import unwire
from mainspring.client.http import Steps, get, items, pages, part, send
from mainspring.client.metric_wire import point_of
from mainspring.client.record_wire import record_of
from mainspring.clock import duration_text, instant_text
from mainspring.domain.metric import Point, SeriesWanted
from mainspring.domain.queue import Queue, QueueChange
from mainspring.domain.record import Record, RecordFilter
from mainspring.domain.task import Task
from mainspring.domain.worker import Worker


def tasks() -> Steps[list[Task]]:
    """The catalog."""
    return [unwire.task_of(one) for one in (yield from pages("/tasks"))]


def workers() -> Steps[list[Worker]]:
    """All workers that are known, newest first."""
    return [unwire.worker_of(one) for one in (yield from pages("/workers"))]


def worker(worker: int) -> Steps[Worker]:
    """One worker."""
    return unwire.worker_of((yield get(f"/workers/{worker}")))


def drain(worker: int) -> Steps[Worker]:
    """Let a worker claim nothing more, and end when its jobs have."""
    return unwire.worker_of((yield send("POST", f"/workers/{worker}/drain")))


def queues() -> Steps[list[Queue]]:
    """All queues that are known, by name."""
    return [unwire.queue_of(one) for one in (yield from pages("/queues"))]


def queue(name: str) -> Steps[Queue]:
    """One queue."""
    return unwire.queue_of((yield get(f"/queues/{part(name)}")))


def change_queue(name: str, change: QueueChange) -> Steps[Queue]:
    """Pause or resume a queue, set its limit or its note."""
    return unwire.queue_of((yield send("PATCH", f"/queues/{part(name)}", to_builtins(change))))


def series(wanted: SeriesWanted) -> Steps[list[Point]]:
    """A metric over time, in order."""
    found = yield from items(
        "/series",
        **{"from": instant_text(wanted.first), "to": instant_text(wanted.until)},
        metric=wanted.metric,
        step=duration_text(wanted.step),
        queue=wanted.queue,
        task=wanted.task,
        label=wanted.label,
        by=",".join(wanted.by) or None,
    )
    return [point_of(wanted.metric, one) for one in found]


def records(wanted: RecordFilter) -> Steps[list[Record]]:
    """What servers and workers said of themselves."""
    query = {name: getattr(wanted, name) for name in ("level", "process", "job", "run", "worker", "limit")}
    times = {name: instant_text(at) for name in ("since", "until") if (at := getattr(wanted, name)) is not None}
    return [record_of(one) for one in (yield from items("/logs", **query, **times, cursor=wanted.after))]
