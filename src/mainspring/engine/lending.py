"""Lending: a running job that waits for another one lends it its slot, where no other is free.

Without it a worker whose jobs all wait for jobs that they have submitted would wait for ever. What is lent comes back
when that job has ended, so that as many jobs as there are slots do something, however deep they wait for each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mainspring.domain.ids import JobId
from mainspring.domain.task import Lodging
from mainspring.engine.held import Custody, Room
from mainspring.store import Transaction, jobs
from mainspring.store.lanes import Lane

Waits = Mapping[JobId, Sequence[JobId]]
"""By running job: those whose end it waits for."""


class Lent(NamedTuple):
    """Jobs that start in the place of others: whose place each takes, its lane; how many wait for a runner only."""

    places: dict[JobId, JobId]
    lanes: dict[JobId, Lane]
    waits: Counter[Lodging]


NONE_LENT = Lent({}, {}, Counter())


class Lending:
    """Which waiting jobs start in whose place. ``due``: a look may find one."""

    def __init__(self, custody: Custody) -> None:
        self._custody = custody
        self._waits: Waits = {}
        self.due = False

    def heard(self, waits: Waits) -> None:
        """Who waits for whom now."""
        if waits != self._waits:
            self._waits = waits
            self.look_again()

    def look_again(self) -> None:
        """A job may have become ready meanwhile."""
        self.due = bool(self._waits)

    def choose(self, tx: Transaction, lanes: Sequence[Lane], room: Room, known: Sequence[str] | None) -> Lent:
        """What can be lent now."""
        if not self.due:
            return NONE_LENT
        self.due = False
        ours = {lane.id: lane for lane in lanes}
        places: dict[JobId, JobId] = {}
        chosen: dict[JobId, Lane] = {}
        waits: Counter[Lodging] = Counter()
        lent = {held.place_of for held in self._custody.held.values()}
        for lender, awaited in self._waits.items():
            owner = self._custody.held.get(lender)
            if owner is None or owner.asked is not None or lender in lent:
                continue
            for job in awaited:
                found = None if job in chosen or job in self._custody.held else jobs.ready_lane(tx, job, known)
                lane = None if found is None else ours.get(found)
                if lane is None or room.of(lane.lodging, lane.slots):
                    continue  # it is no job of ours, or it gets slots of its own
                more = max(0, lane.slots - owner.slots)
                if not room.may_lend(owner.lodging, lane.lodging, more):
                    continue
                if room.is_open(lane.lodging):
                    places[job], chosen[job] = lender, lane
                else:
                    waits[lane.lodging] += 1
                room.lend(owner.lodging, lane.lodging, more)
                break
        return Lent(places, chosen, waits)
