"""What can be run, who runs it, and in which lines it waits."""

from __future__ import annotations

from mainspring.domain.queue import LONGEST_NOTE, MOST_RUNNING
from mainspring.domain.task import Executor
from mainspring.domain.worker import WorkerState
from mainspring.server.schemas.values import (
    FLAG,
    MOMENT,
    OBJECT,
    TAGS,
    asked,
    listed,
    maybe,
    record,
    text,
    whole,
    word,
)

_LIMIT = maybe(whole(8, least=1, most=MOST_RUNNING))

SCHEMAS = {
    "Task": record(
        {
            "name": text("shop.send_receipt"),
            "app": text("shop"),
            "short": text("send_receipt"),
            "executor": word(Executor),
            "queue": text("mail"),
            "schema": OBJECT | {"examples": [{"type": "object", "properties": {"order_id": {"type": "integer"}}}]},
            "retry": OBJECT | {"examples": [{"max_attempts": 4, "delay": "1s"}]},
            "timeout": maybe(text("30s")),
            "grace": text("5s"),
            "priority": whole(5, least=-1000, most=1000),
            "description": text("Send the receipt of an order."),
            "sandbox": text("S0"),
            "requires": TAGS | {"examples": [{"disk": "fast"}]},
            "slots": whole(1, least=1),
            "code_hash": text("5e1d"),
            "argv": listed(text("tar")),
        }
    ),
    "Worker": record(
        {
            "id": whole(7, least=1),
            "name": text("alpha"),
            "host": text("box-1"),
            "pid": whole(4242),
            "pids": OBJECT | {"examples": [{"runners": [4243]}]},
            "state": word(WorkerState),
            "app": text("shop"),
            "queues": listed(text("mail")),
            "labels": TAGS | {"examples": [{"disk": "fast"}]},
            "slots": whole(4),
            "running": whole(1),
            "started_at": MOMENT,
            "beat_at": MOMENT,
            "version": text("0.1.0"),
            "code_hash": text("5e1d"),
            "outdated": FLAG,
            "tasks": listed(text("shop.send_receipt")),
        }
    ),
    "Queue": record(
        {
            "name": text("mail"),
            "paused": FLAG,
            "paused_at": maybe(MOMENT),
            "paused_by": maybe(text("ann@10.0.0.7")),
            "note": maybe(text("the mail server is down")),
            "limit": _LIMIT,
            "running": whole(3),
            "queued": whole(120),
            "scheduled": whole(2),
            "retrying": whole(1),
        }
    ),
    "QueueChange": asked(
        {
            "paused": FLAG | {"examples": [True]},
            "limit": _LIMIT,
            "note": maybe(text("the mail server is down", maxLength=LONGEST_NOTE)),
        }
    ),
}
