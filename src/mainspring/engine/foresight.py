"""Foresight: what will be decided of schedules whose ticks come soon, worked out before these are due.

A decision that was foreseen is taken where nothing has changed since, so that it is the one that would be made now:
the schedule as it is kept, what it makes, and nothing of it unfinished. When a thousand ticks come in one second, what
is left to do in that second is to write.
"""

from __future__ import annotations

from typing import NamedTuple

from mainspring.clock import Instant
from mainspring.domain.catchup import ON_TIME
from mainspring.domain.timetable import ScheduleId
from mainspring.store.schedules import Kept
from mainspring.transitions.fired import Decided
from mainspring.transitions.ticking import Known

_REMEMBERED = 20_000


class _Foreseen(NamedTuple):
    """``until``: the last instant at which it would be decided so."""

    kept: Kept
    known: Known
    decided: Decided
    until: Instant


class Foresight:
    """What one scheduler has foreseen, by schedule."""

    def __init__(self) -> None:
        self._found: dict[ScheduleId, _Foreseen] = {}

    def note(self, kept: Kept, known: Known, decided: Decided) -> None:
        """This will be decided when the next tick of the schedule comes, by what is known of what that makes."""
        if kept.nominal is None:
            return
        if len(self._found) >= _REMEMBERED:
            self._found.clear()
        until = Instant(kept.nominal + ON_TIME)
        if decided.advance is not None and decided.advance.nominal is not None:
            until = min(until, Instant(decided.advance.nominal - 1))
        self._found[kept.id] = _Foreseen(kept, known, decided, until)

    def take(self, kept: Kept, known: Known, now: Instant) -> Decided | None:
        """What was foreseen of a schedule of which nothing is unfinished and no tick waits, where it holds."""
        found = self._found.pop(kept.id, None)
        if found is None or not (kept.at is not None and kept.at <= now <= found.until):
            return None
        return found.decided if (found.kept, found.known) == (kept, known) else None
