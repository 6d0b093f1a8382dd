"""What a worker says of itself: to standard error, and to the store, which the coordinator's own thread writes to."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from mainspring.clock import SECOND, Clock, Duration
from mainspring.config.layers import environment
from mainspring.domain.secrecy import hiding
from mainspring.engine.held import Held
from mainspring.engine.record import Recorder, recording

_LOG = logging.getLogger("mainspring.worker")
_MOST = 20
"""Jobs that one death tells of."""


class Diary:
    """The recorder of a worker, turned as often as it wants to be, and no more often."""

    def __init__(self, recorder: Recorder, clock: Clock) -> None:
        self._recorder = recorder
        self._clock = clock
        self._at = Duration(0)

    def write(self) -> None:
        """Keep what was said since the last time, if it is time to. Whatever goes wrong is no fault of the worker."""
        now = self._clock.monotonic()
        if now >= self._at:
            self._at = Duration(now + SECOND)
            with suppress(Exception):  # the batch is gone; standard error has it
                self._at = Duration(now + self._recorder.turn())

    def registered(self, worker: int) -> None:
        """All that is said from now on is said by this worker."""
        self._recorder.always = {"worker": worker}


@contextmanager
def diary(recorder: Recorder, clock: Clock) -> Iterator[Diary]:
    """Keep what this worker says until it ends."""
    recorder.hide = hiding(environment())
    with recording(recorder):
        yield Diary(recorder, clock)


def tell_death(runner: int, why: str, held: Iterable[Held]) -> None:
    """A runner has died: one line for each job that was in it."""
    for one in sorted((each for each in held if each.runner == runner), key=lambda each: each.job)[:_MOST]:
        run = None if one.link is None else one.link.run
        about = {"job": one.job, "attempt": one.attempt, "run": run, "trace": one.trace}
        _LOG.warning("job %d was in runner %d: %s", one.job, runner, why, extra=about)


def tell_trouble(text: str) -> None:
    """What somebody should look at, although the worker goes on: ``logs --system --level warning`` has it."""
    _LOG.warning("%s", text)


def say_aloud(text: str) -> None:
    """To standard error, for a worker that nobody has given a log."""
    sys.stderr.write(f"mainspring worker: {text}\n")
    sys.stderr.flush()
