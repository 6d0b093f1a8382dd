"""Faults as values, and where they strike: a seed's plan, and a store that refuses, dawdles and pauses.

A fault waits from its step on for a moment that fits, so that it hits something; after a while it strikes anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Protocol, TypeVar

import msgspec

from mainspring.chance import SeededChance
from mainspring.clock import DAY, HOUR, MILLISECOND, MINUTE, SECOND, Duration, duration_text
from mainspring.domain.ids import JobId
from mainspring.domain.logline import LogChunk, LogLine
from mainspring.errors import StoreBusy
from mainspring.faults import FaultPoint
from mainspring.store import Store, Transaction
from mainspring.store.bell import Bell
from mainspring.store.logs import LogBook

T = TypeVar("T")


class Kind(StrEnum):
    """What can go wrong."""

    CRASH = "crash"  # a process dies at a fault point: before a commit, or after it with the answer lost
    KILL = "kill"  # a worker dies between two turns
    FREEZE = "freeze"  # an actor gets no turns for a while
    PAUSE = "pause"  # an actor is stopped inside a turn while the others go on
    REFUSE = "refuse"  # writes are refused
    SLOW = "slow"  # a write takes long; the lock is held meanwhile
    JUMP = "jump"  # the wall clock is set
    RESUME = "resume"  # a worker stood still and the wall clock is ahead, as after a suspended machine
    RUNNER = "runner"  # a runner dies, with what it had not yet said
    HANG = "hang"  # a runner's loop does not turn
    TWICE = "twice"  # a frame arrives twice
    LATE = "late"  # a frame and all behind it arrive late
    TERM = "term"  # a worker is told to stop
    DEAF = "deaf"  # rings of the bell get lost


BEFORE_COMMIT = frozenset(
    {
        FaultPoint.SUBMIT_BEFORE_COMMIT,
        FaultPoint.DISPATCH_BEFORE_COMMIT,
        FaultPoint.RENEW_BEFORE_WRITE,
        FaultPoint.SWEEP_BEFORE_COMMIT,
        FaultPoint.CANCEL_BEFORE_COMMIT,
    }
)
"""Points inside a transaction: a crash there changes nothing, and nobody else can write meanwhile."""

AFTER_COMMIT = frozenset(
    {
        FaultPoint.SUBMIT_AFTER_COMMIT,
        FaultPoint.DISPATCH_AFTER_COMMIT,
        FaultPoint.START_BEFORE_SEND,
        FaultPoint.SWEEP_AFTER_READ,
        FaultPoint.SWEEP_AFTER_COMMIT,
        FaultPoint.CANCEL_AFTER_COMMIT,
    }
)
"""Points outside a transaction."""

POINTS = sorted(point.value for point in BEFORE_COMMIT | AFTER_COMMIT)
READ = "read"
"""Not a fault point: behind any look at the store, before what the actor makes of it."""
_RACES = (READ, FaultPoint.SWEEP_AFTER_READ.value)
PAUSES = sorted([*(point.value for point in AFTER_COMMIT), *_RACES, *_RACES])
PATIENCE = 80
"""Steps that a fault waits for a moment that fits."""


class Fault(msgspec.Struct, frozen=True, order=True):
    """One fault of a plan. ``who`` picks among those it may hit; ``length`` and ``count`` mean what the kind needs."""

    step: int
    kind: Kind
    point: str = ""
    who: int = 0
    length: Duration = Duration(0)
    count: int = 1

    def __str__(self) -> str:
        length = duration_text(Duration(abs(self.length))) if self.length else ""
        parts = [f"from step {self.step:3}", self.kind.value]
        parts += [f"at {self.point}"] if self.point else []
        parts += [f"{'-' if self.length < 0 else ''}{length}"] if length else []
        parts += [f"x{self.count}"] if self.count > 1 else []
        return " ".join(parts)


JUMPS = (SECOND, Duration(2 * MINUTE), HOUR, DAY, Duration(3650 * DAY))


def plan(chance: SeededChance, *, steps: int, lease: Duration, least: int = 5, most: int = 11) -> list[Fault]:
    """The faults of one seed, a random subset of everything."""
    return sorted(_fault(chance, steps, lease) for _ in range(chance.whole(least, most)))


_WEIGHTS = {
    Kind.CRASH: 6,
    Kind.KILL: 2,
    Kind.FREEZE: 4,
    Kind.PAUSE: 5,
    Kind.REFUSE: 2,
    Kind.SLOW: 2,
    Kind.JUMP: 3,
    Kind.RESUME: 3,
    Kind.RUNNER: 2,
    Kind.HANG: 1,
    Kind.TWICE: 1,
    Kind.LATE: 1,
    Kind.TERM: 2,
    Kind.DEAF: 1,
}
_KINDS = [kind for kind, weight in _WEIGHTS.items() for _ in range(weight)]


def _fault(chance: SeededChance, steps: int, lease: Duration) -> Fault:  # noqa: C901, PLR0911 - one case a kind
    kind = chance.pick(_KINDS)
    step, who = chance.whole(10, steps - PATIENCE // 2), chance.whole(0, 1000)
    leases = Duration(round(lease * chance.pick((0.5, 0.6, 0.8, 1.1, 1.5, 3, 10))))
    match kind:
        case Kind.CRASH:
            return Fault(step, kind, chance.pick(POINTS), who)
        case Kind.PAUSE:
            return Fault(step, kind, chance.pick(PAUSES), who, leases)
        case Kind.FREEZE:
            return Fault(step, kind, "", who, leases)
        case Kind.JUMP:
            return Fault(step, kind, "", who, Duration(chance.pick(JUMPS) * chance.pick((1, 1, -1))))
        case Kind.RESUME:
            return Fault(step, kind, "", who, Duration(round(lease * (0.3 + 0.65 * chance.fraction()))))
        case Kind.REFUSE:
            return Fault(step, kind, "", who, Duration(0), chance.whole(1, 8))
        case Kind.SLOW:
            return Fault(step, kind, "", who, Duration(chance.whole(50_000, 11_000_000)))
        case Kind.HANG | Kind.LATE:
            return Fault(step, kind, "", who, Duration(chance.whole(100, 8_000) * MILLISECOND))
        case Kind.TERM:
            return Fault(step, kind, "", who, Duration(0), chance.whole(1, 2))
        case Kind.DEAF:
            return Fault(step, kind, "", who, Duration(0), chance.whole(1, 20))
        case Kind.KILL | Kind.RUNNER | Kind.TWICE:
            return Fault(step, kind, "", who)


class Meddler(Protocol):
    """Who decides what befalls a transaction."""

    def before_write(self) -> None:
        """May raise StoreBusy or let time pass, as for a lock that another process holds."""
        ...

    def in_write(self) -> None:
        """Inside the transaction: may let time pass."""
        ...

    def before_read(self) -> None:
        """May raise StoreBusy, as for a disk that does not answer."""
        ...

    def after_read(self) -> None:
        """May let others act before the reader does."""
        ...


class ActorStore(Store):
    """The store as one actor sees it: the same database, and its own bad luck."""

    def __init__(self, shared: Store, meddler: Meddler) -> None:
        super().__init__(shared.engine, shared.logs, shared.work_bell, shared.news_bell)
        self.logs = _MeddledLogs(shared.logs, meddler)
        self._meddler = meddler

    def write(  # noqa: PLR0913
        self,
        work: Callable[[Transaction], T],
        *,
        before: FaultPoint | None = None,
        after: FaultPoint | None = None,
        rings: Bell | None = None,
        early: bool = False,
        news: bool = False,
    ) -> T:
        self._meddler.before_write()

        def slowly(tx: Transaction) -> T:
            value = work(tx)
            self._meddler.in_write()
            return value

        return super().write(slowly, before=before, after=after, rings=rings, early=early, news=news)

    def read(self, work: Callable[[Transaction], T], *, latest: bool = False) -> T:
        self._meddler.before_read()
        value = super().read(work, latest=latest)
        self._meddler.after_read()
        return value


class _MeddledLogs(LogBook):
    """The log book, in a file of its own, which has its own bad luck."""

    def __init__(self, shared: LogBook, meddler: Meddler) -> None:  # the shared one does the work
        self._shared = shared
        self._meddler = meddler

    def append(self, entries: Sequence[tuple[JobId, int, int, LogChunk]]) -> None:
        self._meddler.before_read()
        self._shared.append(entries)

    def kept(self, job: JobId) -> tuple[int, int]:
        self._meddler.before_read()
        return self._shared.kept(job)

    def lines(self, job: JobId, *, attempt: int | None, after: int, limit: int) -> list[LogLine]:
        return self._shared.lines(job, attempt=attempt, after=after, limit=limit)

    def close(self) -> None:
        self._shared.close()


def refusal() -> StoreBusy:
    """What a locked or full database answers."""
    return StoreBusy(":memory: was locked for 10 s.", remedy="The world refuses this write.")
