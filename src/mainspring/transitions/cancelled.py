"""Cancel: a job with all jobs that descend from it. Used by control, and by the end of a cancelled attempt."""

from __future__ import annotations

from mainspring.domain.ids import JobId
from mainspring.store import jobs
from mainspring.store.transaction import Transaction
from mainspring.transitions.waiting import cancel_waiting


def cancel_tree(tx: Transaction, top: JobId, actor: str) -> None:
    """Cancel a job and its descendants: those that wait end here, those that run are marked for their workers."""
    for job in (top, *jobs.unfinished_descendants(tx, top)):
        if not cancel_waiting(tx, job, actor):
            jobs.mark_cancel(tx, job, actor)
