"""The roster: which runners a worker has and of what kind, how many there should be, and when the missing ones start.

Decisions only: it starts and ends no process, and it knows nothing of jobs.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from mainspring.clock import MILLISECOND, SECOND, Duration
from mainspring.domain.task import Lodging


class RestartPacer:
    """How long to wait before a runner is started again: bounded intensity, so that a broken app does not spin.

    A runner that lived for ``healthy`` (10 s) is replaced at once; after each that lived shorter the wait doubles, from
    ``first`` (100 ms) to ``most`` (30 s).
    """

    def __init__(
        self,
        first: Duration = Duration(100 * MILLISECOND),
        most: Duration = Duration(30 * SECOND),
        healthy: Duration = Duration(10 * SECOND),
    ) -> None:
        self._first, self._most, self._healthy = first, most, healthy
        self._wait = Duration(0)

    def after_death(self, lived: Duration) -> Duration:
        """The wait before the next start, after a runner that lived this long."""
        if lived >= self._healthy:
            self._wait = Duration(0)
        elif self._wait == 0:
            self._wait = self._first
        else:
            self._wait = min(Duration(2 * self._wait), self._most)
        return self._wait


class _Entry(msgspec.Struct):
    """A runner that lives, as far as we know."""

    lodging: Lodging
    born: Duration
    greeted: bool = False
    leaving: bool = False


class Roster:
    """The runners of one worker, by number. ``shared``: so many shared ones are always wanted.

    The other kinds are wanted on demand, and only as long as they live: when one is gone, the demand must be said anew.
    """

    def __init__(self, shared: int) -> None:
        self._wanted = dict.fromkeys(Lodging, 0) | {Lodging.SHARED: shared}
        self._pacers = {lodging: RestartPacer() for lodging in Lodging}
        self._not_before = dict.fromkeys(Lodging, Duration(0))
        self._entries: dict[int, _Entry] = {}
        self._last = 0
        self._known: dict[Lodging, int] | None = None  # what is missing, until something changes

    def want(self, wanted: Mapping[Lodging, int]) -> None:
        """There should be so many of these kinds."""
        if wanted:
            self._wanted |= wanted
            self._known = None

    def due(self, now: Duration) -> list[tuple[int, Lodging]]:
        """The runners to start now, which count as there from now on: number and kind."""
        new = []
        for lodging, missing in self._missing().items():
            for _ in range(missing if now >= self._not_before[lodging] else 0):
                self._last += 1
                self._entries[self._last] = _Entry(lodging, now)
                new.append((self._last, lodging))
        if new:
            self._known = None
        return new

    def next_start(self) -> Duration | None:
        """When ``due`` will have something (monotonic); None when nothing is missing."""
        return min((self._not_before[lodging] for lodging in self._missing()), default=None)

    def _missing(self) -> dict[Lodging, int]:
        if self._known is None:
            standing = [one.lodging for one in self._entries.values() if not one.leaving]
            missing = ((kind, wanted - standing.count(kind)) for kind, wanted in self._wanted.items() if wanted)
            self._known = {kind: many for kind, many in missing if many > 0}
        return self._known

    def _standing(self, lodging: Lodging) -> int:
        return sum(one.lodging is lodging and not one.leaving for one in self._entries.values())

    def greeted(self, number: int) -> Lodging:
        """It said hello; its kind."""
        self._entries[number].greeted = True
        return self._entries[number].lodging

    def has_greeted(self, number: int) -> bool:
        """Whether it has loaded the app."""
        return self._entries[number].greeted

    def kind(self, number: int) -> Lodging:
        """What it is for."""
        return self._entries[number].lodging

    def leaves(self, number: int) -> None:
        """It takes no more jobs: a shared one is replaced at once, others when there is need again."""
        entry = self._entries[number]
        entry.leaving = True
        self._known = None
        self._forget_demand(entry.lodging)

    def died(self, number: int, now: Duration) -> None:
        """It is gone. The next of its kind waits a little, unless this one was to go or lived long enough."""
        entry = self._entries.pop(number)
        self._known = None
        self._forget_demand(entry.lodging)
        # The retry policy of the job that a runner was alone with says when that may crash the next one.
        if not entry.leaving and not (entry.lodging is Lodging.ALONE and entry.greeted):
            pause = self._pacers[entry.lodging].after_death(Duration(now - entry.born))
            self._not_before[entry.lodging] = Duration(now + pause)

    def _forget_demand(self, lodging: Lodging) -> None:
        if lodging is not Lodging.SHARED:
            self._wanted[lodging] = min(self._wanted[lodging], self._standing(lodging))
