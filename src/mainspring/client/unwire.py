"""Values out of their wire forms: the way back of wire.py, for a client that hears them from a server.

One function per value. What a newer server says beyond these fields is left out; what is missing can't be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from mainspring.clock import instant
from mainspring.domain.access import Change, Token, User
from mainspring.domain.attempt import Attempt
from mainspring.domain.bulk import BulkDone
from mainspring.domain.configured import Edit, Holding, key_of, value_of
from mainspring.domain.event import Event
from mainspring.domain.job import Job, Receipt
from mainspring.domain.logline import LogLine
from mainspring.domain.queue import Queue
from mainspring.domain.reason import Explanation
from mainspring.domain.setting import Kind, Layer
from mainspring.domain.task import Task
from mainspring.domain.topic import Message, Subscription, Topic
from mainspring.domain.worker import Worker

Wire = dict[str, Any]

T = TypeVar("T")


def job_of(wire: Wire) -> Job:
    """A job."""
    times = ("run_at", "created_at", "started_at", "finished_at", "expires_at")
    return _made(wire, Job, times)


def attempt_of(wire: Wire) -> Attempt:
    """An attempt."""
    return _made(wire | {"failure": wire["error"]}, Attempt, ("started_at", "ended_at"))


def event_of(wire: Wire) -> Event:
    """An event."""
    detail = wire["detail"]
    if detail is not None and isinstance(detail.get("due"), str):
        detail = detail | {"due": instant(detail["due"])}
    return _made(wire | {"source": wire["from"], "target": wire["to"], "detail": detail}, Event, ("at",))


def logline_of(wire: Wire) -> LogLine:
    """A line of output."""
    return _made(wire, LogLine, ("at",))


def receipt_of(wire: Wire) -> Receipt:
    """What a submit led to."""
    return Receipt(wire["id"], wire["new"])


def bulk_done_of(wire: Wire) -> BulkDone:
    """What was done to many jobs."""
    return _made(wire, BulkDone)


def explanation_of(wire: Wire) -> Explanation:
    """Why a job is where it is."""
    reasons = [_timed(one, ("until",)) | {"remedy": one["remedy"] or ""} for one in wire["reasons"]]
    return _made(wire | {"job": wire["id"], "reasons": reasons}, Explanation, ("at",))


def queue_of(wire: Wire) -> Queue:
    """A queue."""
    return _made(wire, Queue, ("paused_at",))


def task_of(wire: Wire) -> Task:
    """A task of the catalog."""
    return _made(wire, Task)


def worker_of(wire: Wire) -> Worker:
    """A worker; the random id of its start is nobody's business but the store's."""
    return _made({"incarnation": ""} | wire, Worker, ("started_at", "beat_at"))


def token_of(wire: Wire) -> Token:
    """A token."""
    return _made(wire, Token, ("created_at", "expires_at", "used_at", "revoked_at"))


def user_of(wire: Wire) -> User:
    """Somebody who signs in."""
    return _made(wire, User, ("created_at", "used_at", "removed_at"))


def change_of(wire: Wire) -> Change:
    """A line of the audit trail."""
    return _made(wire, Change, ("at",))


def topic_of(wire: Wire) -> Topic:
    """A topic."""
    return _made(wire | {"at": wire["last_at"]}, Topic, ("at",))


def message_of(wire: Wire) -> Message:
    """A message."""
    return _made(wire, Message, ("at",))


def subscription_of(wire: Wire) -> Subscription:
    """Who takes the messages of a topic."""
    return _made(wire, Subscription, ("created_at",))


def holding_of(wire: Wire) -> Holding:
    """A setting, and what holds for it."""
    key = key_of(wire["name"])
    value = wire["value"]
    if value not in (None, "", [], {}) and key.setting.kind is not Kind.TEXT:
        value = value_of(key, value)
    return Holding(key, tuple(value) if isinstance(value, list) else value, Layer(wire["source"]), wire["place"])


def edit_of(wire: Wire) -> Edit:
    """A change of the configuration."""
    return _made(wire | {"layer": wire["source"]}, Edit, ("at",))


def _made(wire: Mapping[str, Any], kind: type[T], times: tuple[str, ...] = ()) -> T:
    return msgspec.convert(_timed(wire, times), kind)


def _timed(wire: Mapping[str, Any], times: tuple[str, ...]) -> Wire:
    """The same with these texts as instants."""
    return dict(wire) | {name: instant(wire[name]) for name in times if wire.get(name) is not None}
