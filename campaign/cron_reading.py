"""A second reading of docs/reference/cron.md: what an expression means, second by second. Slow, small, and on its own.

It shares no code with the engine. Each day of the calendar is looked at, in each that fits every second of the day, and
zoneinfo is asked when the clocks show that. For expressions that are right; what is wrong with others it can't tell.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_MONTHS = [*"jan feb mar apr may jun jul aug sep oct nov dec".split()]  # noqa: SIM905 - as the page writes them
_DAYS = [*"sun mon tue wed thu fri sat".split()]  # noqa: SIM905


def ticks(  # noqa: PLR0913 - what is asked
    expression: str, zone: str, start: datetime, count: int, *, inclusive: bool, days: str = "or"
) -> list[datetime]:
    """The first so many ticks behind a start in UTC, or from it on, in UTC."""
    fields = expression.lower().split()
    if len(fields) == 5:
        fields = ["0", *fields]
    found: list[datetime] = []
    day = start.astimezone(ZoneInfo(zone)).date() - timedelta(days=2)
    while len(found) < count:
        seen = _of_day(fields, ZoneInfo(zone), day, days)
        found = sorted({*found, *(tick for tick in seen if tick > start or (inclusive and tick == start))})
        day += timedelta(days=1)
    return found[:count]


def _of_day(fields: list[str], zone: ZoneInfo, day: date, days: str) -> Iterator[datetime]:
    seconds, minutes, hours, month_days, months, week_days = fields
    if day.month not in _values(months, 1, 12, _MONTHS) or not _fits(day, month_days, week_days, days):
        return
    fixed = minutes[0] not in "*?" and hours[0] not in "*?" and len(_values(seconds, 0, 59, [])) == 1
    for hour in _values(hours, 0, 23, []):
        for minute in _values(minutes, 0, 59, []):
            for second in _values(seconds, 0, 59, []):
                yield from _instants(datetime.combine(day, time(hour, minute, second)), zone, fixed=fixed)


def _instants(wall: datetime, zone: ZoneInfo, *, fixed: bool) -> list[datetime]:
    """When the clocks show this; of a fixed time the first, or the first instant after the gap that swallows it."""
    both = [wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
    shown = sorted({one for one in both if one.astimezone(zone).replace(tzinfo=None) == wall})
    if shown:
        return shown[:1] if fixed else shown
    if not fixed:
        return []
    moment = min(both) - timedelta(days=1)
    while moment.astimezone(zone).replace(tzinfo=None) < wall:
        moment += timedelta(seconds=60)
    return [moment.replace(second=0)]


def _fits(day: date, month_days: str, week_days: str, days: str) -> bool:
    of_month = any(_of_month(day, part) for part in month_days.split(","))
    of_week = any(_of_week(day, part) for part in week_days.split(","))
    starred = month_days[0] in "*?" or week_days[0] in "*?"
    return (of_month and of_week) if starred or days == "and" else (of_month or of_week)


def _of_month(day: date, part: str) -> bool:
    last = calendar.monthrange(day.year, day.month)[1]
    if part.startswith("l"):
        wanted = last - int(part[1:].removeprefix("-").removesuffix("w") or 0)
    elif part.endswith("w"):
        wanted = int(part[:-1])
    else:
        return day.day in _values(part, 1, 31, [])
    return day.day == (_near(day, wanted, last) if part.endswith("w") else wanted)


def _near(day: date, wanted: int, last: int) -> int:
    """The weekday next to a day, in its month; no day where there is none of this number."""
    if wanted > last:
        return 0
    weekday = day.replace(day=wanted).isoweekday()
    if weekday == 6:
        return wanted - 1 if wanted > 1 else 3
    if weekday == 7:
        return wanted + 1 if wanted < last else wanted - 2
    return wanted


def _of_week(day: date, part: str) -> bool:
    today, last = day.isoweekday() % 7, calendar.monthrange(day.year, day.month)[1]
    if "#" in part:
        name, _, number = part.partition("#")
        return today in _values(name, 0, 7, _DAYS) and (day.day + 6) // 7 == int(number)
    if part.endswith("l") or part.startswith("l"):
        return today in _values(part.strip("l"), 0, 7, _DAYS) and day.day > last - 7
    return today in _values(part, 0, 7, _DAYS)


def _values(text: str, low: int, high: int, names: list[str]) -> list[int]:
    """Values of a list of numbers, names, ranges and steps."""
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        if span in {"*", "?"}:
            every = list(range(low, high + 1))
        elif "-" in span:
            first, end = (_value(one, low, names) for one in span.split("-"))
            around = end + (7 if high == 7 else high + 1 - low) if end < first else end
            every = list(range(first, around + 1))
        else:
            first = _value(span, low, names)
            every = list(range(first, high + 1)) if step else [first]
        found |= {_around(value, low, high) for value in every[:: int(step or 1)]}
    return sorted(found)


def _value(text: str, low: int, names: list[str]) -> int:
    return names.index(text) + low if text in names else int(text)


def _around(value: int, low: int, high: int) -> int:
    if high == 7:
        return value % 7
    return value if value <= high else value - (high + 1 - low)
