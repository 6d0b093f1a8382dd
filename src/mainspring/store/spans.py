"""What is told of jobs and runs to who follows traces: read from the history, behind a cursor."""

from __future__ import annotations

from collections.abc import Sequence

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
    ends = [RunEnd(*row[:5], _lineage(row[5:])) for row in tx.rows("span/run_ends", after=after, until=until)]
    return until, moves, ends, number == limit


def newest(tx: Transaction) -> int:
    """The newest cursor. Asked in a ``latest`` look."""
    return events.last(tx)


def of_jobs(tx: Transaction, jobs: Sequence[JobId]) -> dict[JobId, Lineage]:
    """Where jobs come from; those that are gone are left out."""
    found = tx.rows("span/jobs", jobs=rows.text(jobs)) if jobs else []
    return {row[0]: _lineage(row[1:]) for row in found}


def of_run(tx: Transaction, run: int) -> Lineage | None:
    """Where a run comes from; None for one that is gone."""
    row = tx.row("span/run", run=run)
    return None if row is None else _lineage(row)


def _move(row: rows.Row) -> Move:
    *before, failure = row[:12]
    return Move(*before, rows.failure(failure), _lineage(row[12:]))


def _lineage(row: rows.Row) -> Lineage:
    job, run, created, tags = row
    return Lineage(job, run, created, rows.pairs(tags))
