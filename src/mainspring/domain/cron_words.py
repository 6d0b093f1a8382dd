"""A cron expression in English, from its sets and not from its text: what is told is what fires."""

from __future__ import annotations

from mainspring.domain.cron_days import Days
from mainspring.domain.cron_fields import Fields

_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_ORDINALS = ("", "first", "second", "third", "fourth", "fifth")
_ALL_DAYS = (1 << 32) - 2
_MOST_TIMES = 4


def in_words(fields: Fields) -> str:
    """Such as "at 03:00, on day 1 of the month or on Friday, in January"; the zone is not named."""
    parts = [_time(fields), _days(fields.days), _months(fields.months)]
    return ", ".join(part for part in parts if part)


def _time(fields: Fields) -> str:
    seconds, minutes, hours = _values(fields.seconds, 60), _values(fields.minutes, 60), _values(fields.hours, 24)
    if len(seconds) == 1 and len(minutes) * len(hours) <= _MOST_TIMES:
        second = f":{seconds[0]:02}" if seconds[0] else ""
        return f"at {_listed([f'{hour:02}:{minute:02}{second}' for hour in hours for minute in minutes])}"
    parts = []
    if seconds != [0]:
        parts.append(_unit("second", seconds, 60))
    if len(minutes) < 60 or len(seconds) == 1:
        parts.append(_unit("minute", minutes, 60))
    if len(hours) < 24 or parts[-1].startswith("minute"):
        parts.append(_unit("hour", hours, 24))
    text = " of ".join(parts)
    return text if text.startswith("every") else f"at {text}"


def _unit(name: str, values: list[int], size: int) -> str:
    if len(values) == size:
        return f"every {name}"
    step = values[1] - values[0] if len(values) > 1 else 0
    if step > 1 and size % step == 0 and values == list(range(values[0], size, step)) and values[0] < step:
        shift = f" from {values[0]} on" if values[0] else ""
        return f"every {step} {name}s{shift}"
    return f"{name} {_runs([f'{value:02}' if name == 'hour' else str(value) for value in values], values)}"


def _days(days: Days) -> str:
    by_day, by_weekday = _by_day(days), _by_weekday(days)
    if not by_day and not by_weekday:
        return ""
    if not by_day or not by_weekday:
        # With "either" a field that holds every day makes the other one mean nothing.
        return "" if days.either else by_day or f"on {by_weekday}"
    return f"{by_day} or on {by_weekday}" if days.either else f"{by_day}, if that is {by_weekday}"


def _by_day(days: Days) -> str:
    if days.plain == _ALL_DAYS:
        return ""
    found = []
    plain = _values(days.plain, 32)
    if plain:
        found.append(f"day {_runs([str(day) for day in plain], plain)} of the month")
    found += [f"{_before(back)}the last day of the month" for back in _values(days.from_last, 32)]
    found += [f"the weekday nearest to day {day} of the month" for day in _values(days.near, 32)]
    for back in _values(days.near_last, 32):
        nearest = f"the weekday nearest to {_before(back)}the last day"
        found.append(f"{nearest} of the month" if back else "the last weekday of the month")
    return f"on {_listed(found)}"


def _before(back: int) -> str:
    return f"{back} day{'s' * (back > 1)} before " if back else ""


def _by_weekday(days: Days) -> str:
    if days.weekdays == (1 << 7) - 1:
        return ""
    # A week is told from Monday on, so that Saturday and Sunday stand together.
    plain = [day for day in range(1, 8) if days.weekdays >> day % 7 & 1]
    found = [_runs([_WEEKDAYS[day % 7] for day in plain], plain)] if plain else []
    for which in range(7):
        nths = [nth for nth in range(1, 6) if days.nth >> (which * 8 + nth) & 1]
        found += [f"the {_ORDINALS[nth]} {_WEEKDAYS[which]} of the month" for nth in nths]
        if days.last_weekdays >> which & 1:
            found.append(f"the last {_WEEKDAYS[which]} of the month")
    return _listed(found)


def _months(months: int) -> str:
    values = _values(months, 13)
    return "" if len(values) == 12 else f"in {_runs([_MONTHS[month - 1] for month in values], values)}"


def _values(bits: int, size: int) -> list[int]:
    return [value for value in range(size) if bits >> value & 1]


def _runs(names: list[str], values: list[int]) -> str:
    """The names of values, three or more in a row as "a to b"."""
    told, at = [], 0
    while at < len(values):
        end = at
        while end + 1 < len(values) and values[end + 1] == values[end] + 1:
            end += 1
        if end - at >= 2:
            told.append(f"{names[at]} to {names[end]}")
        else:
            told += names[at : end + 1]
        at = end + 1
    return _listed(told)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
