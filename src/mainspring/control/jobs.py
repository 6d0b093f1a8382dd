"""What people ask of a job: cancel it, retry it."""

from __future__ import annotations

from collections.abc import Sequence

from mainspring.control.read import missing, storable
from mainspring.domain.ids import JobId
from mainspring.domain.job import Job
from mainspring.domain.states import FINAL, State
from mainspring.errors import IllegalState, ReplayLive
from mainspring.faults import FaultPoint
from mainspring.store import Store, Transaction, jobs, runs, trail
from mainspring.store.trail import Deed
from mainspring.transitions.born import born
from mainspring.transitions.cancelled import cancel_tree


def cancel(store: Store, number: int, *, actor: str) -> Job:
    """Cancel a job and all that descends from it, as far as it has not ended.

    A waiting job is cancelled at once, without any worker. A running one is asked: the answer shows it running with
    ``cancel_requested``, and it will end cancelled. Raises UnknownJob; IllegalState when it has ended.
    """

    def work(tx: Transaction) -> Job:
        before = _present(tx, number)
        reached = cancel_tree(tx, before.id, actor)
        after = _present(tx, number)
        if not reached:
            state = after.state.value
            raise IllegalState(
                f"job {number} is {state} and can't be cancelled.", state=state, remedy="An end is final."
            )
        trail.note(tx, actor, Deed("job.cancel", f"job {number}", _told(before), _told(after)))
        return after

    job = store.write(work, before=FaultPoint.CANCEL_BEFORE_COMMIT, after=FaultPoint.CANCEL_AFTER_COMMIT)
    store.work_bell.ring()
    store.news_bell.ring()
    return job


def cancel_all(store: Store, found: Sequence[JobId], *, actor: str) -> int:
    """Cancel these in one transaction, as ``cancel`` does; how many had ended before."""

    def work(tx: Transaction) -> int:
        ended = 0
        for job in found:
            state = jobs.where(tx, job)
            if state is None or state[0] in FINAL:
                ended += 1
            else:
                cancel_tree(tx, job, actor)
        return ended

    ended = store.write(work, before=FaultPoint.CANCEL_BEFORE_COMMIT, after=FaultPoint.CANCEL_AFTER_COMMIT)
    store.work_bell.ring()
    store.news_bell.ring()
    return ended


def retry(store: Store, number: int, *, actor: str, kept_to: Sequence[str] | None = None) -> Job:
    """Run an ended job again as a new job that points to the old one (``replay_of``).

    Raises UnknownJob; IllegalState while it has not ended; ReplayLive while its last replay has not; KeyHeld while
    another job has its unique key. ``kept_to``: the queues that whoever asks is kept to, as for a submit.
    """

    def work(tx: Transaction) -> Job:
        found = jobs.where(tx, storable(number))
        if found is None:
            raise missing(tx, number)
        state, _ = found
        if state not in FINAL:
            raise IllegalState(
                f"job {number} is {state}; only an ended job can be retried by hand.",
                state=state.value,
                remedy=f"Wait for its end, or cancel it first: mainspring cancel {number}",
            )
        _refuse_of_run(tx, number, state)
        _refuse_live_replay(tx, number)
        (receipt,) = born(tx, [jobs.again(tx, number)], actor, kept_to)
        new = _present(tx, receipt.job)
        told = {"job": new.id, "state": new.state}
        trail.note(tx, actor, Deed("job.retry", f"job {number}", {"state": state}, told))
        return new

    job = store.write(
        work, before=FaultPoint.SUBMIT_BEFORE_COMMIT, after=FaultPoint.SUBMIT_AFTER_COMMIT, rings=store.work_bell
    )
    store.news_bell.ring()
    return job


def _refuse_of_run(tx: Transaction, number: int, state: State) -> None:
    """Its run has ended, or goes on as if it had not succeeded: nothing would take its result."""
    link = runs.links(tx, [JobId(number)]).get(JobId(number))
    if link is not None:
        raise IllegalState(
            f"job {number} is of run {link.run}; resume the run instead.",
            state=state.value,
            remedy=f"mainspring resume {link.run}",
        )


def _refuse_live_replay(tx: Transaction, number: int) -> None:
    last = jobs.last_replay(tx, number)
    if last is not None and last[1] is None:
        raise ReplayLive(
            f"job {number} is being retried already: job {last[0]} has not ended.",
            remedy=f"Watch it: mainspring job {last[0]}",
            field="id",
        )


def _told(job: Job) -> dict[str, object]:
    """What the audit trail says of it."""
    return {"state": job.state, "cancel_requested": job.cancel_requested}


def _present(tx: Transaction, number: int) -> Job:
    job = jobs.job(tx, storable(number))
    if job is None:
        raise missing(tx, number)
    return job
