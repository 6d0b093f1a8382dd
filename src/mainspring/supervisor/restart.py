"""How often a process is started again: bounded intensity, with a pause that doubles. Pure; time is passed in."""

from __future__ import annotations

from collections import deque

from mainspring.clock import MILLISECOND, SECOND, Duration

FIRST_PAUSE = Duration(200 * MILLISECOND)
LONGEST_PAUSE = Duration(10 * SECOND)


class Restarts:
    """The deaths of one child. At most ``limit`` restarts within ``window``; one more and it is given up."""

    def __init__(self, limit: int, window: Duration) -> None:
        self.limit = limit
        self.window = window
        self._deaths: deque[Duration] = deque()

    def died(self, now: Duration) -> Duration | None:
        """Count a death at ``now`` (monotonic): the pause before the next start, or None when it is to be given up."""
        self._deaths.append(now)
        while self._deaths[0] <= now - self.window:
            self._deaths.popleft()
        if len(self._deaths) > self.limit:
            return None
        return Duration(min(LONGEST_PAUSE, FIRST_PAUSE << (len(self._deaths) - 1)))

    @property
    def lately(self) -> int:
        """How many deaths the window holds."""
        return len(self._deaths)
