"""The state table seen as tables of the store: which statement leaves a place and which enters the next.

A transition is a move: delete the row in the place left, and only for what came back insert into the place entered
and write the event. The deleted row is the guard; no row is the answer ``fenced``. ``tests/contract`` compares the
headers of the statements with domain/states.py in both directions.
"""

from __future__ import annotations

from mainspring.domain.states import PLACE, TABLE, Cause, Place

LEAVE: dict[tuple[Place, Cause], str] = {
    (Place.DUE, Cause.PROMOTE): "job/leave_due_come",
    (Place.DUE, Cause.CANCEL): "job/leave_due",
    (Place.DUE, Cause.EXPIRE): "job/leave_due",
    (Place.READY, Cause.CLAIM): "job/leave_ready_claimed",
    (Place.READY, Cause.CANCEL): "job/leave_ready",
    (Place.READY, Cause.EXPIRE): "job/leave_ready",
    (Place.LEASED, Cause.SUCCEED): "job/leave_lease",
    (Place.LEASED, Cause.RETRY): "job/leave_lease",
    (Place.LEASED, Cause.EXHAUST): "job/leave_lease",
    (Place.LEASED, Cause.CANCEL): "job/leave_lease",
    (Place.LEASED, Cause.REQUEUE): "job/leave_lease",
    (Place.LEASED, Cause.RELEASE): "job/leave_lease",
    (Place.LEASED, Cause.LOSE): "job/leave_lease_lost",
}

ENTER: dict[Place, str] = {
    Place.READY: "job/enter_ready",
    Place.DUE: "job/enter_due",
    Place.LEASED: "job/enter_lease",
    Place.ENDED: "job/enter_ended",
}

AT_ONCE: dict[str, tuple[Place, Place, Cause]] = {
    "job/claim": (Place.READY, Place.LEASED, Cause.CLAIM),
    "job/succeed": (Place.LEASED, Place.ENDED, Cause.SUCCEED),
    "job/submit": (Place.NOWHERE, Place.READY, Cause.SUBMIT),
    "job/enter_lease_set": (Place.NOWHERE, Place.LEASED, Cause.CLAIM),
    "job/enter_lease_alike": (Place.NOWHERE, Place.LEASED, Cause.CLAIM),
    "job/enter_ready_alike": (Place.NOWHERE, Place.READY, Cause.SUBMIT),
    "job/leave_ready_set": (Place.READY, Place.NOWHERE, Cause.CLAIM),
    "job/enter_ended_set": (Place.NOWHERE, Place.ENDED, Cause.SUCCEED),
    "job/leave_lease_set": (Place.LEASED, Place.NOWHERE, Cause.SUCCEED),
}
"""Moves of many jobs (at_once.py, alike.py), by one statement or by one for each place: from where, to where, why."""

SWEPT = "job/leave_lease_lost"
"""The sweeper leaves a lease by this one whatever the verdict is."""


def expected_headers() -> dict[str, tuple[str, str, set[str]]]:
    """What each moving statement's header must say: (leaves, enters, causes), from the state table."""
    wanted: dict[str, tuple[str, str, set[str]]] = {}
    for row in TABLE:
        left, entered = PLACE[row.source], PLACE[row.target]
        if left is not Place.NOWHERE:
            leaving = {LEAVE[left, row.cause]}
            if left is Place.LEASED and row.cause in {Cause.LOSE, Cause.EXHAUST, Cause.CANCEL}:
                leaving.add(SWEPT)
            for name in leaving:
                wanted.setdefault(name, (left.value, "", set()))[2].add(row.cause.value)
        wanted.setdefault(ENTER[entered], ("", entered.value, set()))[2].add(row.cause.value)
    for name, (left, entered, cause) in AT_ONCE.items():
        leaves, enters = ("" if place is Place.NOWHERE else place.value for place in (left, entered))
        wanted[name] = leaves, enters, {cause.value}
    return wanted
