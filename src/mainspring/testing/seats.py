"""Seats: places of processes in the simulated world. One may die, freeze or be stopped; the seat is filled again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from mainspring.clock import MILLISECOND, SECOND, Duration
from mainspring.engine.sweep import Sweep
from mainspring.errors import StoreError
from mainspring.store import Store
from mainspring.testing.virtual import NEVER, VirtualClock

_BACKOFF = Duration(100 * MILLISECOND)
_REFUSED_FOR_LONG = Duration(5 * SECOND)


class Process(Protocol):
    """What sits in a seat."""

    name: str

    def wakes_at(self) -> Duration:
        """When it wants its next turn."""
        ...

    def act(self) -> None:
        """One turn."""
        ...


class Server:
    """The sweeper loop of a server, as engine/drive.py drives it."""

    def __init__(self, name: str, store: Store, clock: VirtualClock, sweep_length: Duration, poll: Duration) -> None:
        self.name = name
        self._clock = clock
        self._sweep = Sweep(store, clock, sweep_length, poll=poll, actor=name)
        self._next = clock.monotonic()
        self._backoff = _BACKOFF

    def ring(self) -> None:
        """Something was recorded: look soon."""
        self._next = min(self._next, self._clock.monotonic())

    def wakes_at(self) -> Duration:
        return self._next

    def act(self) -> None:
        """One look, and a transaction where there is something to move."""
        try:
            pause = self._sweep.turn()
        except StoreError:
            pause, self._backoff = self._backoff, Duration(min(_REFUSED_FOR_LONG, 2 * self._backoff))
        else:
            self._backoff = _BACKOFF
        self._next = Duration(self._clock.monotonic() + pause)


class Seat:
    """A place in the world. It is also what its process's store asks before each transaction.

    ``frozen_until``: it gets no turns before (monotonic); ``inside``: it is in the middle of a turn.
    """

    def __init__(self, name: str, clock: VirtualClock, fill: Callable[[Seat, int], Process]) -> None:
        self.name = name
        self.process: Process | None = None
        self.frozen_until = Duration(0)
        self.inside = False
        self.refusals = 0
        self.dawdle = Duration(0)
        self.pause_behind_read = Duration(0)
        self.back_at = clock.monotonic()
        self.starts = 0
        self._clock = clock
        self._fill = fill

    @property
    def frozen(self) -> bool:
        """Whether it gets no turns now."""
        return self._clock.monotonic() < self.frozen_until

    def wakes_at(self) -> Duration:
        if self.inside:
            return NEVER
        wanted = self.back_at if self.process is None else self.process.wakes_at()
        return max(wanted, self.frozen_until)

    def act(self) -> None:
        """A turn of its process, or the start of a new one."""
        self.inside = True
        try:
            if self.process is None:
                self.starts += 1
                self.process = self._fill(self, self.starts)
            else:
                self.process.act()
        finally:
            self.inside = False

    def vacate(self, back_at: Duration) -> None:
        """Its process is gone; a new one starts then."""
        self.process = None
        self.back_at = back_at
        self.frozen_until = Duration(0)
