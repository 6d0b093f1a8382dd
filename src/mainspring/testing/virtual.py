"""A clock that only its owner moves, and pipes that deliver after a while. What a simulated process is made of."""

from __future__ import annotations

from collections import deque
from typing import Generic, Protocol, TypeVar

from mainspring.clock import SECOND, Duration, Instant

T = TypeVar("T")

NEVER = Duration(2**62)
START = Instant(1_767_225_600_000_000)  # 2026-01-01T00:00:00Z
AWAKE = Duration(1_000 * SECOND)
"""What the monotonic clock says at the beginning: not 0, which would hide a forgotten start value."""


class VirtualClock:
    """Two clocks that stand still until they are moved: the wall clock, which may jump, and the monotonic one."""

    def __init__(self, start: Instant = START) -> None:
        self._now = start
        self._monotonic = AWAKE

    def now(self) -> Instant:
        return self._now

    def monotonic(self) -> Duration:
        return self._monotonic

    def wait(self, length: Duration) -> None:
        """Time passes; nobody else gets a turn meanwhile."""
        self.advance(length)

    def advance(self, length: Duration) -> None:
        """Let time pass on both clocks."""
        if length > 0:
            self._monotonic = Duration(self._monotonic + length)
            self._now = Instant(self._now + length)

    def jump(self, length: Duration) -> None:
        """Set the wall clock forwards or (negative) back, as somebody with a wrong watch would."""
        self._now = Instant(self._now + length)


class Pipe(Generic[T]):
    """One direction of a socket pair: in order, each item readable from its instant on (monotonic).

    ``first_at``: when there is something to read; NEVER when nothing was written. Kept, as all ask for it all the time.
    """

    __slots__ = ("_items", "_last", "first_at")

    def __init__(self) -> None:
        self._items: deque[tuple[Duration, T]] = deque()
        self._last = Duration(0)
        self.first_at = NEVER

    def put(self, item: T, at: Duration) -> None:
        """Write an item; it overtakes none."""
        self._last = max(self._last, at)
        self._items.append((self._last, item))
        self.first_at = self._items[0][0]

    def take(self, now: Duration) -> T | None:
        """Read one item, if one has arrived."""
        if not self._items or self.first_at > now:
            return None
        item = self._items.popleft()[1]
        self.first_at = self._items[0][0] if self._items else NEVER
        return item

    def hold(self, until: Duration) -> None:
        """What is written from now on is readable from then on only."""
        self._last = max(self._last, until)

    def lose(self) -> int:
        """What was written and not read is gone; how much that was."""
        count = len(self._items)
        self._items.clear()
        self.first_at = NEVER
        return count

    def __len__(self) -> int:
        return len(self._items)


class Actor(Protocol):
    """Who gets turns in a simulated world."""

    name: str

    def wakes_at(self) -> Duration:
        """When it wants its next turn (monotonic); NEVER while only others can wake it."""
        ...

    def act(self) -> None:
        """One turn."""
        ...
