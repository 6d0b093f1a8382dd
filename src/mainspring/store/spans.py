"""What is told of jobs and runs to who follows traces: read from the history, behind a cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mainspring.clock import Instant
from mainspring.domain.ids import JobId
from mainspring.domain.span import Lineage, Move, RunEnd
from mainspring.store import events, rows
from mainspring.store.transaction import Transaction


def stretch(tx: Transaction, after: int, limit: int) -> tuple[int, list[Move], list[RunEnd], bool]:
    """What happened behind a cursor, up to where that is, and whether there may be more. Asked in a ``latest`` look."""
    ((until, number),) = tx.rows("event/reach", after=after, bound=events.last(tx), limit=limit)
    if not number:
        return until, [], [], False
    moves = [_move(row) for row in tx.rows("span/moves", after=after, until=until)]
    ends = [_run_end(*row) for row in tx.rows("span/run_ends", after=after, until=until)]
    return until, moves, ends, number == limit


def newest(tx: Transaction) -> int:
    """The newest cursor. Asked in a ``latest`` look."""
    return events.last(tx)


def of_jobs(tx: Transaction, jobs: Sequence[JobId]) -> dict[JobId, Lineage]:
    """Where jobs come from; those that are gone are left out."""
    found = tx.rows("span/jobs", jobs=rows.text(jobs)) if jobs else []
    return {row[0]: _lineage(row[1:]) for row in found}


def of_job(tx: Transaction, job: int) -> Lineage | None:
    """Where a job comes from; None for one that is gone."""
    return of_jobs(tx, [JobId(job)]).get(JobId(job))


def of_run(tx: Transaction, run: int) -> Lineage | None:
    """Where a run comes from; None for one that is gone."""
    row = tx.row("span/run", run=run)
    return None if row is None else _lineage(row)


def _move(row: rows.Row) -> Move:
    seq, at, target, attempt, job, task, queue, outcome, started, ended, worker, failure, *lineage = row
    tried = outcome, started, ended, worker, rows.failure(failure)
    return Move(seq, at, target, attempt, job, task, queue, *tried, _lineage(lineage))


def _run_end(seq: int, at: Instant, state: str, run: int, workflow: str, *lineage: Any) -> RunEnd:
    return RunEnd(seq, at, state, run, workflow, _lineage(lineage))


def _lineage(row: Sequence[Any]) -> Lineage:
    job, run, created, tags = row
    return Lineage(job, run, created, rows.pairs(tags))
