"""ScheduledTick: what a job may know of the tick of a schedule that it was made by."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mainspring.clock import Instant
from mainspring.domain.timetable import MadeBy


class ScheduledTick:
    """The tick that a job was made by. All times are aware datetimes in the zone of the schedule.

    ``schedule``: its name; ``origin``: ``regular``, ``trigger`` (by hand), or ``backfill-7``; ``scheduled``: the
    instant of the tick, before any jitter or delay; ``previous``: the last tick before that fired, and
    ``last_success``: the last one whose job had succeeded, as far as was known when this one fired. None where there
    was none.
    """

    def __init__(self, made_by: MadeBy) -> None:
        self._made_by = made_by
        self._zone = _zone(made_by.tz)
        self.schedule = made_by.schedule
        self.origin = made_by.origin

    def __repr__(self) -> str:
        return f"<tick {self.scheduled.isoformat()} of {self.schedule}>"

    @property
    def scheduled(self) -> datetime:
        """The instant of the tick."""
        return self._time(self._made_by.at)

    @property
    def previous(self) -> datetime | None:
        """The last tick before it that fired."""
        at = self._made_by.previous
        return None if at is None else self._time(at)

    @property
    def last_success(self) -> datetime | None:
        """The last tick before it whose job had succeeded."""
        at = self._made_by.succeeded
        return None if at is None else self._time(at)

    def _time(self, at: Instant) -> datetime:
        whole, micros = divmod(int(at), 1_000_000)
        return datetime.fromtimestamp(whole, UTC).replace(microsecond=micros).astimezone(self._zone)


def _zone(name: str) -> tzinfo:
    """The zone; UTC where this machine does not know it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
