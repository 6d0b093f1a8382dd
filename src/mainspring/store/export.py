"""Everything of a kind, in order, from one snapshot: page by page, so that memory stays flat whatever there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

from msgspec import structs

from mainspring.clock import Instant
from mainspring.domain.attempt import Attempt
from mainspring.domain.event import Event
from mainspring.domain.job import Job
from mainspring.domain.timetable import ScheduleId, Tick
from mainspring.errors import StoreUnreachable
from mainspring.store import Store, rows, runs, schedules
from mainspring.store.ticks import Key, all_ticks
from mainspring.store.transaction import Transaction

_EVENTS = 2_000
_JOBS = 500
_MOST_BYTES = 4 * 1_048_576
"""A page of jobs is made smaller when those of the page before were this large."""


def jobs(store: Store, take: Callable[[Job, list[Attempt]], None]) -> None:
    """Hand over every job with its attempts, by id. Raises StoreUnreachable when the connection is lost in between."""

    def work(tx: Transaction) -> None:
        for found in _pages(tx):
            first, last = found[0].id, found[-1].id
            tried = [rows.attempt(row) for row in tx.rows("export/attempts", first=first, last=last)]
            takers = runs.takers(tx, [job.id for job in found if job.run is not None])
            by_job = {job: list(several) for job, several in groupby(tried, key=lambda one: one.job)}
            for job in found:
                shown = structs.replace(job, params_open=True) if job.id in takers else job
                take(shown, by_job.get(job.id, []))

    _once(store, work)


def events(store: Store, take: Callable[[Event], None]) -> None:
    """Hand over every event, by seq. Raises StoreUnreachable when the connection is lost in between."""

    def work(tx: Transaction) -> None:
        after = 0
        while found := tx.rows("export/events", after=after, limit=_EVENTS):
            for row in found:
                take(rows.event(row))
            after = found[-1][0]

    _once(store, work)


def ticks(store: Store, take: Callable[[str, Tick], None]) -> None:
    """Hand over every record of a tick with the name of its schedule, by schedule and time. Raises as the others."""

    def work(tx: Transaction) -> None:
        after: Key = (ScheduleId(0), Instant(0), "")
        while found := all_ticks(tx, after, _EVENTS):
            names = {one.id: one.name for one in schedules.of_ids(tx, sorted({record.schedule for record in found}))}
            for record in found:
                take(names.get(record.schedule, ""), record.shown())
            after = found[-1].key

    _once(store, work)


def _pages(tx: Transaction) -> Iterator[list[Job]]:
    after, limit = 0, _JOBS
    while found := tx.rows("export/jobs", after=after, limit=limit):
        yield [rows.job(row) for row in found]
        after = found[-1][0]
        size = sum(len(value) for row in found for value in row if isinstance(value, str))
        limit = max(1, min(_JOBS, len(found) * _MOST_BYTES // (size + 1)))


def _once(store: Store, work: Callable[[Transaction], None]) -> None:
    """A look that is not tried again, as what was handed over can't be taken back."""
    begun: list[bool] = []

    def once(tx: Transaction) -> None:
        if begun:
            raise StoreUnreachable(
                "The connection was lost amid the export, which is incomplete.", remedy="Export it again."
            )
        begun.append(True)
        tx.rows("session/at_leisure")
        work(tx)

    store.read(once)
