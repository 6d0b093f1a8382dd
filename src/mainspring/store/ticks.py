"""Ticks in the store: a record of each, whose key is what makes it fire once."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

from mainspring.clock import Instant
from mainspring.domain.ids import LARGEST, JobId, RunId
from mainspring.domain.timetable import Outcome, ScheduleId, Tick
from mainspring.store import rows
from mainspring.store.transaction import Told, Transaction

Key = tuple[ScheduleId, Instant, str]
"""Schedule, instant before jitter, origin."""


class Recorded(NamedTuple):
    """Where a record of regular ticks reaches from and to, and what became of them."""

    first: Instant
    last: Instant
    outcome: Outcome


class Record(NamedTuple):
    """A tick as it is kept; or ``ticks`` of one kind in a row, from ``nominal`` to ``last``."""

    schedule: ScheduleId
    nominal: Instant
    origin: str
    ticks: int
    last: Instant
    outcome: Outcome
    why: str | None
    job: JobId | None
    run: RunId | None
    decided: Instant
    decided_by: str

    @property
    def key(self) -> Key:
        """What it is unique by."""
        return self[:3]

    def shown(self) -> Tick:
        """As questions answer it; how its job or run has ended is not told."""
        return Tick(*self[1:])


_KEY = itemgetter(0, 1, 2)
"""One order for all, so that none waits for another in a ring."""


def insert(tx: Transaction, batch: Sequence[Record]) -> Told:
    """Record ticks; how many of them nobody had recorded before."""
    return tx.changing("tick/insert", sorted(batch, key=_KEY))


def insert_new(tx: Transaction, batch: Sequence[Record]) -> set[Key]:
    """The same; the keys of those that nobody had recorded before. It costs twice as much."""
    return {(row[0], row[1], row[2]) for row in tx.many("tick/insert_new", sorted(batch, key=_KEY))}


def settle(tx: Transaction, batch: Sequence[Record]) -> Told:
    """Record what became of ticks that waited; how many of them still did."""
    values = [
        (one.outcome, one.why, one.job, one.run, one.decided, one.decided_by, one.schedule, one.nominal, one.origin)
        for one in sorted(batch, key=_KEY)
    ]
    return tx.changing("tick/settle", values)


def waiting(tx: Transaction, schedules: Sequence[ScheduleId]) -> list[Record]:
    """Ticks of these schedules that wait for a job to end, the first to come first."""
    return [_record(row) for row in tx.rows("tick/waiting", schedules=rows.text(schedules))]


def recorded(tx: Transaction, schedule: ScheduleId, after: Instant) -> list[Recorded]:
    """Records of regular ticks from the one that may reach behind an instant on, in order."""
    found = tx.rows("tick/recorded", schedule=schedule, after=after)
    return [Recorded(first, last, Outcome(outcome)) for first, last, outcome in found]


def take_back(tx: Transaction, schedule: ScheduleId) -> None:
    """Forget what was missed of ticks that have not come yet."""
    tx.rows("tick/take_back", schedule=schedule)


def shorten(tx: Transaction, schedule: ScheduleId, nominal: Instant, *, count: int, last: Instant) -> None:
    """A record tells of so many ticks, up to ``last``."""
    tx.rows("tick/shorten", schedule=schedule, nominal=nominal, ticks=count, last=last)


def of_schedule(tx: Transaction, schedule: ScheduleId, *, before: tuple[Instant, str] | None, limit: int) -> list[Tick]:
    """Ticks of a schedule before a place, newest first."""
    nominal, origin = before or (Instant(LARGEST), "")
    found = tx.rows("tick/of_schedule", schedule=schedule, nominal=nominal, origin=origin, limit=limit)
    return [_tick(row) for row in found]


def taken(tx: Transaction, schedule: ScheduleId, first: Instant, last: Instant) -> set[Instant]:
    """The ticks of a schedule in a range that have fired, whatever they came from, or wait to fire."""
    return {Instant(row[0]) for row in tx.rows("tick/taken", schedule=schedule, first=first, last=last)}


def all_ticks(tx: Transaction, after: Key, limit: int) -> list[Record]:
    """Every tick behind a key, in order."""
    schedule, nominal, origin = after
    return [_record(row) for row in tx.rows("tick/all", schedule=schedule, nominal=nominal, origin=origin, limit=limit)]


def forget(tx: Transaction, before: Instant, limit: int) -> int:
    """Take out ticks that were decided before an instant; how many."""
    return len(tx.rows("tick/forget", before=before, limit=limit))


def _record(row: rows.Row) -> Record:
    schedule, nominal, origin, count, last, outcome, *rest = row
    return Record(schedule, nominal, origin, count, last, Outcome(outcome), *rest)


def _tick(row: rows.Row) -> Tick:
    _, nominal, origin, count, last, outcome, *rest = row
    return Tick(nominal, origin, count, last, Outcome(outcome), *rest)
