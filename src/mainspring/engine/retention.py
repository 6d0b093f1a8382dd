"""Retention: ended jobs go when they are old enough, in small bites between which others can write; then old workers.

No server is special: several may do it, and the second finds less. What it costs is bounded by the length of a bite and
the pause behind it, whatever there is to clear.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from mainspring.clock import HOUR, MILLISECOND, MINUTE, SECOND, Clock, Duration, Instant
from mainspring.domain.ids import JobId
from mainspring.domain.setting import Settings
from mainspring.domain.states import State
from mainspring.faults import FaultPoint
from mainspring.store import Store, retention, workers

ROUND = Duration(10 * MINUTE)
"""Between two looks at everything."""

_LONGEST_BITE = Duration(10 * MILLISECOND)
_SMALLEST, _LARGEST = 5, 250
_LOOK = 2_000
"""Ended jobs that are looked at in one statement where the last ones had to stay: some milliseconds."""

_SHARE = 3
"""The pause behind a bite is so many times as long as the bite: others have the most of the disk."""

_STROLL = SECOND
"""Between two looks that find nothing to clear: a large history is walked through at next to no cost."""

_SILENCE = HOUR
"""A worker that was silent for so long is not expected back; if it comes, it is welcome."""

Keep = Mapping[State, Duration]
"""How long a job is kept after its end, by how it ended."""


def keep_of(settings: Settings) -> Keep:
    """What the settings say."""
    return {
        State.SUCCEEDED: settings.keep_succeeded,
        State.DEAD: settings.keep_dead,
        State.CANCELLED: settings.keep_cancelled,
    }


class Retention:
    """A walk through the ended jobs, again and again. ``removed``: how many went so far, by state.

    ``dry``: only count what would go.
    """

    def __init__(self, store: Store, clock: Clock, keep: Keep, *, dry: bool = False) -> None:
        self._store = store
        self._clock = clock
        self._keep = keep
        self._dry = dry
        self._ahead = list(keep)
        self._after = JobId(0)
        self._bite = _SMALLEST
        self._fruitful = False
        self.removed: Counter[State] = Counter()

    def turn(self) -> Duration:
        """One look and at most one bite; the pause until the next, ROUND when everything was looked at."""
        state = self._ahead[0]
        before = Instant(self._store.clock.now() - self._keep[state])
        look, most = (self._bite, self._bite) if self._fruitful else (_LOOK, _LOOK if self._dry else self._bite)
        found = self._store.read(lambda tx: retention.old(tx, state, before, after=self._after, look=look, most=most))
        self._fruitful = bool(found.jobs) and not self._dry
        pause = self._clear(state, found.jobs)
        self._after = found.after or JobId(0)
        if found.after is None:
            self._ahead.pop(0)
        if not self._ahead:
            self._ahead = list(self._keep)
            self._clear_workers()
            return ROUND
        return pause

    def _clear(self, state: State, jobs: list[JobId]) -> Duration:
        if self._dry or not jobs:
            self.removed[state] += len(jobs)
            return _STROLL
        began = self._clock.monotonic()
        # The output first: what is cut short in between is a job without its lines, and goes the next time.
        self._store.logs.forget(jobs)
        between = self._clock.monotonic()
        self.removed[state] += self._store.write(
            lambda tx: retention.forget(tx, jobs), before=FaultPoint.RETENTION_BEFORE_COMMIT
        )
        ended = self._clock.monotonic()
        self._learn(Duration(max(between - began, ended - between)), len(jobs))
        return Duration(_SHARE * (ended - began))

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
