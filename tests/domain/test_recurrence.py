"""Recurrences: intervals without drift, bounds, exclusions, and documents that read back."""

from typing import Any

import pytest
from msgspec import structs

from mainspring.clock import Instant, duration, instant, instant_text
from mainspring.domain.plan import Plan, altered, checked
from mainspring.domain.recurrence import Recurrence, jittered, read
from mainspring.errors import InvalidDuration, InvalidInstant, InvalidSchedule, MainspringError, UnknownZone


def ticks(rule: Recurrence, after: str, count: int) -> list[str]:
    found: list[str] = []
    moment: Instant | None = instant(after)
    while moment is not None and len(found) < count:
        moment = rule.next_after(moment)
        if moment is not None:
            found.append(rule.place.text(moment))
    return found


def test_an_interval_is_counted_from_its_start_and_does_not_drift():
    rule = read({"every": "7m", "start": "2026-11-29T00:03:00Z"})
    assert ticks(rule, "2026-11-28T00:00:00Z", 2) == ["2026-11-29T00:03:00+00:00", "2026-11-29T00:10:00+00:00"]
    assert ticks(rule, "2026-12-29T05:00:00Z", 1) == ["2026-12-29T05:01:00+00:00"]


def test_an_interval_without_a_start_begins_one_interval_after_it_was_made():
    rule = read({"every": "2h"}).anchored(instant("2026-11-01T00:30:00-04:00"))
    assert ticks(rule, "2026-11-01T00:30:00-04:00", 2) == ["2026-11-01T06:30:00+00:00", "2026-11-01T08:30:00+00:00"]


def test_an_interval_follows_elapsed_time_over_a_clock_change():
    rule = read({"every": "2h", "start": "2026-10-31T23:30:00-04:00", "tz": "America/Toronto"})
    got = ticks(rule, "2026-10-31T22:30:00-04:00", 3)
    assert got == ["2026-10-31T23:30:00-04:00", "2026-11-01T01:30:00-04:00", "2026-11-01T02:30:00-05:00"]


def test_bounds_hold_the_first_and_the_last_tick():
    rule = read({"cron": "0 3 * * *", "tz": "Europe/Berlin", "start": "2026-12-01", "end": "2026-12-02T03:00"})
    got = ticks(rule, "2026-01-01T00:00:00Z", 9)
    assert got == ["2026-12-01T03:00:00+01:00", "2026-12-02T03:00:00+01:00"]


def test_one_instant_fires_once():
    rule = read({"at": "2026-12-01T03:00:00+01:00"})
    assert ticks(rule, "2026-01-01T00:00:00Z", 9) == ["2026-12-01T02:00:00+00:00"]
    assert rule.next_after(instant("2026-12-01T02:00:00Z")) is None


def test_excluded_days_are_days_of_the_schedule_s_zone():
    calendar = {"name": "feast", "dates": ["2026-12-25/2026-12-26", "01-01"], "weekdays": ["Sun"]}
    rule = read({"cron": "30 23 * * *", "tz": "America/New_York", "except": [calendar]})
    got = ticks(rule, "2026-12-24T12:00:00Z", 9)
    assert [text[5:10] for text in got] == [
        "12-24", "12-28", "12-29", "12-30", "12-31", "01-02", "01-04", "01-05", "01-06",
    ]  # fmt: skip


def test_a_long_exclusion_of_a_frequent_rule_is_jumped_over():
    rule = read({"cron": "* * * * * *", "except": ["2026-01-01/2046-01-01"]})
    assert ticks(rule, "2026-06-01T00:00:00Z", 1) == ["2046-01-02T00:00:00+00:00"]


@pytest.mark.parametrize(
    "document",
    [
        {"cron": "0 3 * * mon", "tz": "Europe/Berlin", "gap": "skip", "repeat": "both", "days": "and"},
        {"every": "30s"},
        {"every": "1h30m", "start": "2026-11-29T00:00:00Z", "end": "2027-11-29T00:00:00Z"},
        {"at": "2026-12-01T02:00:00Z", "tz": "Asia/Tokyo"},
        {"cron": "@daily", "tz": "UTC", "start": "2026-11-29T00:00:00Z", "except": [{"dates": ["12-25"]}]},
    ],
)
def test_a_document_reads_back_as_an_equal_value(document: dict[str, Any]):
    rule = read(document)
    assert read(rule.document()) == rule
    exact = {name: instant_text(instant(value)) for name, value in document.items() if name in {"start", "end", "at"}}
    assert rule.document() == document | exact


@pytest.mark.parametrize(
    ("document", "error", "field"),
    [
        ("0 3 * * *", InvalidSchedule, "recurrence"),
        ({}, InvalidSchedule, "recurrence"),
        ({"cron": "0 3 * * *", "every": "1h"}, InvalidSchedule, "every"),
        ({"cron": "0 3 * * *", "zone": "UTC"}, InvalidSchedule, "zone"),
        ({"cron": "0 3 * * *", "tz": "Europe/Berlln"}, UnknownZone, "tz"),
        ({"cron": "0 3 * * *", "tz": None}, UnknownZone, "tz"),
        ({"cron": "0 3 * * *", "tz": {}}, UnknownZone, "tz"),
        ({"cron": {}}, InvalidSchedule, "cron"),
        ({"rrule": "FREQ=DAILY", "gap": {}}, InvalidSchedule, "gap"),
        ({"rrule": "FREQ=DAILY", "repeat": "twice"}, InvalidSchedule, "repeat"),
        ({"cron": "0 3 * * *", "gap": "close"}, InvalidSchedule, "gap"),
        ({"every": "100ms"}, InvalidSchedule, "every"),
        ({"every": "soon"}, InvalidDuration, "every"),
        ({"at": "tomorrow"}, InvalidInstant, "at"),
        ({"every": "1h", "start": 7}, InvalidInstant, "start"),
        ({"cron": "@daily", "start": "2026-12-02", "end": "2026-12-01"}, InvalidSchedule, "end"),
        ({"cron": "@daily", "except": "12-25"}, InvalidSchedule, "except"),
        ({"cron": "@daily", "except": ["Christmas"]}, InvalidSchedule, "except"),
        ({"cron": "@daily", "except": [{"weekdays": ["sun", "someday"]}]}, InvalidSchedule, "except"),
        ({"cron": "@daily", "except": [{"days": []}]}, InvalidSchedule, "except"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(document: object, error: type[MainspringError], field: str):
    with pytest.raises(error) as refused:
        read(document)
    assert refused.value.field == field


def test_a_near_zone_is_named():
    with pytest.raises(UnknownZone, match="Europe/Berlin"):
        read({"cron": "@daily", "tz": "Europe/Berlln"})


def test_jitter_never_reaches_the_next_tick():
    rule = read({"every": "30s", "start": "2026-11-29T00:00:00Z"})
    tick = instant("2026-11-29T00:00:30Z")
    assert jittered(rule, tick, duration("0s"), 0.9) == tick
    assert jittered(rule, tick, duration("10s"), 0.5) == tick + 5_000_000
    assert jittered(rule, tick, duration("1h"), 0.999999999) < tick + 30_000_000


@pytest.mark.parametrize(
    ("stated", "made"),
    [
        ({"tz": "Asia/Tokyo"}, {"cron": "0 3 * * *", "tz": "Asia/Tokyo", "days": "and", "end": "2030-01-01"}),
        ({"cron": "0 4 * * *"}, {"cron": "0 4 * * *", "tz": "Europe/Berlin", "days": "and", "end": "2030-01-01"}),
        ({"end": None, "days": None}, {"cron": "0 3 * * *", "tz": "Europe/Berlin"}),
        ({"every": "5m", "tz": None}, {"every": "5m", "end": "2030-01-01"}),
        ({"at": "2029-01-01T00:00"}, {"at": "2029-01-01T00:00", "tz": "Europe/Berlin"}),
    ],
)
def test_a_change_keeps_what_it_does_not_name(stated: dict[str, Any], made: dict[str, Any]) -> None:
    before = Plan({"cron": "0 3 * * *", "tz": "Europe/Berlin", "days": "and", "end": "2030-01-01"}, task="t", cap=7)
    assert altered(before, stated) == structs.replace(before, recurrence=made)
    assert read(made) is not None


def test_a_change_of_what_a_rule_can_not_have_is_refused() -> None:
    with pytest.raises(InvalidSchedule, match="by every has no 'gap'"):
        checked(altered(Plan({"every": "5m"}, task="t"), {"gap": "skip"}))
