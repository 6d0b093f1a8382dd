"""Cancel: a job with all jobs and runs that descend from it. Used by control, and by the end of a cancelled attempt."""

from __future__ import annotations

from mainspring.domain.ids import JobId
from mainspring.domain.joins import Stop
from mainspring.domain.states import FINAL
from mainspring.store import jobs, runs
from mainspring.store.runs import Errand
from mainspring.store.transaction import Transaction
from mainspring.transitions.waiting import cancel_waiting


def cancel_tree(tx: Transaction, top: JobId, actor: str) -> bool:
    """Cancel a job and its descendants: those that wait end here, those that run are marked for their workers.

    False when the job itself has ended, or is none.
    """
    reached = _cancel(tx, top, actor)
    cancel_below(tx, top, actor)
    return reached


def cancel_below(tx: Transaction, top: JobId, actor: str) -> None:
    """Cancel what descends from a job; runs that it or they have started are told to stop by anybody's next turn."""
    for job in jobs.unfinished_descendants(tx, top):
        _cancel(tx, job, actor)
    started = runs.started_below(tx, top)
    runs.put_errands(tx, [Errand(run, "stop", 0, tx.now, 0, Stop.CANCEL.value) for run in started])


def _cancel(tx: Transaction, job: JobId, actor: str) -> bool:
    """Cancel a job wherever it is; False when it is nowhere any more.

    On PostgreSQL others move it on between two of our statements: what was not in line a moment ago may be back there.
    """
    while not cancel_waiting(tx, job, actor) and not jobs.mark_cancel(tx, job, actor):
        found = jobs.where(tx, job)
        if found is None or found[0] in FINAL:
            return False
    return True
