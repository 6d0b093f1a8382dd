"""RRULE of RFC 5545 in a time zone: python-dateutil walks the local days, zone.py makes instants of them.

Day-wise and coarser rules only: what comes several times a day is an interval or a cron expression, and dateutil would
walk through years of minutes. Clock changes are as for a fixed time of cron.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from mainspring.clock import Instant, instant_text
from mainspring.domain.zone import GAPS, MICROS, NEVER, REPEATS, Gap, Repeat, Zone, next_tick, one_of, zone
from mainspring.errors import InvalidSchedule, NeverFires

LONGEST = 2000
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - wall time has no zone
_LAST = datetime(2200, 1, 1)  # noqa: DTZ001
_UNITS = {"DAILY": 1, "WEEKLY": 7}
_PARTS = re.compile(r"(?:RRULE:)?((?:[A-Z]+=[A-Z0-9,+-]+)(?:;[A-Z]+=[A-Z0-9,+-]+)*);?", re.ASCII)
_SELECTS = ("BYMONTH", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYDAY", "BYSETPOS", "BYEASTER")
_KNOWN = {"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYHOUR", "BYMINUTE", "BYSECOND", *_SELECTS}


@dataclass(frozen=True)
class Rrule:
    """A recurrence rule such as ``FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0;BYSECOND=0``.

    Parameters
    ----------
    rule: the rule, with or without ``RRULE:`` in front. FREQ is DAILY, WEEKLY, MONTHLY or YEARLY.
    tz, gap, repeat: see Cron.
    start: DTSTART: what BYHOUR and the like are by default, where INTERVAL and COUNT begin. Without one: when the
        schedule was made.

    Raises InvalidSchedule, NeverFires, UnknownZone.

    """

    rule: str
    tz: str = "UTC"
    gap: Gap = "shift"
    repeat: Repeat = "first"
    start: Instant | None = None
    _rule: Any = field(init=False, repr=False, compare=False)
    _begins: datetime = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        one_of("gap", self.gap, GAPS)
        one_of("repeat", self.repeat, REPEATS)
        parts = _parts(self.rule)
        from dateutil.rrule import rrulestr  # what user code imports needs nothing of others

        begins = _EPOCH + timedelta(seconds=self.place.wall(self.start or Instant(0)))
        try:
            rule: Any = rrulestr(self.rule, dtstart=begins, ignoretz=True)  # one rule: _parts takes no more
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise _wrong(self.rule, str(error)) from error
        if next(iter(_late(rule, begins, parts)), None) is None:
            raise NeverFires(f"The rule {self.rule!r} never fires.", remedy="Correct its days.", field="rrule")
        object.__setattr__(self, "_rule", rule)
        object.__setattr__(self, "_begins", begins)

    @property
    def place(self) -> Zone:
        return zone(self.tz)

    def next_after(self, moment: Instant) -> Instant | None:
        if self.start is not None:
            moment = max(moment, Instant(self.start - 1))
        return next_tick(self.place, self._first_from, moment, fixed=True, gap=self.gap, repeat=self.repeat)

    def _first_from(self, wall: int) -> int:
        wanted = _EPOCH + timedelta(seconds=wall)
        found = self._near(wanted).after(wanted, inc=True)
        return NEVER if found is None or found > _LAST else int((found - _EPOCH).total_seconds())

    def _near(self, wanted: datetime) -> Any:
        """The same rule from a later start that gives the same days, so that old schedules don't walk their past."""
        parts = _parts(self.rule)
        step = _step(parts)
        if step is None or "COUNT" in parts:
            return self._rule
        steps = max((wanted - self._begins) // step - 1, 0)
        return self._rule.replace(dtstart=self._begins + steps * step) if steps else self._rule

    def anchored(self, moment: Instant) -> Rrule:
        if self.start is not None:
            return self
        return Rrule(self.rule, self.tz, self.gap, self.repeat, Instant(moment // MICROS * MICROS))

    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = {"rrule": self.rule, "tz": self.tz}
        if self.gap != "shift":
            document["gap"] = self.gap
        if self.repeat != "first":
            document["repeat"] = self.repeat
        return document | ({"start": instant_text(self.start)} if self.start is not None else {})

    def words(self) -> str:
        return f"by the rule {self.rule.removeprefix('RRULE:')}, {self.tz} time"


def _step(parts: dict[str, str]) -> timedelta | None:
    """Between two times of a rule that counts days or weeks."""
    unit = _UNITS.get(parts["FREQ"])
    return None if unit is None else timedelta(days=unit * int(parts.get("INTERVAL", "1")))


def _late(rule: Any, begins: datetime, parts: dict[str, str]) -> Any:
    """The rule as of the end of dateutil's calendar, up to which it looks for what never comes.

    The same weekdays and leap years come back within 28 years. Of a rule that counts months or years each counts here.
    """
    late = begins.replace(year=9944 + (begins.year - 9944) % 28)
    step = _step(parts)
    if step is None:
        return rule.replace(dtstart=late, until=None, count=None, interval=1)
    return rule.replace(dtstart=begins + (late - begins) // step * step, until=None, count=None)


_UNTIL = re.compile(r";?UNTIL=(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?(?=;|$)", re.ASCII)


def split_until(rule: object) -> tuple[Any, str | None]:
    """The rule without its UNTIL, and that as ISO 8601: a day includes all of it."""
    match = _UNTIL.search(rule) if isinstance(rule, str) else None
    if match is None or not isinstance(rule, str):
        return rule, None
    year, month, day, hour, minute, second, utc = match.groups()
    clock = f"{hour}:{minute}:{second}{utc}" if hour else "23:59:59"
    return rule[: match.start()] + rule[match.end() :], f"{year}-{month}-{day}T{clock}"


def _parts(rule: object) -> dict[str, str]:
    if not isinstance(rule, str) or len(rule) > LONGEST:
        raise _wrong(rule, f"it must be a text of at most {LONGEST:,} characters")
    match = _PARTS.fullmatch(rule)
    if match is None:
        raise _wrong(rule, "it must be one rule; DTSTART is told by start, EXDATE by except")
    parts = dict(part.split("=", 1) for part in match[1].split(";"))
    unknown = sorted(set(parts) - _KNOWN)
    if unknown:
        raise _wrong(rule, f"there is no {unknown[0]}")
    if parts.get("FREQ") not in {"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}:
        raise _wrong(rule, "FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY; what is more often is every or cron")
    for name, most in (("INTERVAL", 9_999), ("COUNT", 999_999_999)):
        text = parts.get(name, "1")
        if not (text.isascii() and text.isdigit()) or len(text) > 9 or not 1 <= int(text) <= most:
            raise _wrong(rule, f"{name} must be from 1 to {most:,}")
    _check_numbers(rule, parts)
    return parts


def _check_numbers(rule: object, parts: dict[str, str]) -> None:
    """Raise InvalidSchedule for numbers that there are none of; dateutil takes some of them for something else."""
    for name, (least, most) in _NUMBERS.items():
        for text in parts[name].split(",") if name in parts else ():
            digits = text[1:] if name in _FROM_THE_END and text[:1] in {"+", "-"} else text
            if not (digits.isascii() and digits.isdigit() and len(digits) <= 4 and least <= int(digits) <= most):
                below = f" or from -{most} to -1" if name in _FROM_THE_END else ""
                raise _wrong(rule, f"{name} has {text!r}, and must be from {least} to {most}{below}")
    most = 0 if parts["FREQ"] in {"DAILY", "WEEKLY"} else 5 if parts["FREQ"] == "MONTHLY" or "BYMONTH" in parts else 53
    for text in re.findall(r"\d+", parts.get("BYDAY", "")):
        if len(text) > 4 or int(text) > most:
            rest = f"at most {most}" if most else "none: it is of MONTHLY and YEARLY rules"
            raise _wrong(rule, f"BYDAY has the number {text}, and may have {rest}")


_NUMBERS = {
    "BYMONTH": (1, 12),
    "BYMONTHDAY": (1, 31),
    "BYYEARDAY": (1, 366),
    "BYWEEKNO": (1, 53),
    "BYSETPOS": (1, 366),
    "BYHOUR": (0, 23),
    "BYMINUTE": (0, 59),
    "BYSECOND": (0, 59),
}
_FROM_THE_END = {"BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYSETPOS"}


def _wrong(rule: object, why: str) -> InvalidSchedule:
    return InvalidSchedule(
        f"rrule is {rule!r:.200}: {why}.",
        remedy="Write a rule such as FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17.",
        field="rrule",
    )
