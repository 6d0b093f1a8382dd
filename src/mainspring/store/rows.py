"""Rows to values and back, once for every engine.

The order of the values in a row is that of COLUMNS. A test compares it with what each engine says of each statement, so
that a list of columns is never wrong silently.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

import msgspec

from mainspring.clock import SECOND, Duration, duration
from mainspring.domain.attempt import Attempt, Failure
from mainspring.domain.event import Event, Happening
from mainspring.domain.job import Job
from mainspring.domain.retry import DEFAULT, Retry
from mainspring.domain.states import Cause, Charge, Outcome, State
from mainspring.domain.task import Task
from mainspring.domain.timetable import MadeBy
from mainspring.domain.worker import Worker, WorkerState
from mainspring.errors import MainspringError, StoreCorrupt

T = TypeVar("T")
Row = tuple[Any, ...]

encode = msgspec.json.encode
decode = msgspec.json.decode
_failure = msgspec.json.Decoder(Failure)
_task = msgspec.json.Decoder(Task)
_made_by = msgspec.json.Decoder(MadeBy)


_JOB = (
    *("id", "task", "state", "queue", "priority", "params", "result", "failure", "attempt", "policy", "due", "created"),
    *("started", "finished", "expires", "worker", "tags", "meta", "parent", "replay_of", "replayed_by"),
    *("cancel_requested", "details", "run", "node", "item", "tick"),
)
_EVENT = ("seq", "job", "at", "cause", "source", "target", "attempt", "actor", "detail")
_WAITING = ("job", "lane", "priority", "attempt", "since")
_LEASED = ("job", "claim", "lane", "priority", "attempt", "since", "worker", "cancel_at", "details")
_COUNT = ("jobs",)
_HEAD = ("lane", "priority", "due", "job")
_QUEUE = ("name", "most", "paused_at", "paused_by", "note", "queued", "scheduled", "retrying", "running")
_SCHEDULE = (
    *("id", "name", "origin", "app", "generation", "declaration", "override", "created", "changed", "paused_at"),
    *("paused_by", "note", "withdrawn_at", "removed_at", "version", "at", "nominal", "last", "last_fired"),
    *("last_succeeded", "fired", "failures"),
)
_TICK = ("schedule", "nominal", "origin", "ticks", "last", "outcome", "why", "job", "run", "decided", "decided_by")
_TICK_KEY = ("schedule", "nominal", "origin")
_BACKFILL = (
    *(
        "id",
        "schedule",
        "first",
        "last",
        "newest_first",
        "again",
        "most",
        "at_once",
        "made",
        "place",
        "created",
        "created_by",
    ),
    "ended",
)
_WORKER = (
    *("id", "incarnation", "name", "host", "pid", "app", "code_hash", "version", "queues", "labels", "slots"),
    *("state", "started", "beat_at", "running", "pids", "tasks", "outdated"),
)
_POLL = ("next_due", "claimable", "cancels", "expiring", "next_expiry", "lanes", "catalog", "drain_by", "others")

_TOKEN = ("id", "name", "role", "created", "created_by", "expires", "used", "revoked", "revoked_by")
_RUN = (
    *("id", "workflow", "hash", "state", "params", "result", "created", "moved", "finished", "deadline", "stop"),
    *("stop_at", "stop_by", "parent_job", "parent_run", "parent_node", "replay_of", "replayed_by", "tags", "version"),
    *("nodes", "tick", "kept"),
)
_SUBSCRIPTION = (
    *("name", "topic", "task", "workflow", "params", "cursor", "made", "refused", "refusal", "created", "created_by"),
)
_NAMED = ("name", "version", "hash", "header", "nodes", "changed")

COLUMNS: dict[str, tuple[str, ...]] = {
    "access/all": _TOKEN,
    "access/by_digest": _TOKEN,
    "access/insert": ("id",),
    "access/named": _TOKEN,
    "access/one": _TOKEN,
    "answer/expired": ("key", "until"),
    "answer/find": ("digest", "answer", "until"),
    "audit/schedules": ("what", "schedule", "nominal"),
    "attempt/of_job": (
        *("job", "number", "outcome", "worker", "started", "ended", "sandbox", "charge", "failure", "details"),
    ),
    "backfill/go_on": ("id",),
    "backfill/insert": ("id",),
    "backfill/of_schedule": _BACKFILL,
    "backfill/open": _BACKFILL,
    "counter/take": ("first",),
    "errand/due": ("run", "kind", "node", "after", "weight"),
    "event/announce": ("pg_advisory_xact_lock_shared",),
    "event/after": _EVENT,
    "event/bound": ("seq",),
    "event/live": ("seq", "at", "job", "run", "node", "task", "queue", *_EVENT[3:]),
    "event/of_job": _EVENT,
    "event/reach": ("seq", "events"),
    "explain/ahead": ("jobs",),
    "explain/children": ("jobs",),
    "explain/last_event": _EVENT,
    "explain/place": ("lane", "priority", "due", "since", "at", "worker", "until", "cancel_by"),
    "explain/taken": ("worker", "slots"),
    "event/of_run": (*_EVENT, "run", "node", "name"),
    "export/attempts": (
        *("job", "number", "outcome", "worker", "started", "ended", "sandbox", "charge", "failure", "details"),
    ),
    "export/events": _EVENT,
    "export/jobs": _JOB,
    "flight/of": ("schedule", "job", "nominal", "origin", "state", "gone", "is_run"),
    "generation/insert": ("number",),
    "generation/of_app": ("code_hash", "number"),
    "job/again": ("task", "lane", "priority", "policy", "params", "tags", "meta", "state", "uniqueness", "tick"),
    "job/count_any": _COUNT,
    "job/count_due": _COUNT,
    "job/count_ended": _COUNT,
    "job/count_queued": _COUNT,
    "job/count_running": _COUNT,
    "job/due_of": ("due",),
    "job/expired": ("job",),
    "job/heads": _HEAD,
    "job/reserve": _HEAD,
    "lane/firsts": _HEAD,
    "job/heads_known": _HEAD,
    "job/ready_lane": ("lane", "task"),
    "job/last_details": ("details",),
    "job/last_replay": ("id", "state"),
    "job/leave_due": (*_WAITING, "state"),
    "job/leave_due_come": (*_WAITING, "state", "at"),
    "job/leave_lease": _LEASED,
    "job/leave_lease_lost": _LEASED,
    "job/leased_by": ("job", "claim", "lane"),
    "job/leave_ready": _WAITING,
    "job/leave_ready_claimed": _WAITING,
    "job/list_any": _JOB,
    "job/list_due": _JOB,
    "job/list_ended": _JOB,
    "job/list_queued": _JOB,
    "job/list_running": _JOB,
    "job/load": ("id", "task", "policy", "params", "expires", "tick", "run", "node", "item", "wants"),
    "job/links": ("id", "run", "node", "item"),
    "job/mark_cancel": ("job",),
    "job/one": _JOB,
    "job/policy_of": ("document", "lane", "priority"),
    "job/renew": ("job",),
    "job/take_ids": ("id",),
    "job/tally": ("charge", "attempts"),
    "job/unfinished_descendants": ("id",),
    "job/wants": ("run", "node", "item", "params", "wants"),
    "job/where": ("state", "attempt"),
    "key/after": ("job", "spent"),
    "key/lock": ("key",),
    "key/look": ("task", "key", "job", "released", "waits"),
    "key/retake": ("task", "key"),
    "key/take": ("task", "key"),
    "lane/all": ("id", "queue", "app", "lodging", "requires", "slots", "most", "paused", "rules"),
    "lane/find": ("id",),
    "lane/insert": ("id",),
    "lane/one": ("queue", "app", "lodging", "requires", "slots"),
    "log/after": ("seq", "attempt", "at", "stream", "level", "text"),
    "log/last": ("job", "seq"),
    "log/size": ("bytes", "seq"),
    "node/active": ("number", "items", "begun"),
    "node/children": ("place", "target", "needs", "early", "document", "inputs", "name", "may_fail"),
    "node/count_active": ("nodes",),
    "node/count_items": ("run", "number", "items", "begun", "succeeded", "failed", "cancelled"),
    "node/count_needs": ("run", "number", "open", "succeeded", "failed", "skipped"),
    "node/gone": ("run", "number"),
    "node/jobs": ("node", "id", "item", "state", "started", "finished"),
    "node/listed": (
        *("number", "name", "state", "reason", "at", "finished", "items", "begun", "succeeded", "failed", "cancelled"),
        *("origin", "failure", "document", "inputs"),
    ),
    "node/kept": ("run", "number"),
    "node/kept_of": ("number", "state", "reason"),
    "node/line": ("number",),
    "node/live_jobs": ("id", "item"),
    "node/live_runs": ("id", "item"),
    "node/nested": ("node", "id", "item", "created"),
    "node/outcomes": ("name", "state", "reason"),
    "node/results": ("run", "number", "state", "items", "item", "job_state", "result"),
    "node/specs": ("run", "number", "document", "inputs", "name", "may_fail"),
    "policy/find": ("id",),
    "policy/insert": ("id",),
    "policy/one": ("document",),
    "queue/all": _QUEUE,
    "queue/names": ("name",),
    "queue/one": _QUEUE,
    "queue/rule": ("most", "paused_at", "paused_by", "note"),
    "queue/running": _COUNT,
    "queue/used": ("name", "most", "running"),
    "reader/advance": ("cursor",),
    "reader/one": ("cursor",),
    "retention/forget_jobs": ("id",),
    "retention/forget_nodes": ("number",),
    "retention/forget_run": ("id",),
    "retention/forget_run_events": ("seq",),
    "retention/old": ("id", "may_go"),
    "retention/old_runs": ("id", "may_go"),
    "retention/oldest": ("created",),
    "schedule/advance": ("schedule",),
    "schedule/all": _SCHEDULE,
    "schedule/due": _SCHEDULE,
    "schedule/insert": ("id",),
    "schedule/of_app": _SCHEDULE,
    "schedule/of_ids": _SCHEDULE,
    "schedule/one": _SCHEDULE,
    "schedule/soonest": ("at",),
    "schedule/waiting": _SCHEDULE,
    "run/above": ("depth", "workflow"),
    "run/again": ("workflow", "version", "params", "on_failure", "parallel", "lasts", "tags", "tick"),
    "run/all": _RUN,
    "run/code_changes": ("task", "before", "now"),
    "run/end": ("id",),
    "run/hold": (
        *("id", "version", "on_failure", "parallel", "stop", "state", "parent_run", "parent_node", "parent_item"),
        "kept",
    ),
    "run/nested": ("id", "workflow", "state", "parent_run", "parent_node", "parent_item"),
    "run/one": _RUN,
    "run/params": ("params",),
    "run/stop": ("parallel",),
    "run/started_below": ("id",),
    "run/tally": ("state", "may_fail", "nodes"),
    "run/where": ("state", "stop", "version", "workflow"),
    "schema/exists": ("schemas",),
    "schema/foreign": ("tables",),
    "schema/known": ("tables",),
    "schema/lock": ("pg_advisory_xact_lock",),
    "schema/name": ("set_config",),
    "schema/read": ("version", "oldest_binary"),
    "schema/statistics": ("name",),
    "setting/all": ("name", "layer", "value", "changed", "changed_by"),
    "setting/version": ("next",),
    "trail/edits": ("seq", "at", "actor", "action", "subject", "before", "after"),
    "trail/page": ("seq", "at", "actor", "action", "subject", "before", "after"),
    "series/between": ("at", "queue", "task", "label", "bucket", "number", "total", "most", "looks"),
    "series/depths": ("queue", "state", "jobs", "oldest"),
    "series/flow": ("minute", "queue", "task", "source", "target", "outcome", "bucket", "number", "total", "most"),
    "total/all": ("metric", "queue", "task", "label", "bucket", "number", "total"),
    "subscription/all": _SUBSCRIPTION,
    "subscription/behind": _SUBSCRIPTION,
    "subscription/go_on": ("name",),
    "subscription/move": ("name",),
    "subscription/remove": ("name",),
    "message/after": ("number", "at", "actor", "data"),
    "topic/all": ("name", "last", "first", "at"),
    "topic/take": ("last",),
    "task/all": ("declaration",),
    "task/by_short": ("name",),
    "task/ground": ("declaration", "lane", "policy"),
    "task/names": ("name",),
    "task/of_app": ("name", "declaration"),
    "task/one": ("declaration",),
    "tick/all": _TICK,
    "tick/fired": ("nominal",),
    "tick/forget": ("schedule",),
    "tick/insert": _TICK_KEY,
    "tick/of_schedule": (*_TICK, "state"),
    "tick/settle": _TICK_KEY,
    "tick/waiting": _TICK,
    "version/find": ("id", "whole"),
    "version/insert": ("id", "whole"),
    "version/nodes": ("number", "name", "document"),
    "version/one": ("hash", "header", "nodes"),
    "workflow/all": _NAMED,
    "workflow/one": _NAMED,
    "worker/all": _WORKER,
    "worker/beat_and_poll": _POLL,
    "worker/forget": ("id",),
    "worker/insert": ("id",),
    "worker/poll": _POLL,
    "worker/one": _WORKER,
    "worker/sweep_look": ("next_due", "expiring", "next_expiry"),
}
"""What each statement answers, in order; those that are left out answer nothing."""


class Policy(msgspec.Struct, frozen=True):
    """How a job is retried and timed: interned, as most jobs of a task share it."""

    retry: Retry
    timeout: Duration | None
    grace: Duration
    document: dict[str, Any]


_SPOILED = Policy(DEFAULT, None, Duration(5 * SECOND), {"retry": DEFAULT.document(), "timeout": None, "grace": "5s"})


def _sound(read: Callable[[Row], T]) -> Callable[[Row], T]:
    """A row that can't be read as what it should be is damage, and is told as such."""

    @wraps(read)
    def guarded(row: Row) -> T:
        try:
            return read(row)
        except (ValueError, TypeError, msgspec.MsgspecError) as error:
            raise StoreCorrupt(
                f"A {read.__name__} in the database is damaged: {error}; its row is {str(row)[:200]}",
                remedy="Check the database (pragma integrity_check) and restore a backup.",
            ) from error

    return guarded


def text(value: Any) -> str:
    """A value as JSON text, for a text column."""
    return encode(value).decode()


@lru_cache(maxsize=1000)
def policy(document: str) -> Policy:
    """A policy row; one that was spoiled by hand gives the defaults, so that it stops no loop."""
    try:
        values = decode(document)
        timeout = values["timeout"]
        return Policy(
            Retry.from_document(values["retry"]),
            None if timeout is None else duration(timeout),
            duration(values["grace"]),
            values,
        )
    except (msgspec.MsgspecError, MainspringError, KeyError, TypeError):
        return _SPOILED


def shown(column: str | None) -> Any:
    """A column of JSON; a text that was spoiled by hand is shown as it is, so that one bad row hides no list."""
    if column is None:
        return None
    try:
        return decode(column)
    except msgspec.DecodeError:
        return column


def pairs(column: str | None) -> dict[str, str]:
    """A column of texts by name; one that was spoiled by hand holds none."""
    found = shown(column)
    return found if isinstance(found, dict) else {}


def failure(column: str | None) -> Failure | None:
    """A failure column; one that was spoiled by hand says so."""
    if column is None:
        return None
    try:
        return _failure.decode(column)
    except msgspec.MsgspecError:
        return Failure("Unreadable", column)


def tick(column: str | None) -> MadeBy | None:
    """The tick that a job or run was made by; one that was spoiled by hand is none."""
    if column is None:
        return None
    try:
        return _made_by.decode(column)
    except msgspec.MsgspecError:
        return None


@_sound
def task(row: Row) -> Task:
    """A row of ``task/all`` or ``task/one``."""
    return _task.decode(row[0])


@_sound
def standing(row: Row) -> tuple[State, int]:
    """A row of ``job/where``: state and last attempt number."""
    state, number = row
    return State(state), number


@_sound
def job(row: Row) -> Job:
    """A row of ``job/one`` or of a list."""
    (id_, task_, state, queue, priority, params, result, failed, number, document, due, created, *rest) = row
    (started, finished, expires, worker_, tags, meta, parent, replay_of, replayed_by, cancel, details, *linked) = rest
    run, node, item, ticked = linked
    retried = policy(document).document
    return Job(
        id=id_,
        task=task_,
        state=State(state),
        queue=queue,
        priority=priority,
        params=shown(params),
        result=shown(result),
        error=failure(failed),
        attempt=number,
        max_attempts=retried["retry"]["max_attempts"],
        retry=dict(retried["retry"]),
        timeout=retried["timeout"],
        run_at=due,
        created_at=created,
        started_at=started,
        finished_at=finished,
        expires_at=expires,
        worker=worker_,
        tags=pairs(tags),
        meta=shown(meta),
        parent=parent,
        replay_of=replay_of,
        replayed_by=replayed_by,
        cancel_requested=bool(cancel),
        progress=shown(details),
        run=run,
        node=node,
        item=item,
        tick=tick(ticked),
    )


@_sound
def attempt(row: Row) -> Attempt:
    """A row of ``attempt/of_job``."""
    job_, number, outcome, worker_, started, ended, sandbox, charge, failed, details = row
    return Attempt(
        job=job_,
        number=number,
        outcome=None if outcome is None else Outcome(outcome),
        worker=worker_,
        started_at=started,
        ended_at=ended,
        sandbox=sandbox,
        charge=None if charge is None else Charge(charge),
        failure=failure(failed),
        details=None if details is None else details.encode(),
    )


@_sound
def event(row: Row) -> Event:
    """A row of ``event/after`` or ``event/of_job``."""
    seq, job_, at, cause, source, target, number, actor, detail = row
    return Event(
        seq=seq,
        job=job_,
        at=at,
        cause=Cause(cause),
        source=State(source),
        target=State(target),
        attempt=number,
        actor=actor,
        detail=None if detail is None else decode(detail),
    )


@_sound
def happening(row: Row) -> Happening:
    """A row of ``event/live``."""
    return Happening(*(*row[:-1], shown(row[-1])))


@_sound
def worker(row: Row) -> Worker:
    """A row of ``worker/all``."""
    (id_, incarnation, name, host, pid, app, code_hash, version, queues, labels, slots, state, *rest) = row
    started, beat_at, running, pids, tasks, outdated = rest
    return Worker(
        id=id_,
        incarnation=incarnation,
        name=name,
        host=host,
        pid=pid,
        app=app,
        code_hash=code_hash,
        version=version,
        queues=tuple(decode(queues)),
        labels=decode(labels),
        slots=slots,
        state=WorkerState(state),
        started_at=started,
        beat_at=beat_at,
        running=running,
        pids=decode(pids),
        tasks=tuple(decode(tasks)),
        outdated=bool(outdated),
    )
