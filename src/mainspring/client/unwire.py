"""Values out of their wire forms: the way back of wire.py, for a client that hears them from a server.

One function per value. What a newer server says beyond these fields is left out; what is missing can't be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from mainspring.clock import instant
from mainspring.domain import plan as plans
from mainspring.domain.access import Change, Token, User
from mainspring.domain.attempt import Attempt
from mainspring.domain.bulk import BulkDone
from mainspring.domain.configured import Edit, Holding, key_of, value_of
from mainspring.domain.event import Event
from mainspring.domain.job import Job, Receipt
from mainspring.domain.joins import Tally
from mainspring.domain.logline import LogLine
from mainspring.domain.queue import Queue
from mainspring.domain.reason import Explanation
from mainspring.domain.run import CodeChange, Replay, Run, RunEvent, RunNode, WorkflowShown
from mainspring.domain.setting import Kind, Layer
from mainspring.domain.task import Task
from mainspring.domain.timetable import Backfill, Filling, Schedule, Tick
from mainspring.domain.topic import Message, Subscription, Topic
from mainspring.domain.worker import Worker
from mainspring.domain.workflow import Workflow

Wire = dict[str, Any]

T = TypeVar("T")


def job_of(wire: Wire) -> Job:
    """A job."""
    times = ("run_at", "created_at", "started_at", "finished_at", "expires_at")
    return _made(wire | {"tick": _tick(wire["tick"])}, Job, times)


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


def schedule_of(wire: Wire) -> Schedule:
    """A schedule; its number is nobody's business but the store's."""
    said = {name: wire[name] for name in plans.FIELDS}
    renamed = {
        "id": 0,
        "standing": wire["state"],
        "plan": said,
        "declared": said | wire["declared"],
        "next_tick": wire["next_at"],
        "next_at": wire["fires_at"],
        "last": wire["last_tick"],
        "ahead": wire["ahead_until"],
    }
    times = ("next_tick", "next_at", "last", "last_fired", "last_succeeded", "paused_at", "created_at", "changed_at")
    return _made(wire | renamed, Schedule, (*times, "ahead"))


def tick_of(wire: Wire) -> Tick:
    """A tick."""
    return _made(wire | {"nominal": wire["at"]}, Tick, ("nominal", "last", "decided_at"))


def backfill_of(wire: Wire) -> Backfill:
    """A backfill; which schedule it is of was known to who asked."""
    renamed = {
        "schedule": 0,
        "first": wire["from"],
        "last": wire["to"],
        "newest_first": wire["order"] == "newest",
        "most": wire["limit"],
    }
    return _made(wire | renamed, Backfill, ("first", "last", "place", "created_at", "ended_at"))


def filling_of(wire: Wire) -> Filling:
    """What a backfill is to do."""
    begun = wire["backfill"]
    return Filling([instant(tick) for tick in wire["ticks"]], None if begun is None else backfill_of(begun))


def document_of(wire: Wire) -> Workflow:
    """The definition of a workflow, which was checked when it was stored."""
    return msgspec.convert(wire, Workflow)


def workflow_of(wire: Wire) -> WorkflowShown:
    """What a name stands for."""
    return _made(wire | {"document": wire["definition"]}, WorkflowShown, ("changed_at",))


def run_of(wire: Wire) -> Run:
    """A run."""
    renamed = {"tick": _tick(wire["tick"]), "progress": Tally(**wire["progress"])}
    return _made(wire | renamed, Run, ("created_at", "finished_at", "deadline", "stop_at"))


def replay_of(wire: Wire) -> Replay:
    """A run that replays another."""
    return Replay(run_of(wire), [msgspec.convert(one, CodeChange) for one in wire["changed"]])


def node_of(wire: Wire) -> RunNode:
    """A node of a run."""
    jobs = [_timed(one, ("started_at", "finished_at")) for one in wire["job_states"]]
    return _made(wire | {"jobs": jobs}, RunNode, ("left_at", "started_at", "finished_at"))


def run_event_of(wire: Wire) -> RunEvent:
    """Something that happened in a run."""
    renamed = {
        "job": wire["job"] or 0,
        "attempt": wire["attempt"] or 0,
        "source": wire["from"],
        "target": wire["to"],
    }
    return _made(wire | renamed, RunEvent, ("at",))


def _tick(wire: Wire | None) -> Wire | None:
    """What made a job or a run."""
    return None if wire is None else _timed(wire, ("at",))


def _made(wire: Mapping[str, Any], kind: type[T], times: tuple[str, ...] = ()) -> T:
    return msgspec.convert(_timed(wire, times), kind)


def _timed(wire: Mapping[str, Any], times: tuple[str, ...]) -> Wire:
    """The same with these texts as instants."""
    return dict(wire) | {name: instant(wire[name]) for name in times if wire.get(name) is not None}
