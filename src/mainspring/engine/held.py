"""What a coordinator holds in memory: running attempts and the runners they are in. All of it can be lost."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from mainspring.clock import Duration
from mainspring.domain.frame import Frame
from mainspring.domain.ids import ClaimId, JobId
from mainspring.domain.states import Outcome
from mainspring.domain.task import Lodging
from mainspring.store.rows import Policy


class Held(msgspec.Struct):
    """One attempt that this worker runs.

    ``asked``: the outcome it was asked to end with; ``check_at``: when to look whether it heeded (monotonic);
    ``stuck``: only the end of its runner can end it; ``fenced``: its lease is gone, nothing of it will be written.
    """

    job: JobId
    claim: ClaimId
    attempt: int
    runner: int
    lodging: Lodging
    policy: Policy
    next_line: int = 1
    asked: Outcome | None = None
    check_at: Duration | None = None
    stuck: bool = False
    fenced: bool = False


class RunnerView(msgspec.Struct):
    """A runner as dispatch sees it.

    ``recycling``: gets no more starts; ``pinged_at``: a ping waits for its pong since then; ``doomed``: it was killed
    on purpose, so that its other jobs are innocent.
    """

    number: int
    alone: bool
    tasks: frozenset[str]
    jobs: dict[JobId, Held] = {}
    recycling: bool = False
    pinged_at: Duration | None = None
    pings: int = 0
    doomed: bool = False


class Limits(msgspec.Struct, frozen=True):
    """Room of a worker: jobs in all, and of these at most so many with a process of their own."""

    slots: int
    processes: int


class Outbox(msgspec.Struct):
    """What a turn wants done after its commit.

    ``frames``: to send, by runner; ``kill``: runners to end now; ``replace``: runners that take no more jobs, for which
    new ones are to be started; ``extend``: runners whose guard may wait until this monotonic instant;
    ``start_alone`` and ``retire``: a runner for jobs that must be alone is needed, or no longer needed;
    ``notes``: sentences for the worker's log; ``news``: something was recorded; ``drained``: nothing runs any more;
    ``wait``: until the next turn at most.
    """

    frames: list[tuple[int, Frame]] = []
    kill: list[int] = []
    replace: list[int] = []
    extend: list[int] = []
    extend_until: Duration = Duration(0)
    start_alone: bool = False
    retire: list[int] = []
    notes: list[str] = []
    news: bool = False
    drained: bool = False
    wait: Duration = Duration(0)


class Room:
    """How many more jobs may be claimed now, by kind of lodging."""

    def __init__(self, limits: Limits, held: Iterable[Held], *, shared_open: bool, alone_open: bool) -> None:
        jobs = list(held)
        processes = sum(1 for one in jobs if one.lodging is Lodging.PROCESS)
        alone = sum(1 for one in jobs if one.lodging is Lodging.ALONE)
        self.total = max(0, limits.slots - len(jobs))
        self._by_lodging = {
            Lodging.SHARED: self.total if shared_open else 0,
            Lodging.PROCESS: max(0, limits.processes - processes) if shared_open else 0,
            Lodging.ALONE: 1 - alone if alone_open else 0,
        }

    def of(self, lodging: Lodging) -> int:
        """How many more of this kind."""
        return max(0, min(self.total, self._by_lodging[lodging]))

    def take(self, lodging: Lodging) -> None:
        """One was claimed."""
        self.total -= 1
        self._by_lodging[lodging] -= 1


class Custody:
    """Everything that a worker holds: its running attempts, its runners, and the outbox of the present turn."""

    def __init__(self) -> None:
        self.held: dict[JobId, Held] = {}
        self.runners: dict[int, RunnerView] = {}
        self.out = Outbox()

    def take_out(self) -> Outbox:
        """The outbox of this turn; the next one begins empty."""
        out, self.out = self.out, Outbox()
        return out

    def room(self, limits: Limits) -> Room:
        """How many more jobs may be claimed now."""
        shared_open = any(not runner.alone and not runner.recycling for runner in self.runners.values())
        return Room(limits, self.held.values(), shared_open=shared_open, alone_open=True)

    def runner_for(self, lodging: Lodging) -> RunnerView:
        """The open runner with the fewest jobs."""
        wanted = lodging is Lodging.ALONE
        best: RunnerView | None = None
        for one in self.runners.values():
            if one.alone is wanted and not one.recycling and (best is None or len(one.jobs) < len(best.jobs)):
                best = one
        if best is None:
            raise AssertionError(f"claimed a job without a runner for it: {lodging}")
        return best
