"""Explain: gathers, in one bounded look, the facts that domain/reason.py makes sentences of."""

from __future__ import annotations

from mainspring.control.read import missing, storable
from mainspring.domain.job import Job
from mainspring.domain.queue import Queue
from mainspring.domain.reason import MOST_COUNTED, Explanation, Facts, explained
from mainspring.domain.states import FINAL
from mainspring.store import Store, Transaction, explain, jobs, queues, workers


def explanation(store: Store, number: int) -> Explanation:
    """Why a job waits, runs or ended as it did. Raises UnknownJob."""
    return explained(store.read(lambda tx: _facts(tx, number)))


def _facts(tx: Transaction, number: int) -> Facts:
    job = jobs.job(tx, storable(number))
    if job is None:
        raise missing(tx, number)
    place = explain.place(tx, job.id)
    if job.state in FINAL:
        return Facts(
            tx.now,
            job,
            place.app,
            place.requires,
            place.slots,
            Queue(job.queue),
            (),
            {},
            last=explain.last_event(tx, job.id),
        )
    known = tuple(one for one in workers.all_workers(tx) if one.app == place.app)
    return Facts(
        now=tx.now,
        job=job,
        app=place.app,
        requires=place.requires,
        slots=place.slots,
        queue=_queue(tx, job),
        workers=known,
        taken=explain.taken(tx),
        ahead=explain.ahead(tx, job.id, place, MOST_COUNTED + 1),
        children=explain.children(tx, job.id, MOST_COUNTED + 1),
        queued_at=place.since,
        due_at=place.due_at,
        worker=None if place.worker is None else workers.one(tx, place.worker),
        leased_until=place.leased_until,
        cancel_by=place.cancel_by,
    )


def _queue(tx: Transaction, job: Job) -> Queue:
    """What operators say of its queue; its running jobs are counted only where there is a limit."""
    rule = queues.rule(tx, job.queue)
    running = 0 if rule.limit is None else queues.running(tx, job.queue)
    return Queue(job.queue, rule.limit, rule.paused_at, rule.paused_by, rule.note, running=running)
