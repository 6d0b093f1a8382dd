"""The text of a cron expression read into sets: one bit for each value of a field, and the rules for days.

Says of every wrong text which field, which value and what is allowed. What each form means is told in
docs/reference/cron.md; when it fires is cron.py's.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from mainspring.domain.cron_days import Days
from mainspring.errors import InvalidCron

Together = Literal["or", "and"]
"""How the two day fields go together when both are restricted."""

LONGEST = 1000
MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
    "@every_minute": "* * * * *",
    "@every_second": "* * * * * *",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


class Kind(NamedTuple):
    """One of the six fields. ``top`` is the largest value that may be written (7 is Sunday too)."""

    name: str
    low: int
    high: int
    top: int
    names: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        named = f" or {self.names[0]}-{self.names[-1]}" if self.names else ""
        return f"{self.low}-{self.top}{named}"


SECOND = Kind("second", 0, 59, 59)
MINUTE = Kind("minute", 0, 59, 59)
HOUR = Kind("hour", 0, 23, 23)
DAY = Kind("day of month", 1, 31, 31)
MONTH = Kind("month", 1, 12, 12, _MONTHS)
WEEKDAY = Kind("day of week", 0, 6, 7, _WEEKDAYS)

_NTH = re.compile(r"(\w+)#([1-5])", re.ASCII)
_NEAR = re.compile(r"(\d+)w", re.ASCII)
_LAST_DAY = re.compile(r"l(?:-(\d+))?(w?)", re.ASCII)
_LAST_WEEKDAY = re.compile(r"l(\w+)|(\w+)l", re.ASCII)
_RANGE = re.compile(r"(?:(\*)|(\w+)(?:-(\w+))?)(?:/(\w+))?", re.ASCII)


class Fields(NamedTuple):
    """What an expression says. Sets are bits: bit 5 of ``minutes`` is minute 5.

    ``elapsed``: the minute or hour starts with a star, or there are several seconds: over clock changes such a rule
    follows elapsed time.
    ``texts``: the six fields as written, in lower case; the first is ``0`` where there were five.
    """

    seconds: int
    minutes: int
    hours: int
    months: int
    days: Days
    elapsed: bool
    texts: tuple[str, ...]


def read(expression: str, days: Together = "or") -> Fields:
    """The fields of an expression of five or six fields, or of a macro. Raises InvalidCron."""
    if not isinstance(expression, str):
        raise InvalidCron(f"cron is {expression!r}; it must be a text such as '0 3 * * *'.", field="cron")
    texts = _split(expression)
    second, minute, hour, day, month, weekday = texts
    # Vixie cron: one of the two is enough, unless one of them starts with a star, even as */2.
    rule = Days(either=days == "or" and not (_starred(day) or _starred(weekday)))
    for part in _parts(day, DAY, expression):
        rule = _day(part, rule, expression)
    for part in _parts(weekday, WEEKDAY, expression):
        rule = _weekday(part, rule, expression)
    seconds = _plain(second, SECOND, expression)
    return Fields(
        seconds,
        _plain(minute, MINUTE, expression),
        _plain(hour, HOUR, expression),
        _plain(month, MONTH, expression),
        rule,
        _starred(minute) or _starred(hour) or seconds.bit_count() > 1,
        texts,
    )


def _split(expression: str) -> tuple[str, ...]:
    text = expression.strip().lower()
    if len(text) > LONGEST:
        raise InvalidCron(f"The cron expression has {len(text):,} characters; {LONGEST:,} are allowed.", field="cron")
    if text.startswith("@"):
        text = _macro(text)
    texts = tuple(text.split())
    if len(texts) == 5:
        return ("0", *texts)
    if len(texts) == 6:
        return texts
    raise InvalidCron(
        f"The cron expression {expression!r} has {len(texts)} field{'s' * (len(texts) != 1)}; it must have 5 "
        "(minute hour day-of-month month day-of-week), or 6 with seconds first.",
        remedy=_count_hint(text, texts),
        field="cron",
    )


def _macro(text: str) -> str:
    known = MACROS.get(text)
    if known is not None:
        return known
    if text == "@reboot":
        remedy = "A start of the machine is no time; submit the task from what starts with the machine."
    elif text.startswith("@every "):
        remedy = f"An interval is not cron: every={text[7:].strip()!r}."
    else:
        remedy = f"There are {', '.join(sorted(MACROS))}."
    raise InvalidCron(f"Unknown macro {text!r}.", remedy=remedy, field="cron")


def _count_hint(text: str, texts: tuple[str, ...]) -> str:
    if text.startswith(("tz=", "cron_tz=")):
        return "The zone stands beside the expression: tz='Europe/Berlin'."
    if len(texts) == 7:
        return "A year field is not supported; use start and end."
    if text.startswith(("rate(", "cron(")):
        return "Leave out the word and the parentheses; rate(5 minutes) is every='5m'."
    return ""


def _starred(text: str) -> bool:
    return text.startswith(("*", "?"))


def _parts(text: str, kind: Kind, expression: str) -> list[str]:
    if text == "?":
        return ["*"]
    parts = text.split(",")
    for part in parts:
        if not part:
            raise _wrong(kind, text, expression, "there is nothing between two commas or at an end")
    return parts


def _plain(text: str, kind: Kind, expression: str) -> int:
    bits = 0
    for part in _parts(text, kind, expression):
        bits |= _values(part, kind, expression)
    return bits


def _day(part: str, days: Days, expression: str) -> Days:
    last = _LAST_DAY.fullmatch(part)
    if last:
        back = _number(last[1] or "0", DAY, part, expression, low=0, high=30)
        if last[2]:
            return days._replace(near_last=days.near_last | 1 << back)
        return days._replace(from_last=days.from_last | 1 << back)
    near = _NEAR.fullmatch(part)
    if near:
        return days._replace(near=days.near | 1 << _number(near[1], DAY, part, expression, low=1, high=31))
    return days._replace(plain=days.plain | _values(part, DAY, expression))


def _weekday(part: str, days: Days, expression: str) -> Days:
    nth = _NTH.fullmatch(part)
    if nth:
        which = _value(nth[1], WEEKDAY, part, expression) % 7
        return days._replace(nth=days.nth | 1 << (which * 8 + int(nth[2])))
    last = _LAST_WEEKDAY.fullmatch(part)
    if last:
        which = _value(last[1] or last[2], WEEKDAY, part, expression) % 7
        return days._replace(last_weekdays=days.last_weekdays | 1 << which)
    return days._replace(weekdays=days.weekdays | _values(part, WEEKDAY, expression))


def _values(part: str, kind: Kind, expression: str) -> int:
    """The bits of ``*``, ``5``, ``5-9``, ``22-2`` (around the end), each with ``/step``; ``5/2`` is from 5 on."""
    match = _RANGE.fullmatch(part)
    if match is None:
        raise _wrong(kind, part, expression)
    star, first, until, every = match.groups()
    step = 1
    if every is not None:
        step = _number(every, kind, part, expression, low=1, high=10**9)
    if star:
        low, high = kind.low, kind.high
    else:
        low = _value(first, kind, part, expression)
        high = _value(until, kind, part, expression) if until else kind.high if every else low
        high = max(high, low) if not until else high
    size = kind.high - kind.low + 1
    if low > high:
        if kind is DAY:
            raise _wrong(kind, part, expression, "the range runs backwards, and months differ in length")
        high += size
    bits = 0
    for value in range(low, high + 1, step):
        bits |= 1 << ((value - kind.low) % size + kind.low)
    return bits


def _value(text: str, kind: Kind, part: str, expression: str) -> int:
    if text in kind.names:
        return kind.names.index(text) + kind.low
    return _number(text, kind, part, expression, low=kind.low, high=kind.top)


def _number(text: str, kind: Kind, part: str, expression: str, *, low: int, high: int) -> int:  # noqa: PLR0913
    if not (text.isascii() and text.isdigit()):
        raise _wrong(kind, part, expression)
    value = int(text[:12])
    if not low <= value <= high:
        reason = "a step is at least 1" if high > 31 and low == 1 else f"{value} is not in {low}-{high}"
        raise _wrong(kind, part, expression, reason)
    return value


def _wrong(kind: Kind, part: str, expression: str, reason: str = "") -> InvalidCron:
    return InvalidCron(
        f"The {kind.name} {part!r} in {expression!r} can't be read{': ' if reason else ''}{reason}.",
        remedy=_hint(kind, part) or f"Allowed are {kind.allowed}, lists, ranges and steps{_specials(kind)}.",
        field="cron",
    )


def _specials(kind: Kind) -> str:
    return {DAY: ", L, L-3, 15W and LW", WEEKDAY: ", 5L and 5#2"}.get(kind, "")


def _hint(kind: Kind, part: str) -> str:
    if part.startswith("h") and (part == "h" or part[1:2] in "/("):
        return "H (a value picked by Jenkins) is not supported: choose a number, or use jitter."
    if kind is HOUR and part == "24":
        return "Midnight is 0."
    if kind is MINUTE and part == "60":
        return "The full hour is 0."
    if "${" in part or "{{" in part:
        return "This is a template that was not filled in."
    if kind is DAY and part in _WEEKDAYS:
        return "Weekdays stand in the last field."
    if kind is WEEKDAY and part == "l":
        return "Say which: 5L is the last Friday of the month, 6 is Saturday."
    if part[:1].isalpha() and part[:3] in kind.names:
        return f"Names have three letters: {part[:3]}."
    return ""
