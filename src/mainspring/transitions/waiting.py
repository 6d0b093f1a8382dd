"""Moves of jobs that wait: promotion when due, cancel, expiry. Used by dispatch, by the sweep and by control."""

from __future__ import annotations

from mainspring.domain.attempt import Failure
from mainspring.domain.ids import JobId
from mainspring.domain.states import Cause
from mainspring.store import jobs, rows
from mainspring.store.jobs import Move
from mainspring.store.transaction import Transaction
from mainspring.transitions.moved import enter

BATCH = 1000
"""Rows per pass, so that no transaction is long."""


def promote(tx: Transaction, actor: str) -> int:
    """Move due jobs to ready, at most one batch; how many."""
    come = jobs.leave_due_come(tx, BATCH)
    jobs.enter(tx, [Move(left, Cause.PROMOTE, actor, due=at) for left, at in come])
    return len(come)


def cancel_waiting(tx: Transaction, job: JobId, actor: str, *, replaced_by: JobId | None = None) -> bool:
    """Cancel a job that waits; False when it does not wait. ``replaced_by``: the job that takes its place."""
    left = jobs.leave_waiting(tx, job, Cause.CANCEL)
    if left is None:
        return False
    detail = None if replaced_by is None else rows.text({"replaced_by": replaced_by})
    enter(tx, [Move(left, Cause.CANCEL, actor, detail=detail)], actor)
    return True


def expire(tx: Transaction, actor: str) -> int:
    """End waiting jobs that are past their stated expiry, at most one batch; how many."""
    late = jobs.expired(tx, BATCH)
    ended = 0
    for job in late:
        left = jobs.leave_waiting(tx, job, Cause.EXPIRE)
        if left is not None:
            failure = Failure("Expired", "its stated expiry came before it could start")
            enter(tx, [Move(left, Cause.EXPIRE, actor, failure=rows.text(failure))], actor)
            ended += 1
    if late:
        jobs.forget_expiry(tx, late)
    return ended
