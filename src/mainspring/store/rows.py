"""Rows to values and back, once for every engine.

The order of the values in a row is that of COLUMNS.
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
from mainspring.domain.overriding import Override
from mainspring.domain.retry import DEFAULT, Retry
from mainspring.domain.states import Cause, Charge, Outcome, State
from mainspring.domain.task import Task
from mainspring.domain.timetable import MadeBy
from mainspring.domain.worker import Worker, WorkerState
from mainspring.errors import MainspringError, StoreCorrupt
from mainspring.store.columns import COLUMNS

__all__ = ["COLUMNS"]

T = TypeVar("T")
Row = tuple[Any, ...]

encode = msgspec.json.encode
decode = msgspec.json.decode
_failure = msgspec.json.Decoder(Failure)
_task = msgspec.json.Decoder(Task)
_made_by = msgspec.json.Decoder(MadeBy)


class Policy(msgspec.Struct, frozen=True):
    """How a job is retried and timed: interned, as most jobs of a task share it."""

    retry: Retry
    timeout: Duration | None
    grace: Duration
    document: dict[str, Any]

    def under(self, override: Override) -> Policy:
        """The same where operators have said something of the task; what the job itself says stands."""
        own = self.document.get(OWN, ())
        return msgspec.structs.replace(
            self,
            retry=self.retry if "retry" in own else override.of_retry(self.retry),
            timeout=self.timeout if "timeout" in own or override.timeout is None else override.timeout,
            grace=self.grace if override.grace is None else override.grace,
        )


OWN = "own"
"""Of the document of a policy: the fields that the submit said of its own job."""

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


def names(column: str | None) -> tuple[str, ...]:
    """A column of names; one that was spoiled by hand holds none."""
    found = shown(column)
    return tuple(found) if isinstance(found, list) else ()


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


def _detail(column: str | None) -> dict[str, Any] | None:
    """What else an event says; one that was spoiled by hand is shown as it is."""
    found = shown(column)
    return found if found is None or isinstance(found, dict) else {"unreadable": column}


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
        detail=_detail(detail),
    )


@_sound
def happening(row: Row) -> Happening:
    """A row of ``event/live``."""
    return Happening(*(*row[:-1], _detail(row[-1])))


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
        queues=names(queues),
        labels=_labels(queues, labels, pids, tasks),
        slots=slots,
        state=WorkerState(state),
        started_at=started,
        beat_at=beat_at,
        running=running,
        pids=shown(pids) if isinstance(shown(pids), dict) else {},
        tasks=names(tasks),
        outdated=bool(outdated),
    )


def _labels(queues: str, labels: str, pids: str, tasks: str) -> dict[str, str]:
    """The labels of a worker; where its row was spoiled by hand, one that says so."""
    kinds = ((queues, list), (labels, dict), (pids, dict), (tasks, list))
    spoiled = [column for column, kind in kinds if not isinstance(shown(column), kind)]
    return pairs(labels) | ({"unreadable": ", ".join(spoiled)[:200]} if spoiled else {})
