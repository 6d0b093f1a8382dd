"""Reached: what the ends of nodes mean to the nodes below them, added up to one change for each.

However many nodes ended, that is one look at what is below them, and where nodes have needs that have not ended, one
statement that counts. What becomes of a node whose fate is certain is decided by who asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import NamedTuple

from mainspring.domain.ids import RunId
from mainspring.domain.joins import Needs, Weight
from mainspring.domain.steps import END_NAME
from mainspring.store import runs
from mainspring.store.runs import Below, Key, Spec
from mainspring.store.transaction import Transaction

_PLACE = {Weight.SUCCEEDED: 0, Weight.FAILED: 1, Weight.SKIPPED: 2}


class Told(NamedTuple):
    """A node whose end is to be told to those below it, from behind ``after`` on."""

    run: RunId
    node: int
    weight: Weight
    after: int = 0


class Reached(NamedTuple):
    """Whom the ends have reached. ``certain``: of whom something may be decided; ``specs``: of those what was read."""

    certain: dict[Key, Needs]
    specs: dict[Key, Spec]


class _Open(NamedTuple):
    """A node below ended ones, with how many of them succeeded, failed, were skipped."""

    below: Below
    counts: list[int]

    @property
    def is_partly(self) -> bool:
        """Whether other ends count to it as well, so that its row is locked to add these up."""
        return sum(self.counts) < self.below.needs

    @property
    def is_end(self) -> bool:
        """Whether it is the end of its run."""
        return self.below.name == END_NAME


def cut(told: Sequence[Told], found: Sequence[Below], most: int) -> tuple[Sequence[Below], list[Told]]:
    """The first of what was found, and what is to be told again for the rest."""
    if len(found) <= most:
        return found, []
    first, place = found[:most], found[most].place
    last = max((row.target for row in first if row.place == place), default=told[place].after)
    return first, [told[place]._replace(after=last), *told[place + 1 :]]


class Reaching:
    """Whom the ends of one wave reach. ``late``: what another transaction is to tell.

    Rows are locked in the order of their keys over all rounds, and those of the ends of runs when all rounds are over:
    so two that move on the same run never wait for each other.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._locked: set[Key] = set()
        self._ends: dict[Key, _Open] = {}
        self.late: list[Told] = []

    def in_order(self, told: Sequence[Told], found: Sequence[Below]) -> tuple[Sequence[Below], list[Told]]:
        """Those before the first whose row would be locked out of order; what is late, of these as well."""
        late: list[Told] = []
        last = max(self._locked, default=None)
        while last is not None:
            partly = {key for key, one in _opened(told, found).items() if one.is_partly and not one.is_end}
            behind = {key for key in partly - self._locked if key < last}
            place = next((at for at, row in enumerate(found) if (told[row.place].run, row.target) in behind), None)
            if place is None:
                break
            found, late = cut(told, found, place)  # and with less told others may wait for the rest
        self.late += late
        return found, late

    def reach(self, told: Sequence[Told], found: Sequence[Below]) -> Reached:
        """What these ends mean to those below. The ends of runs are kept for later."""
        opened = _opened(told, found)
        for key in [key for key, one in opened.items() if one.is_end]:
            below, counts = opened.pop(key)
            so_far = self._ends.setdefault(key, _Open(below, [0, 0, 0]))
            so_far.counts[:] = map(add, so_far.counts, counts)
        partly = {key: one for key, one in opened.items() if one.is_partly}
        self._locked |= partly.keys()
        return self._certain(opened, partly)

    def reach_ends(self) -> Reached:
        """What all of it means to the ends of runs."""
        ends, self._ends = self._ends, {}
        return self._certain(ends, {key: one for key, one in ends.items() if one.is_partly})

    def _certain(self, opened: dict[Key, _Open], partly: dict[Key, _Open]) -> Reached:
        counted = _counted(self._tx, partly) if partly else {}
        certain: dict[Key, Needs] = {}
        specs: dict[Key, Spec] = {}
        for key, (below, counts) in opened.items():
            needs = counted[key] if key in counted else Needs(0, *counts)
            if needs.open and not below.early:
                continue
            certain[key] = needs
            if below.document is not None:
                specs[key] = Spec(*key, below.document, below.inputs or "{}", below.name, below.may_fail)
        # Those that may have left before: early ones of which it is not the first need.
        doubtful = [key for key, one in partly.items() if one.below.early and key in certain]
        for key in runs.gone(self._tx, doubtful) if doubtful else ():
            certain.pop(key, None)
        return Reached(certain, specs)


def _opened(told: Sequence[Told], found: Sequence[Below]) -> dict[Key, _Open]:
    """What these ends mean to those below, added up."""
    each: dict[Key, _Open] = {}
    for row in found:
        one = told[row.place]
        key = (one.run, row.target)
        open_ = each.get(key)
        if open_ is None:
            open_ = each[key] = _Open(row, [0, 0, 0])
        if row.needs:  # what needs nothing is let go by the start
            open_.counts[_PLACE[one.weight]] += 1
    return each


def _counted(tx: Transaction, partly: dict[Key, _Open]) -> dict[Key, Needs]:
    """Nodes some of whose needs have ended: how they stand now. Who has all of them does not wait any more."""
    changes = [
        (run, number, below.needs, counts[0], counts[1], counts[2])
        for (run, number), (below, counts) in sorted(partly.items())
    ]
    counted = runs.count_needs(tx, changes)
    over = sorted(key for key, needs in counted.items() if not needs.open)
    if over:
        runs.leave_waiting(tx, over)
    return counted
