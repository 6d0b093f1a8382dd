"""Event: one recorded transition. The order is ``seq``; recorded times of a job never go back."""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.clock import Instant
from mainspring.domain.ids import EventSeq, JobId
from mainspring.domain.states import Cause, State


class Event(msgspec.Struct, frozen=True):
    """What happened to a job: the move, when, by whom (``worker:7``, ``client``, ``sweeper``), and its attempt.

    ``detail`` says more in JSON where there is more to say: due instant, reason, error.
    """

    seq: EventSeq
    job: JobId
    at: Instant
    cause: Cause
    source: State
    target: State
    attempt: int
    actor: str
    detail: dict[str, Any] | None = None


class EventPage(msgspec.Struct, frozen=True):
    """One page of events and the cursor of the next (None at the end).

    Where few of very many are of the wanted kinds, a page may hold fewer than asked for, or none, before the end.
    """

    items: list[Event]
    next: int | None


class Happening(msgspec.Struct, frozen=True):
    """Something that happened, to whatever it was: a job, a run, or a node without a job; and what that belongs to.

    ``job``: None where it was none's; ``run``, ``node``, ``task``, ``queue``: where there is such a thing. ``cause``,
    ``source`` and ``target`` are words of what it happened to.
    """

    seq: int
    at: Instant
    job: int | None
    run: int | None
    node: str | None
    task: str | None
    queue: str | None
    cause: str
    source: str
    target: str
    attempt: int
    actor: str
    detail: dict[str, Any] | None = None

    @property
    def subject(self) -> str:
        """What it happened to: ``job``, ``run`` or ``node``."""
        if self.job is not None:
            return "job"
        return "run" if self.node is None else "node"
