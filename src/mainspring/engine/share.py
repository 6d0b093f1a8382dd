"""Fair share: while fewer jobs wait than the workers have slots, none takes at once what others could start now.

A worker first takes about its share, wakes the others, and takes the rest a moment later, unless somebody did. Where
more waits than all have room for, and where a worker is alone, it takes what fits, as ever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mainspring.clock import MILLISECOND, Clock, Duration
from mainspring.engine.held import Room
from mainspring.store.lanes import Lane

_SHORTEST, _LONGEST = Duration(MILLISECOND), Duration(10 * MILLISECOND)
"""How long what was left is for others: the more slots a worker has in use, the longer, so that the idlest goes on."""


class Share:
    """What one worker takes of what waits. Other workers are supposed to have as many slots free as this one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.plenty = False
        """More waits than all workers have room for, so that whatever a look could find is ours."""
        self._until: Duration | None = None
        self._quota: Counter[int] = Counter()
        self._left = False

    def pause(self) -> Duration:
        """How long what the last claim has left is still for others; 0 when there is nothing to wait for."""
        return Duration(0) if self._until is None else Duration(max(0, self._until - self._clock.monotonic()))

    def look(self, lane: Lane, fits: int) -> int:
        """How many jobs of a lane to look at, where so many fit: enough to see whether there is plenty for all."""
        return fits if self.plenty else fits * lane.workers

    def begin(self, found: Sequence[Lane], free: int) -> None:
        """A claim begins: for each job that was found its lane, and how many slots are free here."""
        workers = max((lane.workers for lane in found), default=1)
        second = self._until is not None and not self.pause()
        self._until, self._left = None, False
        self._quota.clear()
        if len(found) >= free * workers:
            self.plenty = workers > 1
        elif len(found) < free:
            self.plenty = False
        if workers > 1 and not self.plenty and not second:
            counted = Counter(lane.workers for lane in found)
            self._quota.update({among: -(-count // among) for among, count in counted.items()})

    def take(self, lane: Lane) -> bool:
        """One job of this lane is within our share. False when it is left to others, for now."""
        if lane.workers not in self._quota:
            return True
        if not self._quota[lane.workers]:
            self._left = True
            return False
        self._quota[lane.workers] -= 1
        return True

    def end(self, room: Room) -> bool:
        """The claim is made, and this room is left; whether work was left, so that others are to be woken."""
        if self._left:
            pause = max(_SHORTEST, _LONGEST * (room.slots - room.total) // room.slots)
            self._until = Duration(self._clock.monotonic() + pause)
        return self._left
