"""Lanes and policies: small interned rows that jobs point to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mainspring.domain.ids import LaneId
from mainspring.domain.task import Lodging
from mainspring.store import rows
from mainspring.store.rows import Policy
from mainspring.store.rows import policy as policy_row
from mainspring.store.transaction import Transaction, Wanted


class Kind(NamedTuple):
    """What jobs of one lane have in common; ``requires`` is JSON with its keys in order, ``slots`` what each costs."""

    queue: str
    app: str
    lodging: Lodging
    requires: str = "{}"
    slots: int = 1

    def values(self) -> dict[str, str | int]:
        """As statements take them."""
        return self._asdict() | {"lodging": Lodging(self.lodging).value}


class Lane(NamedTuple):
    """The unit of claiming. ``limit`` and ``paused`` are of its queue; ``workers``: how many may take from it now."""

    id: LaneId
    queue: str
    app: str
    lodging: Lodging
    requires: dict[str, str]
    slots: int
    limit: int | None = None
    paused: bool = False
    workers: int = 1


class Map(NamedTuple):
    """All lanes as they are under certain ``rules``; a claim by other rules than the present ones takes nothing."""

    lanes: Sequence[Lane]
    rules: int

    @property
    def version(self) -> str:
        """What a poll says as long as there is no other map."""
        return f"{len(self.lanes)}/{self.rules}"


def read_map(tx: Transaction) -> Map:
    """Every lane."""
    found = tx.rows("lane/all")
    lanes = [
        Lane(LaneId(id_), queue, app, Lodging(lodging), rows.pairs(requires), slots, most, bool(paused))
        for id_, queue, app, lodging, requires, slots, most, paused, _ in found
    ]
    return Map(lanes, found[0][-1] if found else 0)


def asking_rules() -> Wanted:
    """What is to be asked for the rules of queues as they are now."""
    return "setting/version", {}


def rules_of(answer: Sequence[rows.Row]) -> int:
    """What was answered."""
    return answer[0][0] if answer else 0


def intern(tx: Transaction, kind: Kind) -> LaneId:
    """The number of a lane, made when it is new."""
    values = kind.values()
    found = tx.row("lane/find", **values)
    if found is None:
        found = tx.rows("lane/insert", **values)[0]
    return LaneId(found[0])


def lodging_of(tx: Transaction, lane: LaneId) -> Lodging:
    """The kind of room that a lane stands for."""
    return Lodging(tx.rows("lane/one", lane=lane)[0][2])


def sibling(tx: Transaction, lane: LaneId, lodging: Lodging) -> LaneId:
    """The lane that differs only in its kind of room."""
    present = Kind(*tx.rows("lane/one", lane=lane)[0])
    return lane if present.lodging == lodging.value else intern(tx, present._replace(lodging=lodging))


def intern_policy(tx: Transaction, document: str) -> int:
    """The number of a policy document, made when it is new."""
    found = tx.row("policy/find", document=document)
    if found is None:
        found = tx.rows("policy/insert", document=document)[0]
    return int(found[0])


def policy(tx: Transaction, number: int) -> Policy:
    """A policy by its number."""
    return policy_row(tx.rows("policy/one", policy=number)[0][0])
