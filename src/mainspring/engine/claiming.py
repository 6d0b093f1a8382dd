"""Claiming: which waiting jobs a worker takes, inside the transaction of its turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from typing import NamedTuple

from mainspring.clock import Duration, Instant
from mainspring.domain.attempt import Failure
from mainspring.domain.ids import JobId, WorkerId
from mainspring.domain.states import Cause
from mainspring.domain.task import Lodging
from mainspring.engine.held import Room
from mainspring.engine.lending import NONE_LENT, Lent
from mainspring.store import Transaction, jobs, lanes, rows
from mainspring.store.jobs import Grant, Load, Move
from mainspring.store.lanes import Lane


class Claimed(NamedTuple):
    """A job that this worker owns now. ``details``: what its last attempt left."""

    grant: Grant
    load: Load
    lodging: Lodging
    policy: rows.Policy
    details: str | None


class Claims(NamedTuple):
    """The result of a look: what was claimed, whether more waits than fits, how many wait for a runner alone.

    ``places``: by claimed job the one that has lent it its slot.
    """

    jobs: list[Claimed]
    more: bool
    waits: Counter[Lodging]
    places: dict[JobId, JobId]


def nothing(*, more: bool) -> Claims:
    """Nothing was claimed."""
    return Claims([], more, Counter(), {})


class Claimer:
    """Claims for one worker. Caches what never changes once committed: policies by their number."""

    def __init__(self, worker: WorkerId, lease: Duration, actor: str) -> None:
        self._worker = worker
        self._lease = lease
        self._actor = actor
        self._policies: dict[int, rows.Policy] = {}

    def claim(  # noqa: PLR0913
        self,
        tx: Transaction,
        open_lanes: Sequence[Lane],
        room: Room,
        known: Sequence[str] | None,
        *,
        avoid: Container[JobId],
        lent: Lent = NONE_LENT,
    ) -> Claims:
        """Take the first jobs of these lanes, best first, as far as there is room.

        ``known``: only these tasks; ``avoid``: jobs of which an older attempt still lives here, fenced; ``lent``: jobs
        for which there is a slot already.
        """
        chosen, more, waits = self._choose(tx, open_lanes, room, known, avoid, lent.chosen)
        chosen = lent.chosen | chosen
        waits += lent.waits
        if not chosen:
            return Claims([], more, waits, {})
        left, loads = jobs.leave_ready(tx, list(chosen))
        grants: list[tuple[Grant, Load, Lodging]] = []
        for job, lodging in chosen.items():
            row, load = left.get(job), loads[job]
            if row is None:
                continue  # somebody else was faster
            if load.expires is not None and load.expires <= tx.now:
                failure = rows.text(Failure("Expired", "its stated expiry came before it could start"))
                jobs.enter(tx, [Move(row, Cause.EXPIRE, self._actor, failure=failure)])
            else:
                grants.append((Grant(row, tx.chance.claim_id()), load, lodging))  # type: ignore[arg-type]
        until = Instant(tx.now + self._lease)
        jobs.enter_leased(tx, [grant for grant, _, _ in grants], self._worker, until, self._actor)
        return Claims([self._claimed(tx, *one) for one in grants], more, waits, lent.places)

    def _choose(
        self,
        tx: Transaction,
        open_lanes: Sequence[Lane],
        room: Room,
        known: Sequence[str] | None,
        *others: Container[JobId],
    ) -> tuple[dict[JobId, Lodging], bool, Counter[Lodging]]:
        """The best jobs over all lanes, in order; whether more may wait than fits; how many wait for a runner alone."""
        found, full = [], False
        for lane in open_lanes:
            limit = room.reach(lane.lodging)
            full = full or not limit
            if limit:
                found += [(*head, lane.lodging) for head in jobs.heads(tx, lane.id, limit, known)]
        if len(open_lanes) > 1:
            found.sort()
        chosen: dict[JobId, Lodging] = {}
        waits: Counter[Lodging] = Counter()
        for _, _, job, lodging in found:
            if any(job in other for other in others):
                continue
            if room.of(lodging):
                room.take(lodging)
                chosen[job] = lodging
            elif waits[lodging] < room.reach(lodging):
                waits[lodging] += 1
        full = full or any(room.reach(lane.lodging) == 0 for lane in open_lanes) or len(chosen) < len(found)
        return chosen, full, waits

    def _claimed(self, tx: Transaction, grant: Grant, load: Load, lodging: Lodging) -> Claimed:
        policy = self._policies.get(load.policy)
        if policy is None:
            policy = self._policies[load.policy] = lanes.policy(tx, load.policy)
        details = jobs.last_details(tx, grant.left.job) if grant.left.attempt else None
        return Claimed(grant, load, lodging, policy, details)
