"""Ends of attempts that wait for the next commit, and how long they may."""

from __future__ import annotations

from mainspring.clock import MILLISECOND, Clock, Duration
from mainspring.transitions.ended import Report

LINGER = MILLISECOND
"""For so long an end may wait for company, while other jobs run here."""


class Endings(list[Report]):
    """The reports of one worker that are not written yet, in the order of their coming."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._since = Duration(0)

    def append(self, report: Report) -> None:
        """One more."""
        if not self:
            self._since = self._clock.monotonic()
        super().append(report)

    def linger(self, monotonic: Duration, *, company: bool) -> Duration:
        """How long they may wait for what the other jobs here are about to say. ``company``: whether there are any.

        A chain's next job is submitted by one that has just started: its claim takes the end of the one before along,
        which would otherwise hold it up for a commit of its own.
        """
        return Duration(max(0, self._since + LINGER - monotonic)) if self and company else Duration(0)
