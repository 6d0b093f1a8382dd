"""Ticks that are recorded although they are yet to come, as a clock was ahead. They don't come again."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from mainspring.clock import Instant
from mainspring.domain.recurrence import Recurrence


class Recorded:
    """Spans of time in which every tick is recorded, in order; empty where the clock has never gone back."""

    def __init__(self, spans: Iterable[tuple[Instant, Instant]] = ()) -> None:
        found = list(spans)
        self._firsts = [first for first, _ in found]
        self._lasts = [last for _, last in found]

    def __bool__(self) -> bool:
        return bool(self._firsts)

    def until(self, tick: Instant) -> Instant | None:
        """The end of the span that has this tick; None where it is not recorded."""
        index = bisect_right(self._firsts, tick) - 1
        return self._lasts[index] if index >= 0 and tick <= self._lasts[index] else None

    def next_after(self, rule: Recurrence, moment: Instant) -> Instant | None:
        """The first tick after an instant that is not recorded."""
        return self.passed(rule, rule.next_after(moment))

    def passed(self, rule: Recurrence, tick: Instant | None) -> Instant | None:
        """This tick, or the first behind it that is not recorded."""
        while tick is not None and (end := self.until(tick)) is not None:
            tick = rule.next_after(end)
        return tick


NOTHING = Recorded()
