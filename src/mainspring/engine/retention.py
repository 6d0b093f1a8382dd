"""Retention: ended runs and jobs go when they are old enough, in small bites that let others write; then workers.

A run goes with its nodes, and its jobs stay as long as it does: so an ended run can be resumed as long as it is there.
Last go versions of workflows that nothing has referred to for a day.

No server is special: several may do it, and the second finds less. What it costs is bounded by the length of a bite and
the pause behind it, whatever there is to clear.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from mainspring.clock import DAY, HOUR, MILLISECOND, MINUTE, SECOND, Clock, Duration, Instant
from mainspring.domain.ids import JobId
from mainspring.domain.joins import RunState
from mainspring.domain.setting import Settings
from mainspring.domain.states import State
from mainspring.faults import FaultPoint
from mainspring.store import Store, Transaction, retention, workers

ROUND = Duration(10 * MINUTE)
"""Between two looks at everything."""

_LONGEST_BITE = Duration(10 * MILLISECOND)
_SMALLEST, _LARGEST = 50, 250
"""Jobs of a bite. Where fewer take longer than a bite may, it is the commit or the machine, not the number."""
_LOOK = 2_000
"""Ended jobs that are looked at in one statement where the last ones had to stay: some milliseconds."""

_SHARE = 3
"""The pause behind a bite is so many times as long as the bite: others have the most of the disk."""

_STROLL = SECOND
"""Between two looks that find nothing to clear: a large history is walked through at next to no cost."""

_UNUSED = DAY
"""A version of a workflow that nothing has referred to for so long goes; a run of it begins at once, or never."""

_SILENCE = HOUR
"""A worker that was silent for so long is not expected back; if it comes, it is welcome."""

Keep = Mapping[State, Duration]
"""How long a job is kept after its end, by how it ended; a run that failed as long as a dead job."""

_RUN_STATE = {
    State.SUCCEEDED: RunState.SUCCEEDED,
    State.DEAD: RunState.FAILED,
    State.CANCELLED: RunState.CANCELLED,
}


def keep_of(settings: Settings) -> Keep:
    """What the settings say."""
    return {
        State.SUCCEEDED: settings.keep_succeeded,
        State.DEAD: settings.keep_dead,
        State.CANCELLED: settings.keep_cancelled,
    }


class _Walk(NamedTuple):
    """What is walked through: the runs, or the jobs, that ended in one way."""

    runs: bool
    state: State


class Retention:
    """A walk through the ended runs and jobs, again and again. ``removed``: how many jobs went so far, by state.

    ``removed_runs``, ``removed_versions``: how many runs, and versions of workflows. ``dry``: only count what would go;
    jobs of runs that would go are not among it.
    """

    def __init__(self, store: Store, clock: Clock, keep: Keep, *, dry: bool = False) -> None:
        self._store = store
        self._clock = clock
        self._keep = keep
        self._dry = dry
        self._walks = [*(_Walk(True, state) for state in keep), *(_Walk(False, state) for state in keep)]
        self._ahead = list(self._walks)
        self._after = 0
        self._bite = _SMALLEST
        self._fruitful = False
        self.removed: Counter[State] = Counter()
        self.removed_runs = 0
        self.removed_versions = 0
        self._run: int | None = None
        self._version: int | None = None

    def adopt(self, keep: Keep) -> None:
        """Keep jobs for so long from now on."""
        self._keep = keep

    def turn(self) -> Duration:
        """One look and at most one bite; the pause until the next, ROUND when everything was looked at."""
        if self._run is not None:
            return self._take_out(self._run)
        if self._version is not None:
            return self._forget_version(self._version)
        walk, found = self._look()
        while walk.runs and not found.found and found.after is None:  # most have no runs that old
            self._ahead.pop(0)
            self._after = 0
            walk, found = self._look()
        self._fruitful = bool(found.found) and not self._dry
        pause = self._begin_run(found.found) if walk.runs else self._clear(walk.state, found.found)
        self._after = found.after or 0
        if found.after is None:
            self._ahead.pop(0)
        if not self._ahead:
            self._ahead = list(self._walks)
            self._clear_workers()
            return self._next_version()
        return pause

    def _look(self) -> tuple[_Walk, retention.Look]:
        """What may go next. One run is a bite, or many; a nested one goes a walk after the outer one."""
        walk = self._ahead[0]
        before = Instant(self._store.clock.now() - self._keep[walk.state])
        look, most = (self._bite, self._bite) if self._fruitful else (_LOOK, _LOOK if self._dry else self._bite)

        def ask(tx: Transaction) -> retention.Look:
            if not walk.runs:
                return retention.old(tx, walk.state, before, after=self._after, look=look, most=most)
            few = most if self._dry else 1
            return retention.old_runs(tx, _RUN_STATE[walk.state], before, after=self._after, look=look, most=few)

        return walk, self._store.read(ask)

    def _begin_run(self, runs: list[int]) -> Duration:
        """The next turns take it out."""
        if self._dry or not runs:
            self.removed_runs += len(runs)
            return _STROLL
        (self._run,) = runs
        return Duration(0)

    def _take_out(self, run: int) -> Duration:
        """One bite of a run; it is the last one that takes the run itself."""
        began = self._clock.monotonic()
        taken = self._store.write(
            lambda tx: retention.forget_run(tx, run, self._bite), before=FaultPoint.RETENTION_BEFORE_COMMIT
        )
        took = Duration(self._clock.monotonic() - began)
        self._learn(took, taken.rows)
        if taken.whole:
            self.removed_runs += 1
            self._run = None
        return Duration(_SHARE * took)

    def _clear(self, state: State, jobs: list[int]) -> Duration:
        if self._dry or not jobs:
            self.removed[state] += len(jobs)
            return _STROLL
        began = self._clock.monotonic()
        # The output first: what is cut short in between is a job without its lines, and goes the next time.
        self._store.logs.forget([JobId(job) for job in jobs])
        between = self._clock.monotonic()
        self.removed[state] += self._store.write(
            lambda tx: retention.forget(tx, jobs), before=FaultPoint.RETENTION_BEFORE_COMMIT
        )
        ended = self._clock.monotonic()
        self._learn(Duration(max(between - began, ended - between)), len(jobs))
        return Duration(_SHARE * (ended - began))

    def _next_version(self) -> Duration:
        """The next version that may go, or the end of the round."""
        if not self._dry:
            before = Instant(self._store.clock.now() - _UNUSED)
            self._version = self._store.write(lambda tx: retention.idle_version(tx, before))
        return ROUND if self._version is None else Duration(0)

    def _forget_version(self, version: int) -> Duration:
        """One bite of a version."""
        began = self._clock.monotonic()
        before = Instant(self._store.clock.now() - _UNUSED)
        taken = self._store.write(
            lambda tx: retention.forget_version(tx, version, before, self._bite),
            before=FaultPoint.RETENTION_BEFORE_COMMIT,
        )
        took = Duration(self._clock.monotonic() - began)
        self._learn(took, taken.rows)
        if taken.whole:
            self.removed_versions += bool(taken.rows)
            return self._next_version()
        return Duration(_SHARE * took)

    def _clear_workers(self) -> None:
        """What is asked each second must not read of all that ever were; who is named by a job that is kept stays."""
        if not self._dry:
            self._store.write(lambda tx: workers.retire(tx, _SILENCE))
            self._store.write(workers.forget)

    def _learn(self, took: Duration, jobs: int) -> None:
        """The next bite is one that should take as long as a bite may."""
        if took > _LONGEST_BITE:
            self._bite = max(_SMALLEST, jobs // 2)
        elif jobs == self._bite and took < _LONGEST_BITE // 2:
            self._bite = min(_LARGEST, 2 * self._bite)
