"""Questions about the soundness of a store: what a checker needs, nobody else. Reads whole tables, changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from mainspring.clock import Instant
from mainspring.domain.ids import ClaimId, JobId, WorkerId
from mainspring.domain.joins import Stop, Tally, run_state
from mainspring.domain.states import Charge, Outcome, State
from mainspring.domain.timetable import ScheduleId
from mainspring.store import rows
from mainspring.store.depths import Spot
from mainspring.store.rows import Policy
from mainspring.store.transaction import Transaction


class Standing(NamedTuple):
    """Where a job is. ``places``: in how many; ``state``: as its place says, None when it is nowhere."""

    places: int
    state: State | None
    leased_attempt: int | None


class Written(NamedTuple):
    """A job row. What belongs to the end is None until then."""

    id: JobId
    params: str
    parent: JobId | None
    due: Instant
    expires: Instant | None
    policy: Policy
    state: State | None
    attempt: int | None
    started: Instant | None
    finished: Instant | None
    result: str | None


class Tried(NamedTuple):
    """An attempt row."""

    job: JobId
    number: int
    outcome: Outcome
    charge: Charge
    worker: WorkerId
    started: Instant
    ended: Instant


class Leased(NamedTuple):
    """A lease row."""

    job: JobId
    claim: ClaimId
    attempt: int
    worker: WorkerId
    until: Instant
    cancel_at: Instant | None


_policy = lru_cache(maxsize=1000)(rows.policy)


def standing(tx: Transaction, jobs: Iterable[JobId]) -> dict[JobId, Standing]:
    """Where these jobs are; unknown ones are left out."""
    found = {}
    for job, ended, waiting, places, ready, leased in tx.rows("audit/places", jobs=rows.text(list(jobs))):
        name = ended or waiting or (State.QUEUED if ready else State.RUNNING if leased is not None else None)
        found[job] = Standing(places, None if name is None else State(name), leased)
    return found


def events(tx: Transaction, after: int) -> list[tuple[Any, ...]]:
    """The rows of history behind a cursor, as they are stored."""
    return tx.rows("audit/events", after=after)


def misplaced(tx: Transaction) -> list[tuple[JobId, int]]:
    """Jobs that are in no place (0) or in several, which a sound store has none of."""
    return [(JobId(job), places) for job, places in tx.rows("audit/misplaced")]


def strays(tx: Transaction) -> list[tuple[str, JobId]]:
    """Rows of which there is no job: (table, number)."""
    return [(table, JobId(job)) for table, job in tx.rows("audit/strays")]


def run_strays(tx: Transaction) -> list[tuple[str, int]]:
    """Rows of which there is no run: (table, number)."""
    return [(table, run) for table, run in tx.rows("audit/run_strays")]


def miscounted(tx: Transaction) -> list[tuple[int, int]]:
    """Nodes whose counts of needs, or of items, are not what the rows say: (run, number)."""
    return [(run, node) for run, node in [*tx.rows("audit/need_counts"), *tx.rows("audit/item_counts")]]


def stuck_runs(tx: Transaction) -> list[int]:
    """Runs that have not ended, and that nothing would ever move on."""
    return [row[0] for row in tx.rows("audit/stuck_runs")]


def misstated_runs(tx: Transaction) -> list[tuple[int, str, str]]:
    """Ended runs whose state is not the one that follows from their nodes: (run, state, what would be right)."""
    wrong: list[tuple[int, str, str]] = []
    for run, state, stop, *counts in tx.rows("audit/run_ends"):
        right = run_state(Tally(0, *map(int, counts)), None if stop is None else Stop(stop))
        if right != state:
            wrong.append((run, state, right.value))
    return wrong


def misfits(tx: Transaction) -> list[tuple[str, ScheduleId, Instant]]:
    """What does not fit of schedules and their ticks: (what, schedule, tick or 0)."""
    return [(what, ScheduleId(number), Instant(nominal)) for what, number, nominal in tx.rows("audit/schedules")]


def misjudged(tx: Transaction, kept: Counter[Spot]) -> list[tuple[Spot, int, int]]:
    """Where another number of jobs is than was kept: (where, how many are there, how many were kept)."""
    there = Counter({Spot(*spot): number for *spot, number in tx.rows("audit/depths") if spot[3] is not None})
    wrong = {spot for spot in [*there, *kept] if there[spot] != kept[spot]}
    return [(spot, there[spot], kept[spot]) for spot in sorted(wrong)]


def written(tx: Transaction) -> list[Written]:
    """Every job row, by id."""
    return [
        Written(number, params, parent, due, expires, _policy(policy), None if state is None else State(state), *rest)
        for number, params, parent, due, expires, policy, state, *rest in tx.rows("audit/jobs")
    ]


def tried(tx: Transaction) -> list[Tried]:
    """Every attempt that has ended, by job and number."""
    return [
        Tried(job, number, Outcome(outcome), Charge(charge), worker, started, ended)
        for job, number, outcome, charge, worker, started, ended in tx.rows("audit/attempts")
    ]


def leased(tx: Transaction) -> list[Leased]:
    """Every lease, by job."""
    return [Leased(*row) for row in tx.rows("audit/leases")]


def tried_of(tx: Transaction, job: JobId) -> list[Tried]:
    """The ended attempts of one job."""
    return [
        Tried(job, number, Outcome(outcome), Charge(charge), worker, started, ended)
        for _, number, outcome, charge, worker, started, ended in tx.rows("audit/attempts_of", job=job)
    ]


def policy_of(tx: Transaction, job: JobId) -> Policy:
    """How a job is retried and timed."""
    return _policy(tx.rows("job/policy_of", job=job)[0][0])


def ended(tx: Transaction, job: JobId) -> tuple[Any, ...]:
    """All that was written at the end of a job, for comparison with later looks: it may never change."""
    return tx.rows("audit/ended", job=job)[0]
