"""Submit inside the caller's own transaction: the jobs are there when he commits, and never were when he rolls back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from mainspring.control import submit
from mainspring.control.submit import MOST_PER_SUBMIT
from mainspring.domain.borrowed import Borrowed
from mainspring.domain.ids import JobId, LaneId
from mainspring.domain.job import ATOMIC, JobRequest, Receipt
from mainspring.errors import TooManyJobs
from mainspring.store import Store, Transaction, catalog
from mainspring.store.catalog import Ground
from mainspring.transitions.born import born
from mainspring.transitions.prepared import Prepared, birth

_Grounds = dict[Ground, tuple[LaneId, int]]


def enlist(
    store: Store, requests: Sequence[JobRequest], borrowed: Borrowed, *, actor: str, parent: JobId | None = None
) -> list[Receipt]:
    """Store the jobs in the transaction of this connection and answer which they are.

    All that others would have to wait for (tasks, lanes, policies) is settled on our own connection before. Raises what
    ``submit`` does; InvalidOption for a connection that can't be used; and what the caller's driver raises, as it is.
    """
    if len(requests) > MOST_PER_SUBMIT:
        raise TooManyJobs(len(requests), MOST_PER_SUBMIT)
    while True:
        prepared = submit.prepared(store, requests)
        grounds = store.read(partial(_found, prepared=prepared)) or store.write(partial(_made, prepared=prepared))
        if grounds is not None:
            break
        store.declarations.clear()  # a task was declared anew since we looked: check against that

    def work(tx: Transaction) -> list[Receipt]:
        births = [birth(tx, one, parent, *grounds[one.ground]) for one in prepared]
        receipts: list[Receipt] = []
        for start in range(0, len(births), ATOMIC):
            receipts += born(tx, births[start : start + ATOMIC], actor)
        return receipts

    return store.within(borrowed, work)


def _found(tx: Transaction, prepared: Sequence[Prepared]) -> _Grounds | None:
    """What the jobs stand on, where it is all there."""
    grounds: _Grounds = {}
    for one in prepared:
        if one.ground not in grounds:
            known = catalog.ground_known(tx, one.ground)
            if not one.stands_on(known) or known.lane is None or known.policy is None:
                return None
            grounds[one.ground] = known.lane, known.policy
    return grounds


def _made(tx: Transaction, prepared: Sequence[Prepared]) -> _Grounds | None:
    """The same, made where it is new; None when a task is declared otherwise than what they were checked against."""
    grounds: _Grounds = {}
    for one in prepared:
        if one.ground not in grounds:
            known = catalog.ground_known(tx, one.ground)
            if not one.stands_on(known):
                return None
            _, lane, policy = catalog.made(tx, one.ground, known)
            grounds[one.ground] = lane, policy
    return grounds
