"""A walk down a list, newest first, that has an end: so many rows are passed, whatever has been found by then.

So no filter needs an index that each write would have to keep. Where few of very many match, a page is short, and says
where to go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

STRIDES = (1_000, 10_000, 40_000)
"""Rows that are passed, in steps, so that what stands near the top costs little: some tens of milliseconds in all."""


class Numbered(Protocol):
    """What such a list is of: it is in the order of its numbers."""

    @property
    def id(self) -> int:
        """Its number."""
        ...


N = TypeVar("N", bound=Numbered)

Listed = Callable[[int, int, int], list[N]]
"""Those that match below a number, not below another one, and at most so many; the newest first."""

Reach = Callable[[int, int], int | None]
"""How far down from a number so many rows reach, whether they match or not; None where there are no more than these."""


class Walk(NamedTuple, Generic[N]):
    """Those that match, and the number below which there may be more; None where there is none."""

    found: list[N]
    below: int | None


class Count(NamedTuple):
    """How many match, and the number below which there may be more of them; None where there is none."""

    number: int
    below: int | None


def walked(listed: Listed[N], reach: Reach, before: int, most: int, *, strides: Sequence[int] | None = None) -> Walk[N]:
    """At most so many of those that match. ``strides``: shorter ones where to look at a row costs more."""
    found: list[N] = []
    for stride in STRIDES if strides is None else strides:
        floor = reach(before, stride)
        found += listed(before, floor or 0, most - len(found))
        if len(found) == most:
            return Walk(found, found[-1].id)
        if floor is None:
            return Walk(found, None)
        before = floor
    return Walk(found, before)


def straight(listed: Listed[N], before: int, most: int) -> Walk[N]:
    """The same where every row matches, or an index has those that do: nothing is passed by."""
    found = listed(before, 0, most)
    return Walk(found, found[-1].id if len(found) == most else None)


def counted(matching: Callable[[int, int], int], reach: Reach, before: int) -> Count:
    """How many match of those that one walk passes. ``matching``: below a number, and not below another one."""
    floor = reach(before, sum(STRIDES))
    return Count(matching(before, floor or 0), floor)
