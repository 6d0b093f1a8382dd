"""Foresight: what will be decided of schedules whose ticks come soon, worked out before these are due.

A decision that was foreseen is taken where nothing has changed since, so that it is the one that would be made now:
the schedule as it is kept, what it makes, and how its earlier jobs have ended. When a thousand ticks come in one
second, what is left to do in that second is to write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mainspring.clock import Instant
from mainspring.domain.catchup import ON_TIME
from mainspring.domain.timetable import ScheduleId
from mainspring.store.schedules import Flight, Kept, Next
from mainspring.transitions.fired import Decided
from mainspring.transitions.ticking import Known

_REMEMBERED = 20_000


class _Foreseen(NamedTuple):
    """``until``: the last instant at which it would be decided so."""

    kept: Kept
    next: Next
    known: Known
    flights: Sequence[Flight]
    decided: Decided
    until: Instant


class Foresight:
    """What one scheduler has foreseen, by schedule."""

    def __init__(self) -> None:
        self._found: dict[ScheduleId, _Foreseen] = {}

    def note(self, kept: Kept, known: Known, flights: Sequence[Flight], decided: Decided) -> None:
        """This will be decided when the next tick of the schedule comes, by what is known of what that makes.

        ``flights``: what it has made before, all of which has ended.
        """
        if kept.nominal is None:
            return
        if len(self._found) >= _REMEMBERED:
            self._found.clear()
        until = Instant(kept.nominal + ON_TIME)
        if decided.advance is not None and decided.advance.nominal is not None:
            until = min(until, Instant(decided.advance.nominal - 1))
        self._found[kept.id] = _Foreseen(kept, kept.next, known, flights, decided, until)

    def same(self, coming: Next) -> Kept | None:
        """A schedule as it was seen then, where nothing was said or decided of it since."""
        found = self._found.get(coming.schedule)
        return found.kept if found is not None and found.next == coming else None

    def take(self, kept: Kept, known: Known, flights: Sequence[Flight], now: Instant) -> Decided | None:
        """What was foreseen of a schedule of which no tick waits, where it holds."""
        found = self._found.pop(kept.id, None)
        if found is None or not (kept.at is not None and kept.at <= now <= found.until):
            return None
        same = (found.kept, found.known, found.flights) == (kept, known, flights)
        return found.decided if same else None
