"""The one loop that drives a turn: wait, wake, back off after errors, report health and say it, stop."""

from __future__ import annotations

import logging
from collections.abc import Callable

from mainspring.clock import MILLISECOND, MINUTE, SECOND, Clock, Duration, seconds
from mainspring.engine.turn import Turn
from mainspring.errors import MainspringError

_FIRST_BACKOFF = Duration(100 * MILLISECOND)
_LONGEST_BACKOFF = Duration(5 * SECOND)

_REMIND = MINUTE
"""So often the log is told again that a loop still fails in the same way."""


class Drive:
    """Drives one turn until it is stopped. No error ends it: health and the log have it, and the loop goes on later.

    ``name``: the loop in health and in the log; ``wait``: blocks up to the given time or until something rings;
    ``error``: why its last turn failed, or an empty text.
    """

    def __init__(self, name: str, turn: Turn, clock: Clock, wait: Callable[[Duration], object]) -> None:
        self.name = name
        self._turn = turn
        self._clock = clock
        self._wait = wait
        self._log = logging.getLogger(f"mainspring.{name}")
        self._due = clock.monotonic()
        self._told_at = clock.monotonic()
        self.error = ""

    @property
    def late(self) -> Duration:
        """For how long a turn should have come to its end without an error, and has not."""
        return Duration(max(0, self._clock.monotonic() - self._due))

    def run(self, stopped: Callable[[], bool]) -> None:
        """Turn until ``stopped()`` is true."""
        backoff = _FIRST_BACKOFF
        while not stopped():
            self._due = min(self._due, self._clock.monotonic())  # rung early: late from now on, if it does not end
            try:
                pause = self._turn.turn()
            except Exception as error:  # noqa: BLE001 - a loop outlives every fault; health and the log show it
                self._failed(error, backoff)
                pause, backoff = backoff, Duration(min(_LONGEST_BACKOFF, 2 * backoff))
            else:
                if self.error:
                    self._log.info("turns again")
                self.error, backoff = "", _FIRST_BACKOFF
                self._due = Duration(self._clock.monotonic() + pause)
            if pause > 0 and not stopped():
                self._wait(pause)

    def _failed(self, error: Exception, backoff: Duration) -> None:
        ours = isinstance(error, MainspringError)
        said = str(error) if ours else f"{type(error).__name__}: {error}"
        now = self._clock.monotonic()
        if said != self.error or now - self._told_at >= _REMIND:
            self._told_at = now
            # What we expect says all in its text; of anything else the place is wanted.
            self._log.error("%s Trying again in %g s.", said, seconds(backoff), exc_info=None if ours else error)
        self.error = said
