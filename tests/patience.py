"""Limits in seconds on a machine that has other things to do: as they were said, times how slow it is just now.

A limit that is too short for a busy machine is a test that fails for no reason; one that is long enough for the busiest
proves nothing on an idle one.
"""

from __future__ import annotations

import subprocess
import sys

from mainspring.clock import SECOND, SystemClock

_CLOCK = SystemClock()
_IDLE = 0.04
"""Seconds that a bare start takes at most where nothing else runs."""
_MOST = 12.0


def slowness() -> float:
    """How many times longer than on an idle machine a process takes just now; 1 at least."""
    return max(1.0, min(_MOST, max(_start() for _ in range(3)) / _IDLE))


def _now() -> float:
    return _CLOCK.monotonic() / SECOND


def _start() -> float:
    began = _now()
    subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)
    return _now() - began


class Limit:
    """So many seconds from now; a busy machine has them multiplied, once they are over."""

    def __init__(self, within: float) -> None:
        self._began = _now()
        self._within = within
        self._stretched = False

    def over(self) -> bool:
        """Whether whoever waits should give up."""
        if _now() - self._began <= self._within:
            return False
        if not self._stretched:
            self._stretched = True
            self._within *= slowness()
        return _now() - self._began > self._within


def ended(process: subprocess.Popen[bytes] | subprocess.Popen[str], within: float) -> int:
    """The exit status of a process, as soon as it has one."""
    try:
        return process.wait(within)
    except subprocess.TimeoutExpired:
        return process.wait(within * (slowness() - 1))
