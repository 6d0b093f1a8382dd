"""Low-water marks: where a look for work may begin, so that it need not wade through what is gone.

PostgreSQL keeps the index entries of rows that were deleted until it is sure that nobody can see them; a stranger's
open snapshot keeps millions of them in front of the first job that still waits. So a look starts behind what the last
one took. What comes in before that mark (a better priority, a retry that keeps its place, a commit that came late) is
found by a full look, from the start, which may take at most a share of the time: where nothing is in the way, that is
every few milliseconds.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from mainspring.clock import SECOND, Clock, Duration, Instant
from mainspring.domain.ids import JobId, LaneId
from mainspring.store.jobs import FIRST, Head

SHARE = 20
"""A full look that took t is made again after SHARE x t."""

_LONGEST = Duration(10 * SECOND)


class LowWater:
    """The marks of one worker, by lane."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.marks: dict[LaneId, Head] = {}
        self._full_at = clock.monotonic()
        self._began = clock.monotonic()
        self._full = True

    def begin(self) -> None:
        """A look begins: from the start when that is due."""
        self._began = self._clock.monotonic()
        self._full = self._began >= self._full_at
        if self._full:
            self.marks.clear()

    def end(self) -> None:
        """The look has its answers."""
        if self._full:
            now = self._clock.monotonic()
            self._full_at = Duration(now + min(_LONGEST, SHARE * (now - self._began)))

    def settle(self, found: Iterable[tuple[LaneId, Head]], chosen: Container[JobId]) -> None:
        """Of what was found these are taken: the next look begins behind them, but never behind one that was not."""
        passed: set[LaneId] = set()
        for lane, head in found:
            if lane not in passed:
                self.marks[lane] = head
                if head.job not in chosen:
                    passed.add(lane)

    def places(self, lanes: Iterable[LaneId]) -> list[tuple[LaneId, int, Instant, JobId]]:
        """Where to begin in these lanes, for a question about several; from the start when that is due."""
        marks = {} if self._clock.monotonic() >= self._full_at else self.marks
        return [(lane, *marks.get(lane, FIRST)) for lane in lanes]
