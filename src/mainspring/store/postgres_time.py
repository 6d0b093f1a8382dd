"""The server's time in this process: what machines think of the time changes nothing (docs/decisions/0018)."""

from __future__ import annotations

from collections.abc import Callable

from mainspring.clock import Duration, Instant, SystemClock


class ServerClock(SystemClock):
    """A Clock whose ``now`` goes by what the server last said, and by our monotonic clock since then."""

    def __init__(self, ask: Callable[[], Instant]) -> None:
        self._ask = ask
        self._ahead: Duration | None = None

    def heard(self, now: Instant, since: Duration) -> None:
        """The server has said what time it is, at some moment after ``since`` by our monotonic clock."""
        least, most = Duration(now - self.monotonic()), Duration(now - since)
        # What we thought is kept where it can be true, as an answer that was long under way tells little.
        self._ahead = most if self._ahead is None else min(max(self._ahead, least), most)

    def now(self) -> Instant:
        """The server's time, asked for when it was never heard."""
        if self._ahead is None:
            return self._ask()
        return Instant(self.monotonic() + self._ahead)
