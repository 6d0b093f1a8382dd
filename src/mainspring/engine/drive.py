"""The one loop that drives a turn: wait, wake, back off after errors, report health, stop."""

from __future__ import annotations

from collections.abc import Callable

from mainspring.clock import MILLISECOND, SECOND, Clock, Duration
from mainspring.engine.turn import Turn
from mainspring.errors import MainspringError

_FIRST_BACKOFF = Duration(100 * MILLISECOND)
_LONGEST_BACKOFF = Duration(5 * SECOND)


class Drive:
    """Drives one turn until it is stopped. No error ends it: it is kept for health and the loop goes on later.

    ``wait``: blocks up to the given time or until something rings. ``last_turn``: monotonic time of the last turn that
    came to its end without an error.
    """

    def __init__(self, turn: Turn, clock: Clock, wait: Callable[[Duration], object]) -> None:
        self._turn = turn
        self._clock = clock
        self._wait = wait
        self.last_turn = clock.monotonic()
        self.error = ""

    def run(self, stopped: Callable[[], bool]) -> None:
        """Turn until ``stopped()`` is true."""
        backoff = _FIRST_BACKOFF
        while not stopped():
            try:
                pause = self._turn.turn()
            except MainspringError as error:
                self.error, pause = str(error), backoff
                backoff = Duration(min(_LONGEST_BACKOFF, 2 * backoff))
            except Exception as error:  # noqa: BLE001 - a loop outlives every fault; health shows it
                self.error, pause = f"{type(error).__name__}: {error}", backoff
                backoff = Duration(min(_LONGEST_BACKOFF, 2 * backoff))
            else:
                self.error, backoff = "", _FIRST_BACKOFF
                self.last_turn = self._clock.monotonic()
            if pause > 0 and not stopped():
                self._wait(pause)
