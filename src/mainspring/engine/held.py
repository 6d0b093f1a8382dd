"""What a coordinator holds in memory: running attempts and the runners they are in. All of it can be lost."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from mainspring.clock import Duration
from mainspring.domain.frame import Frame
from mainspring.domain.ids import ClaimId, JobId
from mainspring.domain.job import Link
from mainspring.domain.states import Outcome
from mainspring.domain.task import Lodging
from mainspring.domain.worker import WorkerState
from mainspring.store.rows import Policy


class Held(msgspec.Struct):
    """One attempt that this worker runs.

    ``asked``: the outcome it was asked to end with; ``check_at``: when to look whether it heeded (monotonic);
    ``place_of``: the job that lent it its slot; ``slots``: how many of the worker's are kept for it, and for those in
    whose place it runs; ``stuck``: only the end of its runner can end it; ``fenced``: its lease is gone, nothing of it
    will be written; ``link``: what it is in a run; ``trace``: in which one it is, where its runner wants to know.
    """

    job: JobId
    claim: ClaimId
    attempt: int
    task: str
    runner: int
    lodging: Lodging
    policy: Policy
    next_line: int = 1
    asked: Outcome | None = None
    check_at: Duration | None = None
    place_of: JobId | None = None
    slots: int = 1
    stuck: bool = False
    fenced: bool = False
    link: Link | None = None
    trace: str | None = None


class RunnerView(msgspec.Struct):
    """A runner as dispatch sees it.

    ``lodging``: the kind of room it has; one of ALONE takes a single job at a time. ``recycling``: gets no more starts;
    ``until``: its guard was told that it may live so long (monotonic; None: nothing yet);
    ``pinged_at``: a ping waits for its pong since then; ``doomed``: it was killed on purpose, so that its other jobs
    are innocent.
    """

    number: int
    lodging: Lodging
    tasks: frozenset[str]
    jobs: dict[JobId, Held] = {}
    recycling: bool = False
    pinged_at: Duration | None = None
    pings: int = 0
    doomed: bool = False
    until: Duration | None = None

    @property
    def open(self) -> bool:
        """Whether it takes one more job."""
        return not self.recycling and (self.lodging is not Lodging.ALONE or not self.jobs)


class Limits(msgspec.Struct, frozen=True):
    """Room of a worker: jobs in all, of these at most so many with a process of their own, and so many alone.

    More than one job may be alone in its runner at a time, so that one that hangs there does not stop the others.
    """

    slots: int
    processes: int
    alone: int = 4


class Outbox(msgspec.Struct):
    """What a turn wants done after its commit.

    ``frames``: to send, by runner; ``kill``: runners to end now; ``replace``: runners that take no more jobs, for which
    new ones are to be started; ``extend``: runners whose guard may wait until this monotonic instant;
    ``wanted``: how many runners of a kind there should be, where that has grown; ``retire``: runners that are not
    needed any more; ``notes``: sentences for the worker's log; ``news``: something was recorded; ``starts``: jobs were
    claimed, of which others may hear once these are on their way; ``calls``: wake other workers, for what was left to
    them; ``drained``: nothing runs any more; ``drain_by``: who has asked for the drain that begins, from outside;
    ``wait``: until the next turn at most.
    """

    frames: list[tuple[int, Frame]] = []
    kill: list[int] = []
    replace: list[int] = []
    extend: list[int] = []
    extend_until: Duration = Duration(0)
    wanted: dict[Lodging, int] = {}
    retire: list[int] = []
    notes: list[str] = []
    news: bool = False
    starts: bool = False
    calls: bool = False
    drained: bool = False
    drain_by: str | None = None
    wait: Duration = Duration(0)


ON_DEMAND = (Lodging.PROCESS, Lodging.ALONE)
"""Runners of these kinds are started when a job needs one; shared ones are there from the start."""


def taken(held: Mapping[JobId, Held]) -> int:
    """How many slots are in use. What was lent counts once, with whoever has it now."""
    lenders = {one.place_of for one in held.values() if one.place_of is not None}
    return sum(one.slots for job, one in held.items() if job not in lenders)


class Room:
    """How many more jobs may be claimed now, by kind of lodging and by the slots that each costs.

    ``slots``: of the worker; ``total``: those that are free.
    """

    def __init__(self, limits: Limits, held: Mapping[JobId, Held], runners: Collection[RunnerView]) -> None:
        self.slots = limits.slots
        self.total = max(0, limits.slots - taken(held))
        self._left = {Lodging.SHARED: limits.slots, Lodging.PROCESS: limits.processes, Lodging.ALONE: limits.alone}
        for one in held.values():
            lender = None if one.place_of is None else held.get(one.place_of)
            if lender is None or lender.lodging is not one.lodging:
                self._left[one.lodging] -= 1
        self._housed = {Lodging.SHARED: 0, Lodging.PROCESS: 0, Lodging.ALONE: 0}
        for runner in runners:
            if runner.open and runner.lodging is Lodging.ALONE:
                self._housed[Lodging.ALONE] += 1
            elif runner.open:
                self._housed[runner.lodging] = limits.slots

    def of(self, lodging: Lodging, slots: int = 1) -> int:
        """How many more of this kind and cost, in the runners that are open."""
        return max(0, min(self.total // slots, self._left[lodging], self._housed[lodging]))

    def reach(self, lodging: Lodging, slots: int = 1) -> int:
        """How many more of this kind and cost, if all the runners were there that are started on demand."""
        if lodging not in ON_DEMAND:
            return self.of(lodging, slots)
        return max(0, min(self.total // slots, self._left[lodging]))

    def short(self, lodging: Lodging, slots: int) -> bool:
        """Whether one of them would fit, were it not that fewer slots are free than it costs."""
        housed = lodging in ON_DEMAND or self._housed[lodging] > 0
        return housed and self._left[lodging] > 0 and 0 < self.total < slots

    def look(self, lodging: Lodging, slots: int) -> int:
        """How many of them are worth looking at: those that fit, and one for which too few slots remain."""
        return self.reach(lodging, slots) + int(self.total % slots > 0)

    def close(self) -> None:
        """Nothing more is claimed: the slots that are free wait for others, until there are enough for the next job."""
        self.total = 0

    def take(self, lodging: Lodging, slots: int = 1) -> None:
        """One was claimed."""
        self.total -= slots
        self._left[lodging] -= 1
        self._housed[lodging] -= 1

    def is_open(self, lodging: Lodging) -> bool:
        """Whether a runner of this kind takes one more job."""
        return self._housed[lodging] > 0

    def may_lend(self, own: Lodging, other: Lodging, more: int = 0) -> bool:
        """Whether a job of one kind may take the place of one of its own or another kind, and so many slots more."""
        return (own is other or self._left[other] > 0) and more <= self.total

    def lend(self, own: Lodging, other: Lodging, more: int = 0) -> None:
        """It takes it."""
        self.total -= more
        self._housed[other] -= 1
        if own is not other:
            self._left[other] -= 1


class Custody:
    """Everything that a worker holds: its running attempts, its runners, and the outbox of the present turn."""

    def __init__(self) -> None:
        self.held: dict[JobId, Held] = {}
        self.runners: dict[int, RunnerView] = {}
        self.out = Outbox()
        self._unusable = False

    def add(self, runner: RunnerView) -> None:
        """It has loaded the app."""
        self.runners[runner.number] = runner
        self._unusable = self._unusable and runner.lodging is not Lodging.SHARED

    def remove(self, number: int) -> RunnerView | None:
        """It is gone; None when it had not even loaded the app."""
        runner = self.runners.pop(number, None)
        self._unusable = self._unusable or runner is None
        return runner

    def state(self, *, draining: bool) -> WorkerState:
        """What the worker is fit for. A runner that crashed and is being replaced does not count against it."""
        if draining:
            return WorkerState.DRAINING
        able = any(runner.lodging is Lodging.SHARED for runner in self.runners.values())
        return WorkerState.IMPAIRED if self._unusable and not able else WorkerState.ACTIVE

    def take_out(self) -> Outbox:
        """The outbox of this turn; the next one begins empty."""
        out, self.out = self.out, Outbox()
        return out

    def full(self, slots: int) -> bool:
        """Whether all slots are in use."""
        return taken(self.held) >= slots

    def room(self, limits: Limits) -> Room:
        """How many more jobs may be claimed now."""
        return Room(limits, self.held, self.runners.values())

    def want(self, waits: Mapping[Lodging, int]) -> None:
        """So many jobs wait only for a runner of their kind: a process runner has room for all, others for one each."""
        for lodging in ON_DEMAND:
            if waits.get(lodging):
                there = sum(runner.lodging is lodging and not runner.recycling for runner in self.runners.values())
                self.out.wanted[lodging] = there + waits[lodging] if lodging is Lodging.ALONE else 1

    def retire_alone(self) -> None:
        """A runner for jobs that must be alone is only kept while there are some."""
        for runner in self.runners.values():
            if runner.lodging is Lodging.ALONE and runner.open:
                runner.recycling = True
                self.out.retire.append(runner.number)

    def runner_for(self, lodging: Lodging) -> RunnerView | None:
        """The open runner with the fewest jobs; None where there is none any more."""
        best: RunnerView | None = None
        for one in self.runners.values():
            if one.lodging is lodging and one.open and (best is None or len(one.jobs) < len(best.jobs)):
                best = one
        return best
