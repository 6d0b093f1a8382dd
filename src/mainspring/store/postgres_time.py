"""The server's time in this process: what machines think of the time changes nothing (docs/decisions/0015)."""

from __future__ import annotations

from collections.abc import Callable

from mainspring.clock import Duration, Instant, SystemClock


class ServerClock(SystemClock):
    """A Clock whose ``now`` goes by what the server last said, and by our monotonic clock since then."""

    def __init__(self, ask: Callable[[], Instant]) -> None:
        self._ask = ask
        self._ahead: Duration | None = None

    def heard(self, now: Instant) -> None:
        """The server has just said what time it is."""
        self._ahead = Duration(now - self.monotonic())

    def now(self) -> Instant:
        """The server's time, asked for when it was never heard."""
        if self._ahead is None:
            return self._ask()
        return Instant(self.monotonic() + self._ahead)
