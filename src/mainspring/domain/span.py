"""Spans: what jobs and runs did, as OpenTelemetry tells it. Values only; ids follow from what is told, not from chance.

So a span that is told twice is one span, and what is below it knows its id although nobody carries one to it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import NamedTuple

from mainspring.clock import Instant
from mainspring.domain.attempt import Failure
from mainspring.domain.states import FINAL

TAG = "traceparent"
"""The tag of a job or run that says in whose trace it was submitted, as W3C writes it."""

_PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")
_LONGEST_REASON = 500


class Origin(NamedTuple):
    """In which trace something is, and below which span: None for the first. ``told``: whether anybody wants it."""

    trace: str
    parent: str | None = None
    told: bool = True


class Lineage(NamedTuple):
    """Where a job or run comes from: the job or run that made it, when, and what its submit said."""

    job: int | None
    run: int | None
    created: Instant
    tags: Mapping[str, str]


class Move(NamedTuple):
    """What an event says of a job: the end of an attempt, its own end, or both.

    ``outcome``, ``started``, ``ended``, ``worker`` and ``failure``: of the attempt that is over, None where none is.
    """

    seq: int
    at: Instant
    target: str
    attempt: int
    job: int
    task: str
    queue: str
    outcome: str | None
    started: Instant | None
    ended: Instant | None
    worker: str | None
    failure: Failure | None
    lineage: Lineage


class RunEnd(NamedTuple):
    """A run that is over."""

    seq: int
    at: Instant
    state: str
    run: int
    workflow: str | None
    lineage: Lineage


class Span(NamedTuple):
    """A stretch of time in which something was done. ``error``: why it did not succeed, an empty text where it did."""

    trace: str
    id: str
    parent: str | None
    name: str
    began: Instant
    ended: Instant
    attributes: Mapping[str, str | int]
    error: str = ""


def origin_in(tags: Mapping[str, str]) -> Origin | None:
    """What the tag says; None without a valid one."""
    found = _PARENT.fullmatch(tags.get(TAG, ""))
    return None if found is None else Origin(found[1], found[2], told=int(found[3], 16) & 1 == 1)


def in_trace(tags: dict[str, str], traceparent: str) -> dict[str, str]:
    """Tags with the trace that a request came with, unless they name one, or it is none."""
    return tags if TAG in tags or _PARENT.fullmatch(traceparent) is None else {**tags, TAG: traceparent}


def root(kind: str, number: int, created: Instant) -> Origin:
    """That of a ``job`` or ``run`` that comes from nobody. The moment makes it another one on each platform."""
    return Origin(_hash(f"{kind}:{number}:{created}")[:32])


def below(origin: Origin, kind: str, number: int) -> Origin:
    """That of what a job or run has made."""
    return origin._replace(parent=span_id(origin.trace, kind, number))


def span_id(trace: str, kind: str, number: int, attempt: int = 0) -> str:
    """The id of the span of a job, a run, or with its number an attempt."""
    return _hash(f"{trace}:{kind}:{number}:{attempt}")[:16]


def traceparent(origin: Origin, job: int, attempt: int) -> str:
    """For the code of an attempt: it is in this trace, below the span of the attempt."""
    return f"00-{origin.trace}-{span_id(origin.trace, 'attempt', job, attempt)}-{int(origin.told):02x}"


def spans_of(move: Move, origin: Origin) -> list[Span]:
    """What there is to tell of a move: ``attempt`` where one is over, and the whole ``job`` at its end."""
    if not origin.told:
        return []
    about: dict[str, str | int] = {"mainspring.job": move.job, "mainspring.task": move.task}
    about |= {"mainspring.queue": move.queue} | (
        {} if move.lineage.run is None else {"mainspring.run": move.lineage.run}
    )
    own = span_id(origin.trace, "job", move.job)
    found = []
    if move.started is not None and move.ended is not None:
        number = span_id(origin.trace, "attempt", move.job, move.attempt)
        tried = about | {"mainspring.attempt": move.attempt, "mainspring.outcome": move.outcome or ""}
        tried |= {"mainspring.worker": move.worker or ""}
        error = "" if move.outcome == "succeeded" else _reason(move.outcome or "", move.failure)
        found.append(Span(origin.trace, number, own, f"attempt {move.task}", move.started, move.ended, tried, error))
    if move.target in FINAL:
        error = "" if move.target == "succeeded" else move.target
        ends = about | {"mainspring.state": move.target}
        found.append(
            Span(origin.trace, own, origin.parent, f"job {move.task}", move.lineage.created, move.at, ends, error)
        )
    return found


def span_of_run(end: RunEnd, origin: Origin) -> list[Span]:
    """The whole of a run."""
    if not origin.told:
        return []
    name = end.workflow or str(end.run)
    about: dict[str, str | int] = {
        "mainspring.run": end.run,
        "mainspring.workflow": name,
        "mainspring.state": end.state,
    }
    error = "" if end.state == "succeeded" else end.state
    own = span_id(origin.trace, "run", end.run)
    return [Span(origin.trace, own, origin.parent, f"run {name}", end.lineage.created, end.at, about, error)]


def _reason(outcome: str, failure: Failure | None) -> str:
    return outcome if failure is None else f"{outcome}: {failure.type}: {failure.message}"[:_LONGEST_REASON]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
