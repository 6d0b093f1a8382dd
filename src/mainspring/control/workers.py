"""What people ask of workers: look at one, drain it from outside."""

from __future__ import annotations

from mainspring.control.read import storable
from mainspring.domain.worker import Worker, WorkerState
from mainspring.errors import IllegalState, UnknownWorker
from mainspring.store import Store, Transaction, trail, workers
from mainspring.store.trail import Deed


def one(store: Store, number: int) -> Worker:
    """One worker. Raises UnknownWorker."""
    return store.read(lambda tx: _one(tx, number))


def drain(store: Store, number: int, *, actor: str) -> Worker:
    """Let a worker end: it claims nothing more, and its running jobs get its drain time to finish.

    It hears of it within its poll, and is shown as draining from now on. Raises UnknownWorker; IllegalState when it has
    stopped.
    """

    def work(tx: Transaction) -> Worker:
        worker = _one(tx, number)
        if worker.state is WorkerState.STOPPED:
            raise IllegalState(f"worker {number} has stopped already.", state=worker.state.value)
        workers.ask_drain(tx, number, actor)
        trail.note(tx, actor, Deed("worker.drain", f"worker {number}", before={"state": worker.state}))
        return _one(tx, number)

    worker = store.write(work)
    store.work_bell.ring()
    store.news_bell.ring()
    return worker


def _one(tx: Transaction, number: int) -> Worker:
    found = workers.one(tx, storable(number))
    if found is None:
        raise UnknownWorker(number)
    return found
