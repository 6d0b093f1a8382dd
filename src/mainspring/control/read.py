"""Questions: jobs, attempts, events, logs, tasks, workers. Nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from mainspring.domain.attempt import Attempt
from mainspring.domain.event import Event, EventPage, Happening
from mainspring.domain.ids import LARGEST, JobId, RunId
from mainspring.domain.job import Job, JobCount, JobFilter, JobPage, checked_tag
from mainspring.domain.kinds import checked_job_kinds
from mainspring.domain.listing import MOST_ATTEMPTS, MOST_LINES, checked_cursor, checked_limit, out_of_range
from mainspring.domain.logline import LogLine
from mainspring.domain.task import Task
from mainspring.domain.worker import Worker
from mainspring.errors import UnknownJob, UnknownTask
from mainspring.store import Store, Transaction, catalog, depths, events, job_lists, jobs, runs, workers
from mainspring.transitions import inputs


def job(store: Store, number: int) -> Job:
    """One job. Raises UnknownJob."""
    return store.read(lambda tx: _shown(tx, number))


def _shown(tx: Transaction, number: int) -> Job:
    """A job; one of a run with what its parameters take from there."""
    found = jobs.job(tx, storable(number))
    if found is None:
        raise missing(tx, number)
    return inputs.shown(tx, [found])[0]


def listed(store: Store, wanted: JobFilter) -> JobPage:
    """A page of jobs, newest first. Raises UnknownTask, InvalidCursor, InvalidInput."""
    checked_limit(wanted.limit)
    checked_tag(wanted.tag)
    before = LARGEST if wanted.cursor is None else checked_cursor(wanted.cursor)

    def look(tx: Transaction) -> JobPage:
        found, below = job_lists.walked(tx, wanted, _tasks(tx, wanted.task), before)
        items = inputs.shown(tx, found[: wanted.limit])
        if len(found) > wanted.limit:
            below = items[-1].id
        return JobPage(items, None if below is None else str(below))

    return store.read(look)


def counted(store: Store, wanted: JobFilter) -> int:
    """How many jobs match, however long that takes: in short looks. Raises UnknownTask, InvalidCursor, InvalidInput."""
    part = counted_part(store, wanted)
    number = part.count
    while part.next is not None:
        part = counted_part(store, msgspec.structs.replace(wanted, cursor=part.next))
        number += part.count
    return number


def counted_part(store: Store, wanted: JobFilter) -> JobCount:
    """How many match of those that one look passes. Raises UnknownTask, InvalidCursor, InvalidInput.

    All of them where that is kept; else what has a tag or was made at some time is counted from the rows.
    """
    checked_tag(wanted.tag)
    before = LARGEST if wanted.cursor is None else checked_cursor(wanted.cursor)

    def look(tx: Transaction) -> JobCount:
        tasks = _tasks(tx, wanted.task)
        number = _kept(tx, wanted, tasks)
        if number is not None:
            return JobCount(number, None)
        number, below = job_lists.counted(tx, wanted, tasks, before)
        return JobCount(number, None if below is None else str(below))

    return store.read(look)


def _kept(tx: Transaction, wanted: JobFilter, tasks: Sequence[str] | None) -> int | None:
    """How many there are by what is kept; None where something is asked that is not kept apart, or not up to now."""
    if any(one is not None for one in (wanted.tag, wanted.since, wanted.until, wanted.cursor)):
        return None
    kept = depths.now(tx)
    if kept is None:
        return None
    return sum(
        number
        for where, number in kept.items()
        if (wanted.state is None or where.state == wanted.state)
        and (wanted.queue is None or where.queue == wanted.queue)
        and (tasks is None or where.task in tasks)
    )


def attempts(store: Store, number: int) -> list[Attempt]:
    """The attempts of a job in order. Raises UnknownJob."""

    def look(tx: Transaction) -> list[Attempt]:
        _require(tx, number)
        return jobs.attempts(tx, number)

    return store.read(look)


def history(store: Store, *, after: int, job: int | None, kinds: Sequence[str], limit: int) -> list[Event]:
    """Events behind a cursor, oldest first, as many as were asked for where there are so many; in short looks.

    Raises UnknownJob, InvalidCursor, InvalidInput for an unknown kind.
    """
    page = history_page(store, after=after, job=job, kinds=kinds, limit=limit)
    found = page.items
    while page.next is not None and len(found) < limit:
        page = history_page(store, after=page.next, job=job, kinds=kinds, limit=limit - len(found))
        found += page.items
    return found


def history_page(store: Store, *, after: int, job: int | None, kinds: Sequence[str], limit: int) -> EventPage:
    """The same in one look, which ends after so many that are of other kinds."""
    checked_limit(limit, MOST_LINES)
    checked_cursor(str(after))
    checked_job_kinds(kinds)

    def look(tx: Transaction) -> EventPage:
        if job is None:
            return events.after(tx, after, kinds=kinds, limit=limit)
        _require(tx, job)
        return events.of_job(tx, job, after, kinds=kinds, limit=limit)

    return store.read(look, latest=True)


def happenings(store: Store, *, after: int, limit: int) -> list[Happening]:
    """All that happened behind a cursor, to jobs and to runs, oldest first. Raises InvalidCursor, InvalidInput."""
    checked_limit(limit, MOST_LINES)
    checked_cursor(str(after))
    return store.read(lambda tx: events.live(tx, after, limit=limit), latest=True)


def last_event(store: Store) -> int:
    """The newest cursor."""
    return store.read(events.last, latest=True)


def logs(store: Store, number: int, *, attempt: int | None, after: int, limit: int) -> list[LogLine]:
    """Log lines behind a cursor. Raises UnknownJob, InvalidCursor, InvalidInput."""
    checked_limit(limit, MOST_LINES)
    checked_cursor(str(after))
    if attempt is not None and not 1 <= attempt <= MOST_ATTEMPTS:
        raise out_of_range("attempt", str(attempt), 1, MOST_ATTEMPTS)
    store.read(lambda tx: _require(tx, number))
    return store.logs.lines(JobId(number), attempt=attempt, after=after, limit=limit)


def tasks(store: Store) -> list[Task]:
    """The catalog."""
    return store.read(catalog.tasks)


def all_workers(store: Store) -> list[Worker]:
    """All known workers, newest first."""
    return store.read(workers.all_workers)


def _require(tx: Transaction, number: int) -> None:
    if jobs.where(tx, storable(number)) is None:
        raise missing(tx, number)


def missing(tx: Transaction, number: int) -> UnknownJob:
    """What is said of a number that no job has."""
    return UnknownJob(number, run=runs.there(tx, RunId(storable(number))))


def storable(number: int) -> int:
    """The number as the store can be asked for it: ids beyond 64 bits are unknown, not a fault."""
    return number if 0 < number <= LARGEST else -1


def _tasks(tx: Transaction, name: str | None) -> list[str] | None:
    if name is None:
        return None
    if catalog.declaration(tx, name) is not None:
        return [name]
    matches = catalog.by_short(tx, name)
    if not matches:
        raise UnknownTask(name, catalog.names(tx))
    return matches
