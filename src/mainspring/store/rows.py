"""Rows to values and back, once for every engine. Column order is that of the statements' select lists."""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.clock import SECOND, Duration, duration
from mainspring.domain.attempt import Attempt, Failure
from mainspring.domain.event import Event
from mainspring.domain.job import Job
from mainspring.domain.retry import DEFAULT, Retry
from mainspring.domain.states import Cause, Charge, Outcome, State
from mainspring.domain.task import Task
from mainspring.domain.worker import Worker, WorkerState
from mainspring.errors import MainspringError

encode = msgspec.json.encode
decode = msgspec.json.decode
_failure = msgspec.json.Decoder(Failure)
_task = msgspec.json.Decoder(Task)


class Policy(msgspec.Struct, frozen=True):
    """How a job is retried and timed: interned, as most jobs of a task share it."""

    retry: Retry
    timeout: Duration | None
    grace: Duration
    document: dict[str, Any]


_SPOILED = Policy(DEFAULT, None, Duration(5 * SECOND), {"retry": DEFAULT.document(), "timeout": None, "grace": "5s"})


def text(value: Any) -> str:
    """A value as JSON text, for a text column."""
    return encode(value).decode()


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


def failure(column: str | None) -> Failure | None:
    """A failure column."""
    return None if column is None else _failure.decode(column)


def task(column: str) -> Task:
    """A declaration column."""
    return _task.decode(column)


def job(row: tuple[Any, ...]) -> Job:
    """A row of ``job/one`` or of a list."""
    document = decode(row[9])
    return Job(
        id=row[0],
        task=row[1],
        state=State(row[2]),
        queue=row[3],
        priority=row[4],
        params=decode(row[5]),
        result=None if row[6] is None else decode(row[6]),
        error=failure(row[7]),
        attempt=row[8],
        max_attempts=document["retry"]["max_attempts"],
        retry=document["retry"],
        timeout=document["timeout"],
        run_at=row[10],
        created_at=row[11],
        started_at=row[12],
        finished_at=row[13],
        expires_at=row[14],
        worker=row[15],
        tags={} if row[16] is None else decode(row[16]),
        meta=None if row[17] is None else decode(row[17]),
        parent=row[18],
        replay_of=row[19],
        replayed_by=row[20],
        cancel_requested=bool(row[21]),
        progress=None if row[22] is None else decode(row[22]),
    )


def attempt(row: tuple[Any, ...]) -> Attempt:
    """A row of ``attempt/of_job``."""
    return Attempt(
        job=row[0],
        number=row[1],
        outcome=None if row[2] is None else Outcome(row[2]),
        worker=row[3],
        started_at=row[4],
        ended_at=row[5],
        sandbox=row[6],
        charge=None if row[7] is None else Charge(row[7]),
        failure=failure(row[8]),
        details=None if row[9] is None else row[9].encode(),
    )


def event(row: tuple[Any, ...]) -> Event:
    """A row of ``event/after`` or ``event/of_job``."""
    return Event(
        seq=row[0],
        job=row[1],
        at=row[2],
        cause=Cause(row[3]),
        source=State(row[4]),
        target=State(row[5]),
        attempt=row[6],
        actor=row[7],
        detail=None if row[8] is None else decode(row[8]),
    )


def worker(row: tuple[Any, ...]) -> Worker:
    """A row of ``worker/all``."""
    return Worker(
        id=row[0],
        incarnation=row[1],
        name=row[2],
        host=row[3],
        pid=row[4],
        app=row[5],
        code_hash=row[6],
        version=row[7],
        queues=tuple(decode(row[8])),
        labels=decode(row[9]),
        slots=row[10],
        state=WorkerState(row[11]),
        started_at=row[12],
        beat_at=row[13],
        running=row[14],
        pids=decode(row[15]),
        tasks=tuple(decode(row[16])),
    )
