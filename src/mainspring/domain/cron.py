"""Cron: an expression in a zone, and when it fires. Own engine, as no library is right by all vectors (decision 0027).

Bit sets per field make the next match on the wall clock a few integer operations; zone.py turns it into instants.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any

from mainspring.clock import Instant
from mainspring.domain.cron_fields import Fields, Together, read
from mainspring.domain.cron_words import in_words
from mainspring.domain.zone import GAPS, NEVER, REPEATS, Gap, Repeat, Zone, next_tick, one_of, zone
from mainspring.errors import NeverFires

_EPOCH_DAY = date(1970, 1, 1).toordinal()
_LAST_YEAR = 2199
_DAY = 86_400


class Wall:
    """The wall clock times that an expression matches, whatever the zone. Shared by all crons of one text."""

    def __init__(self, fields: Fields) -> None:
        self.fields = fields
        self._months: dict[int, int] = {}
        self._first = _lowest(fields.hours) * 3600 + _lowest(fields.minutes) * 60 + _lowest(fields.seconds)

    def first_from(self, wall: int) -> int:
        """The first matching wall second at or after this one; NEVER after the year 2199."""
        day, clock = divmod(wall, _DAY)
        today = date.fromordinal(day + _EPOCH_DAY)
        year, month = today.year, today.month
        days = self._days(year, month) >> today.day
        if days & 1:
            time = self._time_from(clock)
            if time >= 0:
                return day * _DAY + time
        days &= ~1
        if days:
            return (day + _lowest(days)) * _DAY + self._first
        while True:
            year, month = (year, month + 1) if month < 12 else (year + 1, 1)
            if year > _LAST_YEAR:
                return NEVER
            days = self._days(year, month)
            if days:
                start = date(year, month, 1).toordinal() - _EPOCH_DAY - 1
                return (start + _lowest(days)) * _DAY + self._first

    def _days(self, year: int, month: int) -> int:
        key = year * 16 + month
        days = self._months.get(key)
        if days is None:
            days = self.fields.days.of(year, month) if self.fields.months >> month & 1 else 0
            self._months[key] = days
        return days

    def _time_from(self, clock: int) -> int:
        fields = self.fields
        hour, rest = divmod(clock, 3600)
        if fields.hours >> hour & 1:
            minute, second = divmod(rest, 60)
            if fields.minutes >> minute & 1:
                seconds = fields.seconds >> second
                if seconds:
                    return clock + _lowest(seconds)
            minutes = fields.minutes >> minute + 1
            if minutes:
                return hour * 3600 + (minute + 1 + _lowest(minutes)) * 60 + _lowest(fields.seconds)
        hours = fields.hours >> hour + 1
        if hours:
            return (hour + 1 + _lowest(hours)) * 3600 + self._first % 3600
        return -1

    def fires(self) -> bool:
        """Whether there is any day at all. 28 years hold every kind of year."""
        return any(self._days(year, month) for year in range(2000, 2028) for month in range(1, 13))


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


@lru_cache(maxsize=4096)
def _wall(expression: str, days: Together) -> Wall:
    wall = Wall(read(expression, days))
    if not wall.fires():
        texts = wall.fields.texts
        raise NeverFires(
            f"The cron expression {expression!r} never fires: no month {texts[4]!r} has a day of month {texts[3]!r}"
            f"{'' if wall.fields.days.either else f' that is a day of week {texts[5]!r}'}.",
            remedy="Correct the days or the month.",
            field="cron",
        )
    return wall


@dataclass(frozen=True)
class Cron:
    """A cron expression in a time zone.

    Parameters
    ----------
    expression: five fields, six with seconds first, or a macro such as ``@daily``.
    tz: IANA zone in which the fields are read (default UTC).
    gap: what becomes of a fixed local time that the clocks skip: ``shift`` (default: once, right after) or ``skip``.
    repeat: which of the two passes of a repeated local time fires: ``first`` (default), ``last`` or ``both``.
    days: how two restricted day fields go together: ``or`` (default: one is enough, as in Vixie cron, but for a field
        that starts with a star) or ``and``.

    Raises InvalidCron, NeverFires, UnknownZone or InvalidSchedule.

    """

    expression: str
    tz: str = "UTC"
    gap: Gap = "shift"
    repeat: Repeat = "first"
    days: Together = "or"
    wall: Wall = field(init=False, repr=False, compare=False)
    place: Zone = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        one_of("gap", self.gap, GAPS)
        one_of("repeat", self.repeat, REPEATS)
        one_of("days", self.days, ("or", "and"))
        if not isinstance(self.expression, str):
            read(self.expression)  # says so; a document may hold anything, also what no cache takes
        object.__setattr__(self, "place", zone(self.tz))
        object.__setattr__(self, "wall", _wall(self.expression, self.days))

    def next_after(self, moment: Instant) -> Instant | None:
        """The first tick after this instant; None after the year 2199."""
        return next_tick(
            self.place,
            self.wall.first_from,
            moment,
            fixed=not self.wall.fields.elapsed,
            gap=self.gap,
            repeat=self.repeat,
        )

    def anchored(self, moment: Instant) -> Cron:
        return self

    def words(self) -> str:
        """What it means, in English."""
        return f"{in_words(self.wall.fields)}, {self.tz} time"

    def document(self) -> dict[str, Any]:
        """The JSON form; options at their defaults are left out."""
        options = {"gap": self.gap, "repeat": self.repeat, "days": self.days}
        usual = {"gap": "shift", "repeat": "first", "days": "or"}
        return {"cron": self.expression, "tz": self.tz} | {
            name: value for name, value in options.items() if value != usual[name]
        }
