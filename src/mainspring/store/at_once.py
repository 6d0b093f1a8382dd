"""Moves that one statement makes whole, with all that is written of them, where the engine can (``tx.at_once``).

On PostgreSQL each statement that waits for the one before costs two switches between processes, and each row that is
read only to be written elsewhere costs both of them time. SQLite moves row by row, and waits for nobody: there jobs.py
does it step by step. Both write the same rows; whatever needs a decision in between goes step by step everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from mainspring.clock import Duration
from mainspring.domain.attempt import Ending
from mainspring.domain.ids import ClaimId, JobId, LaneId, WorkerId
from mainspring.domain.job import Link
from mainspring.domain.states import State
from mainspring.store import rows
from mainspring.store.jobs import Head, Left, Load
from mainspring.store.transaction import Transaction

Told = Callable[[], set[tuple[JobId, ClaimId]]]
"""Asked later, those of which that was true."""


class Wish(NamedTuple):
    """What a worker wants: so many jobs of a lane from a mark on, under these rules, but none that it holds."""

    lane: LaneId
    mark: Head
    limit: int
    rules: int
    held: Collection[JobId]


class Taken(NamedTuple):
    """A job that was taken out of ready. ``claim`` None: its stated expiry has come, and nobody holds it."""

    left: Left
    head: Head
    claim: ClaimId | None
    load: Load


def claim(tx: Transaction, wish: Wish, worker: WorkerId, lasts: Duration, actor: str) -> list[Taken]:
    """Lease the first jobs of a lane, best first. None when there are none, and under other rules."""
    priority, due, job = wish.mark
    found = tx.rows(
        "job/claim",
        lane=wish.lane,
        from_priority=priority,
        from_due=due,
        from_job=job,
        limit=wish.limit,
        rules=wish.rules,
        held=rows.text(list(wish.held)),
        first=tx.chance.claim_id(),
        worker=worker,
        lasts=lasts,
        actor=actor,
    )
    return [_taken(*row) for row in found]


def _taken(  # noqa: PLR0913, PLR0917 - a row
    job: JobId,
    lane: LaneId,
    priority: int,
    due: int,
    attempt: int,
    since: int,
    claim: ClaimId | None,
    task: str,
    policy: int,
    params: str,
    expires: int | None,
    tick: str | None,
    run: int | None,
    node: int,
    item: int | None,
    wants: str | None,
) -> Taken:
    link = None if run is None else Link(run, node, item)  # type: ignore[arg-type]
    return Taken(
        Left(job, lane, priority, attempt, since, State.QUEUED),  # type: ignore[arg-type]
        Head(priority, due, job),  # type: ignore[arg-type]
        claim,
        Load(task, policy, params, expires, tick, link, wants),  # type: ignore[arg-type]
    )


def succeed(tx: Transaction, endings: Sequence[Ending], actor: str) -> Told:
    """End these attempts as succeeded; asked later, those of which that was true.

    The others are fenced, or somebody has asked to cancel them.
    """
    batch = [
        (
            one.job,
            one.claim,
            (one.result or b"null").decode(),
            one.sandbox,
            None if one.details is None else one.details.decode(),
        )
        for one in endings
    ]
    answer = tx.ask("job/succeed", batch, actor=actor)
    return lambda: set(answer())
