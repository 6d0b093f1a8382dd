"""A clock that stands until a test moves it, for what waits for no store."""

from __future__ import annotations

from mainspring.clock import Clock, Duration, Instant


class HandClock(Clock):
    """``at``: where it stands, in microseconds."""

    def __init__(self, at: int = 0) -> None:
        self.at = at

    def now(self) -> Instant:
        return Instant(self.at)

    def monotonic(self) -> Duration:
        return Duration(self.at)

    def wait(self, length: Duration) -> None:
        self.at += length
