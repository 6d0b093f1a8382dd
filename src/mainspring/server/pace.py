"""How many requests one asker may make: a steady rate, ahead of which one may be by ten seconds' worth.

Knows names and times only. Used by one thread; ``adopt`` may be called by another.
"""

from __future__ import annotations

from mainspring.clock import SECOND, Clock
from mainspring.errors import TooManyRequests

AHEAD = 10 * SECOND
_MOST_KEPT = 10_000


class Pace:
    """Counts requests. ``rate``: how many a second one asker may make; 0: as many as they like."""

    def __init__(self, clock: Clock, rate: int = 0) -> None:
        self._clock = clock
        self._rate = rate
        self._until: dict[str, int] = {}  # by asker the instant up to which their requests fill the rate

    def adopt(self, rate: int) -> None:
        """Another rate from now on."""
        self._rate = rate

    def take(self, asker: str) -> None:
        """One request more. Raises TooManyRequests, with the seconds after which there is room again."""
        rate = self._rate
        if not rate:
            return
        now = self._clock.monotonic()
        until = max(self._until.get(asker, 0), now)
        early = until - now - AHEAD
        if early > 0:
            raise TooManyRequests(
                f"{asker} makes more than {rate:,} requests a second.",
                remedy="Wait as Retry-After says; submit many jobs at once by /api/v1/jobs/batch.",
                retry_after=-(-early // SECOND),
            )
        if len(self._until) >= _MOST_KEPT:
            self._until = {name: filled for name, filled in self._until.items() if filled > now}
        self._until[asker] = until + SECOND // rate
