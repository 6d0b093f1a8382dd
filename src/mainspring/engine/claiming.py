"""Claiming: which waiting jobs a worker takes, inside the transaction of its turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from mainspring.clock import Clock, Duration, Instant
from mainspring.domain.attempt import Failure
from mainspring.domain.ids import JobId, LaneId, WorkerId
from mainspring.domain.overriding import Override
from mainspring.domain.span import Origin
from mainspring.domain.states import Cause
from mainspring.domain.task import Lodging
from mainspring.engine.held import Room
from mainspring.engine.lending import NONE_LENT, Lent
from mainspring.engine.lineage import Origins
from mainspring.engine.lowwater import LowWater
from mainspring.engine.share import Share
from mainspring.errors import MainspringError
from mainspring.store import Transaction, at_once, jobs, lanes, queues, rows
from mainspring.store.at_once import Taken, Wish
from mainspring.store.free_slots import FreeSlots
from mainspring.store.jobs import FIRST, Grant, Left, Load, Look, Move
from mainspring.store.lanes import Lane, Map
from mainspring.store.runs import Taker
from mainspring.transitions.inputs import resolved
from mainspring.transitions.moved import enter

MOST_INPUT = 16 * 1_048_576
"""Bytes of a job's parameters with the results that they take."""


PLAIN = (Lodging.SHARED, 1)
"""Where a job runs, and what it costs, that needs no thought."""


class Claimed(NamedTuple):
    """A job that this worker owns now.

    ``details``: of its last attempt; ``refused``: why it can't be started; ``origin``: its place in a trace, where its
    runner wants to know.
    """

    grant: Grant
    load: Load
    lane: Lane
    policy: rows.Policy
    details: str | None
    refused: Failure | None = None
    origin: Origin | None = None

    @property
    def trace(self) -> str | None:
        """In which one it is, where that is known."""
        return None if self.origin is None else self.origin.trace


class Claims(NamedTuple):
    """The result of a look: what was claimed, whether more waits than fits, how many wait for a runner alone.

    ``places``: by claimed job the one that has lent it its slot; ``stale``: nothing was, as the map of lanes is old;
    ``left``: some of what waits is left to other workers.
    """

    jobs: list[Claimed]
    more: bool
    waits: Counter[Lodging]
    places: dict[JobId, JobId]
    stale: bool = False
    left: bool = False


class _Choice:
    """What a look has found: jobs to claim with their lanes, how many wait only for a runner.

    ``more``: more waits; ``left``: some of it is left to other workers.
    """

    def __init__(self, jobs: dict[JobId, Lane], waits: Counter[Lodging]) -> None:
        self.jobs = jobs
        self.waits = waits
        self.more = False
        self.left = False


class Quota:
    """How many more jobs may run of those queues that have a limit; the running ones are counted once."""

    def __init__(self, tx: Transaction, wanted: Iterable[Lane]) -> None:
        limits = {lane.queue: lane.limit for lane in wanted if lane.limit is not None}
        self._left = queues.room(tx, limits) if limits else {}

    def open(self, lane: Lane) -> bool:
        """Whether one more of this lane may run."""
        return self._left.get(lane.queue, 1) > 0

    def take(self, lane: Lane) -> bool:
        """One more of it will run. False, and nothing is taken, when none may."""
        if lane.queue not in self._left:
            return True
        self._left[lane.queue] -= 1
        return self._left[lane.queue] >= 0


def nothing(*, more: bool) -> Claims:
    """Nothing was claimed."""
    return Claims([], more, Counter(), {})


class Claimer:
    """Claims for one worker. Caches what never changes once committed: policies by their number.

    ``traced``: whether its runners want to know in whose trace a job is.
    """

    def __init__(self, worker: WorkerId, lease: Duration, actor: str, clock: Clock, *, traced: bool = False) -> None:
        self.low = LowWater(clock)
        self.share = Share(clock)
        self._worker = worker
        self._lease = lease
        self._actor = actor
        self._policies: dict[int, rows.Policy] = {}
        self._origins = Origins() if traced else None
        self._overrides: Mapping[str, Override] = {}

    def adopt(self, lease: Duration, overrides: Mapping[str, Override]) -> None:
        """Take jobs for so long from now on, and under what operators say of these tasks."""
        self._lease = lease
        self._overrides = overrides

    def claim(  # noqa: PLR0913
        self,
        tx: Transaction,
        known_lanes: Map,
        room: Room,
        known: Sequence[str] | None,
        *,
        avoid: Collection[JobId],
        lent: Lent = NONE_LENT,
        born: Mapping[JobId, Load] = {},
    ) -> Claims:
        """Take the first jobs of these lanes, best first, as far as there is room.

        ``known``: only these tasks; ``avoid``: jobs of which an older attempt still lives here, fenced; ``lent``: jobs
        for which there is a slot already; ``born``: jobs that this transaction has made.
        """
        wish = self.wish(known_lanes, room, avoid) if tx.at_once and known is None and lent == NONE_LENT else None
        if wish is not None:
            found = at_once.claim(tx, wish, self._worker, self._lease, self._actor)
            claims = self.taken(tx, wish, found)
            if claims is not None:
                return claims
        choice = self._choose(tx, known_lanes.lanes, room, known, avoid, lent)
        if not choice.jobs:
            return Claims([], choice.more, choice.waits, {})
        left, loads = jobs.leave_ready(tx, list(choice.jobs), known_lanes.rules, born)
        if not left:
            self.low.marks.clear()  # what was chosen is still there
            return Claims([], True, choice.waits, {}, stale=True)
        grants: list[tuple[Grant, Load, Lane]] = []
        for job, lane in choice.jobs.items():
            row, load = left.get(job), loads[job]
            if row is None:
                continue  # somebody else was faster
            if load.expires is not None and load.expires <= tx.now:
                self._expire(tx, row)
            else:
                grants.append((Grant(row, tx.chance.claim_id()), load, lane))  # type: ignore[arg-type]
        until = Instant(tx.now + self._lease)
        jobs.enter_leased(tx, [grant for grant, _, _ in grants], self._worker, until, self._actor)
        return Claims(self._all_claimed(tx, grants), choice.more, choice.waits, lent.places, left=choice.left)

    @property
    def traced(self) -> bool:
        """Whether the trace of each job is asked for."""
        return self._origins is not None

    def wish(self, known_lanes: Map, room: Room, avoid: Collection[JobId]) -> Wish | None:
        """What comes first, to be taken without a look, where all that a look could find would be ours; else None.

        That is so where nobody else takes from our only lane, or there is plenty for all.
        """
        lane = _only_plain(known_lanes)
        if lane is None or (lane.workers > 1 and not self.share.plenty):
            return None
        most = room.of(lane.lodging)
        if not most:
            return None
        self.low.begin()
        return Wish(lane, self.low.marks.get(lane.id, FIRST), most, known_lanes.rules, avoid)

    def take_blindly(self, tx: Transaction, wish: Wish) -> Callable[[], list[Taken]]:
        """Take it in a transaction that is committed before anybody has seen what that is; ``taken`` tells the rest."""
        return at_once.claim_blindly(tx, wish, self._worker, self._lease, self._actor)

    def taken(self, tx: Transaction, wish: Wish, found: Sequence[Taken]) -> Claims | None:
        """What was taken of a wish. None for nothing: a look tells why."""
        grants: list[tuple[Grant, Load, Lane]] = []
        for left, _, claim, load in found:
            if claim is None:
                self._expire(tx, left)
            else:
                grants.append((Grant(left, claim), load, wish.lane))
        return self._noted(wish, found, self._all_claimed(tx, grants))

    def taken_plainly(self, wish: Wish, found: Sequence[Taken]) -> Claims | None:
        """The same without a question; None as well where a start needs an answer."""
        claimed = []
        for left, _, claim, load in found:
            policy = self._policies.get(load.policy)
            if policy is None or claim is None or load.wants is not None or left.attempt:
                return None
            claimed.append(Claimed(Grant(left, claim), load, wish.lane, self._under(policy, load.task), None))
        return self._noted(wish, found, claimed)

    def _noted(self, wish: Wish, found: Sequence[Taken], claimed: list[Claimed]) -> Claims | None:
        self.low.end()
        if not found:
            return None
        self.low.marks[wish.lane.id] = found[-1].head
        self.share.begin([wish.lane] * len(found), wish.limit)
        return Claims(claimed, len(found) == wish.limit, Counter(), {})

    def free(self, known_lanes: Map, room: Room, known: Sequence[str] | None) -> FreeSlots | None:
        """Slots for jobs that are born; None where a look must tell whose they are."""
        lane = _only_plain(known_lanes) if known is None else None
        if lane is None or lane.workers > 1 or not (most := room.of(lane.lodging)):
            return None
        return FreeSlots(lane, most, self._worker, self._lease, known_lanes.rules)

    def newborn(self, tx: Transaction, free: FreeSlots, born: Mapping[JobId, Load]) -> list[Claimed]:
        """Jobs that were born into such slots, with all that their starts need."""
        return self._all_claimed(tx, [(one, born[one.left.job], free.lane) for one in free.grants])

    def _expire(self, tx: Transaction, left: Left) -> None:
        failure = rows.text(Failure("Expired", "its stated expiry came before it could start"))
        enter(tx, [Move(left, Cause.EXPIRE, self._actor, failure=failure)], self._actor)

    def _all_claimed(self, tx: Transaction, grants: Iterable[tuple[Grant, Load, Lane]]) -> list[Claimed]:
        """Jobs that were leased, with all that their starts need."""
        claimed = _with_inputs(tx, [self._claimed(tx, *one) for one in grants])
        if self._origins is not None:
            found = self._origins.of_jobs(tx, [one.grant.left.job for one in claimed])
            claimed = [one._replace(origin=found.get(one.grant.left.job)) for one in claimed]
        return claimed

    def _choose(  # noqa: PLR0913, PLR0917
        self,
        tx: Transaction,
        open_lanes: Sequence[Lane],
        room: Room,
        known: Sequence[str] | None,
        avoid: Container[JobId],
        lent: Lent,
    ) -> _Choice:
        """The best jobs over all lanes, in order."""
        by_id = {lane.id: lane for lane in open_lanes}
        limited = any(lane.limit is not None for lane in open_lanes)
        left = queues.left(tx) if limited else {}
        self.low.begin()
        heads = jobs.heads(tx, self._looks(open_lanes, room, left), self.low.marks, known)
        self.low.end()
        found = [(head, by_id[lane]) for lane, head in heads]
        self.share.begin([lane for _, lane in found], room.total)
        quota = Quota(tx, [*(lane for _, lane in found), *lent.lanes.values()])
        choice = _Choice({job: lane for job, lane in lent.lanes.items() if quota.take(lane)}, Counter(lent.waits))
        for (_, _, job), lane in found:
            if job in avoid or job in lent.lanes or not quota.open(lane):
                choice.more = True
            elif room.of(lane.lodging, lane.slots):
                if self.share.take(lane):
                    quota.take(lane)
                    room.take(lane.lodging, lane.slots)
                    choice.jobs[job] = lane
            else:
                choice.more = True
                if choice.waits[lane.lodging] < room.reach(lane.lodging, lane.slots):
                    choice.waits[lane.lodging] += 1
                elif room.short(lane.lodging, lane.slots):
                    room.close()
        choice.more = choice.more or any(
            not left.get(lane.queue, 1) or not quota.open(lane) or not room.reach(lane.lodging, lane.slots)
            for lane in open_lanes
        )
        choice.left = self.share.end(room)
        choice.more = choice.more or choice.left
        self.low.settle(heads, choice.jobs)
        return choice

    def _looks(self, open_lanes: Sequence[Lane], room: Room, left: Mapping[str, int]) -> list[Look]:
        """Where to look, apart by the room that a job needs: what is full must not hide what has room."""
        kinds: dict[tuple[Lodging, int], dict[LaneId, int]] = {}
        totals: Counter[tuple[Lodging, int]] = Counter()
        for lane in open_lanes:
            kind = lane.lodging, lane.slots
            fits = self.share.look(lane, room.look(*kind))
            if most := min(fits, left.get(lane.queue, fits)):
                kinds.setdefault(kind, {})[lane.id] = most
                totals[kind] = max(totals[kind], fits)
        return [Look(lanes, totals[kind]) for kind, lanes in kinds.items()]

    def _claimed(self, tx: Transaction, grant: Grant, load: Load, lane: Lane) -> Claimed:
        policy = self._policies.get(load.policy)
        if policy is None:
            policy = self._policies[load.policy] = lanes.policy(tx, load.policy)
        details = jobs.last_details(tx, grant.left.job) if grant.left.attempt else None
        return Claimed(grant, load, lane, self._under(policy, load.task), details)

    def _under(self, policy: rows.Policy, task: str) -> rows.Policy:
        override = self._overrides.get(task)
        return policy if override is None else policy.under(override)


def _only_plain(known_lanes: Map) -> Lane | None:
    """The only lane that there is to take from, where it has no limit and its jobs cost a slot each."""
    lane = known_lanes.lanes[0] if len(known_lanes.lanes) == 1 else None
    return None if lane is None or lane.limit is not None or (lane.lodging, lane.slots) != PLAIN else lane


def _with_inputs(tx: Transaction, claimed: list[Claimed]) -> list[Claimed]:
    """The jobs with what their parameters take from their runs."""
    takers = {
        one.grant.left.job: Taker(one.load.link, one.load.params, one.load.wants)
        for one in claimed
        if one.load.link is not None and one.load.wants is not None
    }
    if not takers:
        return claimed
    found = resolved(tx, takers)
    return [_with_input(one, found[one.grant.left.job]) if one.grant.left.job in takers else one for one in claimed]


def _with_input(one: Claimed, params: object) -> Claimed:
    if isinstance(params, MainspringError):
        return one._replace(refused=Failure(type(params).__name__, params.message))
    text = rows.text(params)
    if len(text) > MOST_INPUT:
        what = f"its parameters are {len(text):,} bytes with the results that they take; at most {MOST_INPUT:,}"
        return one._replace(refused=Failure("InputTooLarge", what))
    return one._replace(load=one.load._replace(params=text))
