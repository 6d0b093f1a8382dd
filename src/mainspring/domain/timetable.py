"""Schedules, ticks and backfills as questions answer them. Values only."""

from __future__ import annotations

from enum import StrEnum
from typing import NewType

import msgspec

from mainspring.clock import Instant
from mainspring.domain.ids import JobId, RunId
from mainspring.domain.plan import Plan

ScheduleId = NewType("ScheduleId", int)
BackfillId = NewType("BackfillId", int)

REGULAR, TRIGGER = "regular", "trigger"
"""Origins of ticks; that of a backfill is ``backfill-7``."""


class Origin(StrEnum):
    """Who declared a schedule."""

    CODE = "code"
    TOML = "toml"
    CLI = "cli"
    API = "api"


class Standing(StrEnum):
    """What a schedule does now."""

    ACTIVE = "active"
    PAUSED = "paused"
    ENDED = "ended"  # no tick will come any more
    WITHDRAWN = "withdrawn"  # its code no longer declares it
    REMOVED = "removed"


class Schedule(msgspec.Struct, frozen=True):
    """A schedule as questions answer it.

    ``plan``: what holds; ``declared``: what its origin says, where operators have ``overridden`` some of it (the names
    of those fields). ``next_tick``: before jitter; ``next_at``: when it is done. ``last``: the last tick that was
    decided; ``fired``: how often; ``failures``: of its jobs in a row; ``ahead``: where the clock was ahead and has gone
    back, up to when ticks are recorded already, of which none comes again.
    """

    id: ScheduleId
    name: str
    standing: Standing
    origin: Origin
    app: str | None
    plan: Plan
    declared: Plan
    overridden: tuple[str, ...]
    words: str
    next_tick: Instant | None
    next_at: Instant | None
    last: Instant | None
    last_fired: Instant | None
    last_succeeded: Instant | None
    fired: int
    failures: int
    paused_at: Instant | None
    paused_by: str | None
    note: str | None
    created_at: Instant
    changed_at: Instant
    fault: str | None = None
    ahead: Instant | None = None


class Outcome(StrEnum):
    """What became of a tick."""

    FIRED = "fired"
    WAITING = "waiting"  # for the job of an earlier one to end
    SKIPPED = "skipped"
    MISSED = "missed"


class Tick(msgspec.Struct, frozen=True):
    """A tick as it was decided; or several of one kind in a row, ``ticks`` of them, from ``nominal`` to ``last``.

    ``why``: of those that made nothing; ``state``: of the job or run, once it has ended and while it is kept.
    """

    nominal: Instant
    origin: str
    ticks: int
    last: Instant
    outcome: Outcome
    why: str | None
    job: JobId | None
    run: RunId | None
    decided_at: Instant
    decided_by: str
    state: str | None = None


class TickPage(msgspec.Struct, frozen=True):
    """One page of ticks, newest first, and the cursor of the next (None at the end)."""

    items: list[Tick]
    next: str | None


class Backfill(msgspec.Struct, frozen=True):
    """Ticks of a range of the past that were asked for.

    ``again``: also those that have fired; ``most``: so many at most; ``at_once``: so many jobs unfinished at a time;
    ``made``: jobs so far; ``place``: the last tick that was taken; ``ended_at``: None while it goes on.
    """

    id: BackfillId
    schedule: ScheduleId
    first: Instant
    last: Instant
    newest_first: bool
    again: bool
    most: int | None
    at_once: int
    made: int
    place: Instant | None
    created_at: Instant
    created_by: str
    ended_at: Instant | None


class Filling(msgspec.Struct, frozen=True):
    """What a backfill is to do: its ticks in their order, and itself where it was begun (not for a dry run)."""

    ticks: list[Instant]
    backfill: Backfill | None


class MadeBy(msgspec.Struct, frozen=True, omit_defaults=True):
    """The tick that a job was made by, as the job keeps it.

    ``at``: its instant before jitter; ``previous``: of the last one that fired before; ``succeeded``: of the last one
    whose job had succeeded; ``tz``: of the schedule.
    """

    schedule: str
    origin: str
    at: Instant
    previous: Instant | None = None
    succeeded: Instant | None = None
    tz: str = "UTC"
