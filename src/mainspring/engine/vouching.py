"""Vouching: until when the guards of a worker's runners let them live, and what follows where that was too short.

A guard ends its runner at the last instant that it was told. A runner with jobs must not outlive their leases. One
without any harms nobody: while the store is away it is vouched for far ahead, or it would be ended in the first write
behind an outage, which may be slow, and what that write claims would be lost in it. Whatever is claimed when a deadline
has passed is not sent to that runner any more.
"""

from __future__ import annotations

from collections.abc import Iterable

from mainspring.clock import SECOND, Clock, Duration
from mainspring.engine.enforce import Enforcer
from mainspring.engine.held import Custody, RunnerView

LONG = Duration(60 * SECOND)
"""More than one try of a write takes, whatever becomes of it."""


class Vouching:
    """That of one worker."""

    def __init__(self, custody: Custody, enforcer: Enforcer, clock: Clock) -> None:
        self._custody = custody
        self._enforcer = enforcer
        self._clock = clock
        self._began = clock.monotonic()

    def begin(self) -> None:
        """A transaction begins: leases that it renews last from now on, at least."""
        self._began = self._clock.monotonic()

    def renewed(self, lease: Duration) -> None:
        """It has renewed them all."""
        self._extend(self._custody.runners.values(), Duration(self._began + lease))

    def away(self, lease: Duration) -> Duration:
        """The store can't be reached: only runners without jobs may live on. Since when all are to be renewed: now.

        Nothing starts in them before that, which gives them the deadline of the others again.
        """
        now = self._clock.monotonic()
        idle = [runner for runner in self._custody.runners.values() if not runner.jobs]
        self._extend(idle, Duration(now + max(lease, LONG)))
        return now

    def strike(self, *, starts: bool) -> None:
        """Where there are starts: give up the runners that their guards have ended by now, or are about to."""
        now = self._clock.monotonic()
        for runner in self._custody.runners.values():
            if starts and runner.until is not None and now >= runner.until:
                self._enforcer.doom(runner)

    def _extend(self, runners: Iterable[RunnerView], until: Duration) -> None:
        out = self._custody.out
        out.extend, out.extend_until = [], until
        for runner in runners:
            runner.until = until
            out.extend.append(runner.number)
