"""``python -m campaign.cron_oracle [--cases 20000] [--seed 1]``: random expressions against a brute-force oracle.

The oracle shares nothing with the engine: it walks UTC minute by minute, asks zoneinfo what the clocks show and looks
whether each field holds that. Expressions are made as sets first, so that it needs no parser. Zones are those with
clock changes of every kind, from 2015 to 2037; a start is near a change of the clocks half of the time.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from mainspring.chance import SeededChance
from mainspring.clock import Instant
from mainspring.domain.cron import Cron
from mainspring.errors import NeverFires

ZONES = (
    "UTC", "Europe/Berlin", "Europe/London", "America/New_York", "America/Los_Angeles", "America/Santiago",
    "America/Asuncion", "Asia/Beirut", "Africa/Cairo", "America/Havana", "Australia/Lord_Howe", "Asia/Kolkata",
    "America/St_Johns", "Pacific/Apia", "Europe/Istanbul", "America/Sao_Paulo", "Africa/Casablanca", "Asia/Amman",
    "America/Caracas", "Asia/Pyongyang", "Asia/Tehran", "Pacific/Chatham", "Antarctica/Troll",
)  # fmt: skip
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE = timedelta(minutes=1)
_HORIZON = 3 * 1440


class Field(NamedTuple):
    """A field as it is written, its values, and whether it starts with a star."""

    text: str
    values: frozenset[int]
    star: bool


class Case(NamedTuple):
    """An expression with its options, a zone and a start in minutes since 1970."""

    fields: tuple[Field, ...]
    zone: str
    start: int
    gap: str
    repeat: str
    days: str

    @property
    def expression(self) -> str:
        return " ".join(field.text for field in self.fields)


def a_field(chance: SeededChance, low: int, high: int, star: float) -> Field:
    """A field of one of the forms that an expression may have."""
    if chance.fraction() < star:
        return Field("*", frozenset(range(low, high + 1)), star=True)
    form = chance.whole(0, 5)
    first = chance.whole(low, high)
    if form == 0:
        step = chance.whole(1, max(2, (high - low) // 2))
        return Field(f"*/{step}", frozenset(range(low, high + 1, step)), star=True)
    if form == 1:
        last = chance.whole(first, high)
        return Field(f"{first}-{last}", frozenset(range(first, last + 1)), star=False)
    if form == 2:
        last, step = chance.whole(first, high), chance.whole(1, 5)
        return Field(f"{first}-{last}/{step}", frozenset(range(first, last + 1, step)), star=False)
    if form == 3:
        values = frozenset(chance.whole(low, high) for _ in range(chance.whole(2, 4)))
        return Field(",".join(map(str, sorted(values))), values, star=False)
    return Field(str(first), frozenset([first]), star=False)


def a_case(chance: SeededChance) -> Case:
    """An expression that often fires around a clock change, and a start before one of those."""
    zone = chance.pick(ZONES)
    hours = a_field(chance, 0, 23, 0.4) if chance.fraction() < 0.5 else a_field(chance, 0, 3, 0.0)
    fields = (
        a_field(chance, 0, 59, 0.2),
        hours if hours.text[0] != "*" or len(hours.values) == 24 else a_field(chance, 0, 23, 0.4),
        a_field(chance, 1, 31, 0.7),
        a_field(chance, 1, 12, 0.85),
        a_field(chance, 0, 6, 0.7),
    )
    start = chance.whole(16436 * 1440, 24836 * 1440)
    if chance.fraction() < 0.5:
        start = near_a_change(zone, start) - chance.whole(0, 1500)
    gap, repeat, days = (
        chance.pick(("shift", "skip")),
        chance.pick(("first", "last", "both")),
        chance.pick(("or", "and")),
    )
    return Case(fields, zone, start, gap, repeat, days)


def near_a_change(zone: str, start: int) -> int:
    """The first minute, from some day on, whose offset is another than the day's before; the start itself if none."""
    info = ZoneInfo(zone)
    day = start
    for _ in range(370):
        if shown(info, day).utcoffset() != shown(info, day + 1440).utcoffset():
            while shown(info, day).utcoffset() == shown(info, day + 1).utcoffset():
                day += 1
            return day + 1
        day += 1440
    return start


def shown(info: ZoneInfo, minute: int) -> datetime:
    """What the clocks show at this minute since 1970."""
    return (_EPOCH + minute * _MINUTE).astimezone(info)


def holds(case: Case, wall: datetime) -> bool:
    """Whether the fields hold what a clock shows."""
    minutes, hours, days, months, weekdays = case.fields
    if wall.minute not in minutes.values or wall.hour not in hours.values or wall.month not in months.values:
        return False
    day, weekday = wall.day in days.values, wall.isoweekday() % 7 in weekdays.values
    either = case.days == "or" and not days.star and not weekdays.star
    return (day or weekday) if either else (day and weekday)


def oracle(case: Case, count: int) -> list[int]:
    """The first ticks after the start within the horizon, in minutes since 1970."""
    info = ZoneInfo(case.zone)
    fixed = not (case.fields[0].star or case.fields[1].star)
    found: list[int] = []
    before = shown(info, case.start)
    for minute in range(case.start + 1, case.start + _HORIZON):
        wall = shown(info, minute)
        fires = holds(case, wall)
        naive, naive_before = wall.replace(tzinfo=None), before.replace(tzinfo=None)
        if fixed and naive - naive_before > _MINUTE and case.gap == "shift":
            skipped = naive_before + _MINUTE
            while skipped < naive:
                fires = fires or holds(case, skipped)
                skipped += _MINUTE
        if fires and fixed and not _wanted_pass(case, info, minute, naive):
            fires = False
        if fires:
            found.append(minute)
            if len(found) == count:
                break
        before = wall
    return found


def _wanted_pass(case: Case, info: ZoneInfo, minute: int, naive: datetime) -> bool:
    """Whether a fixed time fires at this minute, if the clocks show it twice."""
    if case.repeat == "both":
        return True
    other = range(minute - 180, minute) if case.repeat == "first" else range(minute + 1, minute + 181)
    here = shown(info, minute).utcoffset()
    if shown(info, other[0]).utcoffset() == here == shown(info, other[-1]).utcoffset():
        return True
    return all(shown(info, there).replace(tzinfo=None) != naive for there in other)


def engine(case: Case, count: int) -> list[int]:
    """The same of the product."""
    rule = Cron(case.expression, case.zone, case.gap, case.repeat, case.days)  # type: ignore[arg-type]
    found: list[int] = []
    moment: Instant | None = Instant(case.start * 60_000_000)
    while len(found) < count:
        moment = rule.next_after(moment) if moment is not None else None
        if moment is None or moment >= (case.start + _HORIZON) * 60_000_000:
            break
        found.append(moment // 60_000_000)
    return found


def failures(cases: int, seed: int, count: int = 6) -> list[str]:
    """What does not agree among so many cases."""
    chance, wrong, tried = SeededChance(seed), [], 0
    while tried < cases:
        case = a_case(chance)
        try:
            Cron(case.expression, days=case.days)  # type: ignore[arg-type]
        except NeverFires:
            continue
        tried += 1
        ours, theirs = engine(case, count), oracle(case, count)
        if ours != theirs:
            wrong.append(
                f"{case.expression!r} {case.zone} from minute {case.start} {case[3:]}: {ours} and not {theirs}"
            )
    return wrong


def main() -> int:
    """Try so many cases; 1 when any does not agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    wrong = failures(asked.cases, asked.seed)
    sys.stdout.write(f"{asked.cases:,} cases in {len(ZONES)} zones, 2015-2037: {len(wrong)} differ\n")
    for line in wrong[:10]:
        sys.stdout.write(f"  {line}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
