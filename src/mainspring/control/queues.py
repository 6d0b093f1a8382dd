"""What people ask of queues: look at them, pause and resume them, set how many of their jobs may run."""

from __future__ import annotations

from msgspec import UNSET, to_builtins
from msgspec.structs import replace

from mainspring.domain.configured import Scope, named_key
from mainspring.domain.queue import Queue, QueueChange, changed
from mainspring.domain.setting import Layer
from mainspring.domain.task import checked_name
from mainspring.errors import UnknownQueue
from mainspring.store import Store, Transaction, catalog, queues, settings, trail, workers
from mainspring.store.trail import Deed


def listed(store: Store) -> list[Queue]:
    """Every queue that a job, a task, a worker or an operator has named, by name."""
    return store.read(_all)


def one(store: Store, name: str) -> Queue:
    """One queue. Raises UnknownQueue."""
    return store.read(lambda tx: _one(tx, name))


def change(store: Store, name: str, wanted: QueueChange, *, actor: str) -> Queue:
    """Change what is said of a queue; workers hold to it with their next claim.

    A limit or a note alone makes a queue known that nobody has named. A pause or a resume does not: it is often typed
    in haste, and a misspelt one would be taken for done. Raises UnknownQueue, InvalidOption, InvalidTask for a new name
    that can't be one.
    """

    def work(tx: Transaction) -> None:
        known = _names(tx)
        if name not in known:
            if wanted.paused is not UNSET or wanted == QueueChange():
                raise UnknownQueue(name, known)
            checked_name(name, "Queue")
        rule = queues.rule_to_change(tx, name)
        new = changed(rule, wanted, by=actor, now=tx.now)
        if wanted.limit is not UNSET:
            settings.state(tx, Layer.STORE, named_key(Scope.QUEUE, name, "limit"), wanted.limit, actor)
            new = replace(new, limit=queues.rule(tx, name).limit)  # without one of its own, that of the file holds
        if new != rule or name not in known:
            queues.put_rule(tx, name, new)
            trail.note(
                tx, actor, Deed("queue.change", f"queue {name}", before=to_builtins(rule), after=to_builtins(new))
            )

    store.write(work, rings=store.work_bell)
    return one(store, name)


def _all(tx: Transaction) -> list[Queue]:
    found = {queue.name: queue for queue in queues.all_queues(tx)}
    others = {name: Queue(name) for name in _named_elsewhere(tx) if name not in found}
    return sorted([*found.values(), *others.values()], key=lambda queue: queue.name)


def _one(tx: Transaction, name: str) -> Queue:
    known = _names(tx)
    if name not in known:
        raise UnknownQueue(name, known)
    return queues.one(tx, name)


def _names(tx: Transaction) -> set[str]:
    return _named_elsewhere(tx).union(queues.names(tx))


def _named_elsewhere(tx: Transaction) -> set[str]:
    """By tasks and by workers."""
    return {task.queue for task in catalog.tasks(tx)}.union(*(worker.queues for worker in workers.all_workers(tx)))
