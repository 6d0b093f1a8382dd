"""Lanes and policies: small interned rows that jobs point to."""

from __future__ import annotations

from typing import NamedTuple

from mainspring.domain.ids import LaneId
from mainspring.domain.task import Lodging
from mainspring.store.rows import Policy
from mainspring.store.rows import policy as policy_row
from mainspring.store.transaction import Transaction


class Lane(NamedTuple):
    """The unit of claiming: a queue, an app, and the kind of room that its jobs need."""

    id: LaneId
    queue: str
    app: str
    lodging: Lodging


def all_lanes(tx: Transaction) -> list[Lane]:
    """Every lane."""
    return [Lane(LaneId(row[0]), row[1], row[2], Lodging(row[3])) for row in tx.rows("lane/all")]


def intern(tx: Transaction, queue: str, app: str, lodging: Lodging) -> LaneId:
    """The number of a lane, made when it is new."""
    found = tx.row("lane/find", queue=queue, app=app, lodging=lodging.value)
    if found is None:
        found = tx.rows("lane/insert", queue=queue, app=app, lodging=lodging.value)[0]
    return LaneId(found[0])


def lodging_of(tx: Transaction, lane: LaneId) -> Lodging:
    """The kind of room that a lane stands for."""
    return Lodging(tx.rows("lane/one", lane=lane)[0][2])


def sibling(tx: Transaction, lane: LaneId, lodging: Lodging) -> LaneId:
    """The lane of the same queue and app with another kind of room."""
    queue, app, present = tx.rows("lane/one", lane=lane)[0]
    return lane if present == lodging else intern(tx, queue, app, lodging)


def intern_policy(tx: Transaction, document: str) -> int:
    """The number of a policy document, made when it is new."""
    found = tx.row("policy/find", document=document)
    if found is None:
        found = tx.rows("policy/insert", document=document)[0]
    return int(found[0])


def policy(tx: Transaction, number: int) -> Policy:
    """A policy by its number."""
    return policy_row(tx.rows("policy/one", policy=number)[0][0])
