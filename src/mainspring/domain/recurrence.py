"""Recurrence: the rule of a schedule as a value. Cron, intervals, one instant; bounds and exclusions around them.

Everything that asks when something fires (firing, preview, backfill, simulators) asks ``next_after`` and nothing else.
Ticks are nominal: jitter moves when a tick is done, never what it is called (``jittered``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from mainspring.clock import MICROSECOND, SECOND, Duration, Instant, duration, duration_text, instant, instant_text
from mainspring.domain.calendars import Calendar
from mainspring.domain.cron import Cron
from mainspring.domain.rrule import Rrule, split_until
from mainspring.domain.zone import LAST_SECOND, MICROS, Zone, zone
from mainspring.errors import InvalidDuration, InvalidInstant, InvalidSchedule

SHORTEST = SECOND


class Recurrence(Protocol):
    """When something fires. Values: equal ones fire at the same instants, and ``read`` makes one from its document."""

    @property
    def place(self) -> Zone:
        """The zone in which people read its ticks."""
        ...

    def __hash__(self) -> int:
        """Equal ones have the same."""
        ...

    def next_after(self, moment: Instant) -> Instant | None:
        """The first tick strictly after this instant, or None when there is none any more."""
        ...

    def anchored(self, moment: Instant) -> Recurrence:
        """The same rule, an interval without a start counted from this instant."""
        ...

    def document(self) -> dict[str, Any]:
        """JSON-ready values, from which ``read`` makes an equal one."""
        ...

    def words(self) -> str:
        """What it means, in English."""
        ...


@dataclass(frozen=True)
class Every:
    """An interval of elapsed time: start, start + length, start + 2 * length and so on, without drift.

    ``start`` is the first tick. Without one, ticks are counted from 1970, or from when the schedule was made.
    """

    length: Duration
    start: Instant | None = None
    tz: str = "UTC"

    def __post_init__(self) -> None:
        if self.length < SHORTEST:
            raise InvalidSchedule(
                f"every is {duration_text(self.length)}; the shortest interval is {duration_text(SHORTEST)}.",
                remedy="What must be done more often is one task with a loop.",
                field="every",
            )
        zone(self.tz)

    @property
    def place(self) -> Zone:
        return zone(self.tz)

    def next_after(self, moment: Instant) -> Instant | None:
        start = self.start or 0
        if self.start is not None and moment < start:
            return self.start
        found = start + ((moment - start) // self.length + 1) * self.length
        return Instant(found) if found < LAST_SECOND * MICROS else None

    def anchored(self, moment: Instant) -> Every:
        # A start that was not asked for is when counting began: the first tick comes one interval later.
        return self if self.start is not None else Every(self.length, Instant(moment + self.length), self.tz)

    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = {"every": duration_text(self.length)}
        if self.start is not None:
            document["start"] = instant_text(self.start)
        return document | ({"tz": self.tz} if self.tz != "UTC" else {})

    def words(self) -> str:
        return f"every {duration_text(self.length)}"


@dataclass(frozen=True)
class At:
    """One instant."""

    moment: Instant
    tz: str = "UTC"

    @property
    def place(self) -> Zone:
        return zone(self.tz)

    def next_after(self, moment: Instant) -> Instant | None:
        return self.moment if moment < self.moment else None

    def anchored(self, moment: Instant) -> At:
        return self

    def document(self) -> dict[str, Any]:
        return {"at": instant_text(self.moment)} | ({"tz": self.tz} if self.tz != "UTC" else {})

    def words(self) -> str:
        return f"once, at {self.place.text(self.moment)}"


@dataclass(frozen=True)
class Limited:
    """Another recurrence from ``start`` up to and including ``end``, without the days of ``calendars``."""

    rule: Rule
    start: Instant | None = None
    end: Instant | None = None
    calendars: tuple[Calendar, ...] = ()

    def __post_init__(self) -> None:
        if self.start is not None and self.end is not None and self.end < self.start:
            raise InvalidSchedule(
                f"end {instant_text(self.end)} is before start {instant_text(self.start)}.", field="end"
            )

    @property
    def place(self) -> Zone:
        return self.rule.place

    def next_after(self, moment: Instant) -> Instant | None:
        if self.start is not None:
            moment = max(moment, Instant(self.start - MICROSECOND))
        found = self.rule.next_after(moment)
        while found is not None:
            if self.end is not None and found > self.end:
                return None
            free = self._free_from(found)
            if free == found:
                return found
            found = self.rule.next_after(Instant(free - MICROSECOND))
        return None

    def _free_from(self, moment: Instant) -> Instant:
        """This instant or, when its day is excluded, the begin of the next day that is not."""
        wall = self.place.wall(moment)
        day = first = wall // 86_400
        while any(calendar.excludes(day) for calendar in self.calendars):
            day += 1
            if day * 86_400 > LAST_SECOND:
                return Instant(LAST_SECOND * MICROS)
        return moment if day == first else Instant(self.place.first_instant(day * 86_400) * MICROS)

    def anchored(self, moment: Instant) -> Recurrence:
        return Limited(self.rule.anchored(moment), self.start, self.end, self.calendars)

    def document(self) -> dict[str, Any]:
        document = self.rule.document()
        if self.start is not None:
            document["start"] = instant_text(self.start)
        if self.end is not None:
            document["end"] = instant_text(self.end)
        if self.calendars:
            document["except"] = [calendar.document() for calendar in self.calendars]
        return document

    def words(self) -> str:
        text = self.rule.words()
        if self.start is not None and not isinstance(self.rule, Every | Rrule):
            text += f", from {self.place.text(self.start)}"
        if self.end is not None:
            text += f", until {self.place.text(self.end)}"
        if self.calendars:
            text += f", except {' and '.join(calendar.words() for calendar in self.calendars)}"
        return text


def jittered(rule: Recurrence, tick: Instant, most: Duration, fraction: float) -> Instant:
    """When a tick is done: up to ``most`` later, by a fraction in [0, 1), and always before the next tick."""
    if not most:
        return tick
    following = rule.next_after(tick)
    room = most if following is None else min(most, following - tick - 1)
    return Instant(tick + int(room * fraction))


_KINDS = ("cron", "every", "at", "rrule")
_OPTIONS = {
    "cron": {"tz", "gap", "repeat", "days", "start", "end", "except"},
    "every": {"tz", "start", "end", "except"},
    "at": {"tz"},
    "rrule": {"tz", "gap", "repeat", "start", "end", "except"},
}
Rule = Cron | Every | At | Rrule


def read(document: object) -> Recurrence:
    """The recurrence of a document such as ``{"cron": "0 3 * * *", "tz": "Europe/Berlin"}`` or ``{"every": "30s"}``.

    Raises InvalidSchedule or one of its kind, InvalidDuration or InvalidInstant.
    """
    if not isinstance(document, dict):
        raise InvalidSchedule(
            f"A recurrence is {document!r}; it must be an object such as {{'cron': '0 3 * * *'}}.", field="recurrence"
        )
    kinds = [kind for kind in _KINDS if kind in document]
    if len(kinds) != 1:
        raise InvalidSchedule(
            f"A recurrence has {' and '.join(kinds) or 'no rule'}; it must have one of {', '.join(_KINDS)}.",
            field=kinds[1] if kinds else "recurrence",
        )
    kind = kinds[0]
    for name in document:
        if name not in _OPTIONS[kind] and name != kind:
            raise InvalidSchedule(
                f"A recurrence by {kind} has no {name!r}.",
                remedy=f"It may have: {', '.join(sorted(_OPTIONS[kind]))}.",
                field=str(name),
            )
    place = zone(document.get("tz", "UTC"))
    start, end = _bound(document, "start", place), _bound(document, "end", place)
    options = {name: document[name] for name in ("tz", "gap", "repeat", "days") if name in document}
    rule: Rule
    if kind == "cron":
        rule = Cron(document["cron"], **options)
    elif kind == "rrule":
        text, until = split_until(document["rrule"])
        rule, start = Rrule(text, start=start, **options), None
        if until is not None:
            last = moment(until, "rrule", place)
            end = last if end is None else min(end, last)
    elif kind == "every":
        rule, start = Every(_length(document["every"]), start, place.name), None
    else:
        rule = At(moment(document["at"], "at", place), place.name)
    calendars = tuple(Calendar.read(entry) for entry in _list(document.get("except", ())))
    if start is None and end is None and not calendars:
        return rule
    return Limited(rule, start, end, calendars)


def altered(document: Mapping[str, Any], stated: Mapping[str, Any]) -> dict[str, Any]:
    """A document in which these fields say something else, None taking one away.

    Another rule takes the place of the one before, with those of its options that it can have.
    """
    kinds = [kind for kind in _KINDS if stated.get(kind) is not None]
    kept = dict(document)
    if kinds:
        kept = {name: value for name, value in document.items() if name in _OPTIONS[kinds[0]]}
    return {name: value for name, value in {**kept, **stated}.items() if value is not None}


def _list(value: object) -> list[object]:
    if isinstance(value, list | tuple):
        return list(value)
    raise InvalidSchedule(f"except is {value!r}; it must be a list of calendars.", field="except")


def _length(value: str | float) -> Duration:
    try:
        return duration(value)
    except InvalidDuration as error:
        raise InvalidDuration(value, field="every") from error


def _bound(document: dict[str, Any], name: str, place: Zone) -> Instant | None:
    return moment(document[name], name, place) if document.get(name) is not None else None


def moment(value: object, name: str, place: Zone) -> Instant:
    """An ISO 8601 time with offset or, without one, in the zone of the recurrence; a date is its first moment."""
    if not isinstance(value, str):
        raise InvalidInstant(value, field=name)
    try:
        return instant(value)
    except InvalidInstant as error:
        try:
            wall = instant(f"{value}Z" if "T" in value else f"{value}T00:00Z")
        except InvalidInstant:
            raise InvalidInstant(value, field=name) from error
        return Instant(place.first_instant(wall // MICROS) * MICROS + wall % MICROS)


def guessed(text: str, **options: object) -> Recurrence:
    """What a person writes in one line: a cron expression, ``every 30s`` (or ``30s``), a time, or ``FREQ=...``.

    ``options``: of the document; those that are None count as not given. Raises as ``read`` does.
    """
    plain = text.strip()
    kind = "cron"
    if plain.upper().startswith(("FREQ=", "RRULE:")):
        kind = "rrule"
    elif plain.startswith("every ") or _INTERVAL.fullmatch(plain):
        kind, plain = "every", plain.removeprefix("every ").strip()
    elif _TIME.match(plain):
        kind = "at"
    return read({kind: plain} | {name: value for name, value in options.items() if value is not None})


_INTERVAL = re.compile(r"(\d+(\.\d+)?(us|ms|s|m|h|d|w))+", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
