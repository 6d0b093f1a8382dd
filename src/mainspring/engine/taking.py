"""Taking: what a worker takes in a turn, inside its transaction: jobs that wait, and those that its own ends let go.

Where nothing waits as far as the worker knows, a job that an end lets go is born into a free slot: it is leased in the
same breath, and nobody has to look for it. What comes in meanwhile is told by a ring, as ever.
"""

from __future__ import annotations

from collections.abc import Mapping

from mainspring.domain.ids import JobId
from mainspring.engine.claiming import PLAIN, Claimer, Claims, nothing
from mainspring.engine.held import Custody, Limits, Room
from mainspring.engine.lending import Lending
from mainspring.engine.reach import Reach
from mainspring.store import Transaction
from mainspring.store.free_slots import FreeSlots
from mainspring.store.jobs import Load


class Taking:
    """One worker's."""

    def __init__(self, custody: Custody, reach: Reach, lending: Lending, claimer: Claimer) -> None:
        self._custody = custody
        self._reach = reach
        self._lending = lending
        self._claimer = claimer

    def free(self, limits: Limits) -> FreeSlots | None:
        """Slots for jobs that are born in this transaction, where nothing waits; None where one must look."""
        if self._lending.due:
            return None
        return self._claimer.free(self._reach.map, self._custody.room(limits), self._reach.known)

    def take(
        self, tx: Transaction, limits: Limits, born: Mapping[JobId, Load], free: FreeSlots | None, *, look: bool
    ) -> Claims:
        """The jobs born into free slots; and those that wait, where some of what was ``born`` does, or to ``look``."""
        own = [] if free is None else self._claimer.newborn(tx, free, born)
        claims = nothing(more=False)
        if look or len(own) < len(born):
            leased = {one.grant.left.job for one in own}
            claims = self._claim(tx, limits, {job: load for job, load in born.items() if job not in leased}, len(own))
        return claims._replace(jobs=[*own, *claims.jobs])

    def _claim(self, tx: Transaction, limits: Limits, born: Mapping[JobId, Load], own: int) -> Claims:
        if not self._custody.runners:
            return nothing(more=False)
        self._reach.read(tx)
        claims = self._claim_once(tx, self._room(limits, own), born)
        if claims.stale:
            self._reach.read(tx, again=True)
            self._lending.look_again()
            claims = self._claim_once(tx, self._room(limits, own), born)
        return claims

    def _room(self, limits: Limits, own: int) -> Room:
        """What is left of it beside ``own`` jobs."""
        room = self._custody.room(limits)
        for _ in range(own):
            room.take(*PLAIN)
        return room

    def _claim_once(self, tx: Transaction, room: Room, born: Mapping[JobId, Load]) -> Claims:
        lent = self._lending.choose(tx, self._reach.map.lanes, room, self._reach.known)
        if not room.total and not lent.lanes and not lent.waits:
            return nothing(more=True)  # still hungry: the next end makes room
        reach = self._reach
        return self._claimer.claim(tx, reach.map, room, reach.known, avoid=self._custody.held, lent=lent, born=born)
