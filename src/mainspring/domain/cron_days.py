"""Which days of a month the two day fields of a cron expression mean: L, W, #, and how the two go together."""

from __future__ import annotations

from calendar import monthrange
from typing import NamedTuple


class Days(NamedTuple):
    """The two day fields as bits.

    ``either``: a day that is in one of them is enough; else it must be in both. ``plain``: days of the month.
    ``from_last``: bit n is n days before the last (L, L-3). ``near``: the weekday nearest to day n (15W);
    ``near_last``: nearest to n days before the last (LW, L-3W). ``weekdays``: 0 is Sunday. ``nth``: bit
    8 * weekday + n (5#2). ``last_weekdays``: 5L.
    """

    either: bool
    plain: int = 0
    from_last: int = 0
    near: int = 0
    near_last: int = 0
    weekdays: int = 0
    nth: int = 0
    last_weekdays: int = 0

    def of(self, year: int, month: int) -> int:
        """The days of this month, bit 1 being the first."""
        starts, length = monthrange(year, month)
        first = (starts + 1) % 7  # 0 is Sunday here, Monday in the calendar module
        by_day = self._by_day(first, length)
        by_weekday = self._by_weekday(first, length)
        whole = (1 << length + 1) - 2
        return (by_day | by_weekday if self.either else by_day & by_weekday) & whole

    def _by_day(self, first: int, length: int) -> int:
        bits = self.plain
        for back in range(length):
            if self.from_last >> back & 1:
                bits |= 1 << length - back
            if self.near_last >> back & 1:
                bits |= 1 << _nearest(length - back, first, length)
        for day in range(1, length + 1):
            if self.near >> day & 1:
                bits |= 1 << _nearest(day, first, length)
        return bits

    def _by_weekday(self, first: int, length: int) -> int:
        bits = 0
        for day in range(1, length + 1):
            weekday = (first + day - 1) % 7
            if (
                self.weekdays >> weekday & 1
                or self.nth >> (weekday * 8 + (day + 6) // 7) & 1
                or (self.last_weekdays >> weekday & 1 and day + 7 > length)
            ):
                bits |= 1 << day
        return bits


def _nearest(day: int, first: int, length: int) -> int:
    """The working day nearest to this one, in the same month."""
    weekday = (first + day - 1) % 7
    if weekday == 6:
        return day - 1 if day > 1 else day + 2
    if weekday == 0:
        return day + 1 if day < length else day - 2
    return day
