"""Exclusion calendars: days on which a schedule does not fire. Days are local ones, in the schedule's zone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from mainspring.errors import InvalidSchedule

WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_YEARLY = re.compile(r"(\d\d)-(\d\d)", re.ASCII)


@dataclass(frozen=True)
class Calendar:
    """Days that are left out.

    ``dates``: ``2026-12-24`` (one day), ``2026-12-24/2027-01-01`` (both ends included) or ``12-25`` (every year).
    ``weekdays``: ``sat``, ``sun``. ``name`` says what it is in descriptions and in records of skipped ticks.
    """

    name: str = ""
    dates: tuple[str, ...] = ()
    weekdays: tuple[str, ...] = ()
    _spans: tuple[tuple[int, int], ...] = field(init=False, repr=False, compare=False)
    _yearly: frozenset[tuple[int, int]] = field(init=False, repr=False, compare=False)
    _weekdays: frozenset[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        spans, yearly = [], set()
        for text in self.dates:
            if not isinstance(text, str):
                raise _wrong(text)
            match = _YEARLY.fullmatch(text)
            if match:
                _day(f"2000-{text}", text)  # 29 February is one, in some years
                yearly.add((int(match[1]), int(match[2])))
                continue
            first, slash, last = text.partition("/")
            span = (_day(first, text), _day(last if slash else first, text))
            if span[1] < span[0]:
                raise InvalidSchedule(f"The dates {text!r} end before they begin.", field="except")
            spans.append(span)
        for weekday in self.weekdays:
            if weekday not in WEEKDAYS:
                raise InvalidSchedule(
                    f"{weekday!r} is not a day of the week.", remedy=f"Write {', '.join(WEEKDAYS)}.", field="except"
                )
        if len(set(self.weekdays)) == len(WEEKDAYS):
            raise InvalidSchedule("The calendar excludes all days of the week.", field="except")
        object.__setattr__(self, "_spans", tuple(spans))
        object.__setattr__(self, "_yearly", frozenset(yearly))
        object.__setattr__(self, "_weekdays", frozenset(WEEKDAYS.index(weekday) for weekday in self.weekdays))

    def excludes(self, day: int) -> bool:
        """Whether this day, counted from 1970-01-01, is left out."""
        if (day + 4) % 7 in self._weekdays:  # 1970 began on a Thursday
            return True
        if any(first <= day <= last for first, last in self._spans):
            return True
        if not self._yearly:
            return False
        there = date.fromordinal(day + _EPOCH_DAY)
        return (there.month, there.day) in self._yearly

    def document(self) -> dict[str, Any]:
        """The JSON form, without what is empty."""
        whole = {"name": self.name, "dates": list(self.dates), "weekdays": list(self.weekdays)}
        return {name: value for name, value in whole.items() if value}

    @staticmethod
    def read(document: object) -> Calendar:
        """Read a document; a text alone is one date. Raises InvalidSchedule."""
        if isinstance(document, str):
            return Calendar(dates=(document,))
        if not isinstance(document, dict) or set(document) - {"name", "dates", "weekdays"}:
            raise InvalidSchedule(
                f"An exclusion calendar is {document!r}; it must be an object with name, dates and weekdays.",
                field="except",
            )
        lists = [document.get("dates", ()), document.get("weekdays", ())]
        if not all(isinstance(entry, list | tuple) for entry in lists) or not isinstance(document.get("name", ""), str):
            raise InvalidSchedule("In a calendar dates and weekdays are lists, and name is a text.", field="except")
        return Calendar(document.get("name", ""), tuple(lists[0]), tuple(str(name).lower()[:3] for name in lists[1]))

    def words(self) -> str:
        if self.name:
            return self.name
        return ", ".join([*self.weekdays, *self.dates])


def _day(text: str, whole: str) -> int:
    try:
        return date.fromisoformat(text).toordinal() - _EPOCH_DAY
    except ValueError as error:
        raise _wrong(whole) from error


def _wrong(text: object) -> InvalidSchedule:
    return InvalidSchedule(
        f"{text!r} is not a date.",
        remedy="Write 2026-12-24, 2026-12-24/2027-01-01 or, for every year, 12-25.",
        field="except",
    )
