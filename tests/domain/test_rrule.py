"""Rules of RFC 5545 in a zone: what they give, clock changes, bounds, refusals."""

import time

import pytest

from mainspring.clock import Instant, instant
from mainspring.domain.recurrence import Recurrence, read
from mainspring.errors import InvalidSchedule, NeverFires


def ticks(rule: Recurrence, after: str, count: int) -> list[str]:
    found: list[str] = []
    moment: Instant | None = instant(after)
    while moment is not None and len(found) < count:
        moment = rule.next_after(moment)
        if moment is not None:
            found.append(rule.place.text(moment))
    return found


LAST_FRIDAY = "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0;BYSECOND=0"


def test_a_rule_keeps_its_local_time():
    rule = read({"rrule": LAST_FRIDAY, "tz": "Europe/Berlin", "start": "2026-01-01"})
    got = ticks(rule, "2026-02-28T00:00:00Z", 2)
    assert got == ["2026-03-27T17:00:00+01:00", "2026-04-24T17:00:00+02:00"]
    assert read(rule.document()) == rule


def test_a_time_in_a_gap_fires_once_right_after_it():
    rule = read({"rrule": "FREQ=DAILY", "tz": "Europe/Berlin", "start": "2025-03-29T02:30"})
    assert ticks(rule, "2025-03-29T12:00:00Z", 2) == ["2025-03-30T03:00:00+02:00", "2025-03-31T02:30:00+02:00"]


def test_an_interval_keeps_its_phase_however_late_one_asks():
    rule = read({"rrule": "FREQ=WEEKLY;INTERVAL=2", "start": "2020-01-01T08:00:00Z"})
    assert ticks(rule, "2026-01-01T00:00:00Z", 1) == ["2026-01-07T08:00:00+00:00"]


def test_a_rule_without_a_start_begins_when_the_schedule_was_made():
    rule = read({"rrule": "FREQ=DAILY;COUNT=2"}).anchored(instant("2026-01-01T10:00:00.5Z"))
    assert ticks(rule, "2025-01-01T00:00:00Z", 9) == ["2026-01-01T10:00:00+00:00", "2026-01-02T10:00:00+00:00"]


def test_until_is_the_end_and_days_may_be_left_out():
    rule = read(
        {
            "rrule": "FREQ=DAILY;UNTIL=20260104",
            "start": "2026-01-01T08:00",
            "tz": "Asia/Tokyo",
            "except": ["2026-01-02"],
        }
    )
    got = ticks(rule, "2025-01-01T00:00:00Z", 9)
    assert [text[:16] for text in got] == ["2026-01-01T08:00", "2026-01-03T08:00", "2026-01-04T08:00"]


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("FREQ=HOURLY", "FREQ must be DAILY"),
        ("INTERVAL=2", "FREQ must be DAILY"),
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL must be"),
        ("FREQ=DAILY;INTERVAL=-1", "INTERVAL must be"),
        ("FREQ=DAILY;COUNT=0", "COUNT must be"),
        ("FREQ=DAILY;COUNT=-1", "COUNT must be"),
        ("FREQ=DAILY;BYFOO=1", "there is no BYFOO"),
        ("FREQ=DAILY;BYHOUR=77", "BYHOUR has '77'"),
        ("FREQ=DAILY;BYHOUR=-1", "BYHOUR has '-1'"),
        ("FREQ=DAILY;BYMONTHDAY=0", "BYMONTHDAY has '0'"),
        ("FREQ=DAILY;BYMONTHDAY=1,-32", "BYMONTHDAY has '-32'"),
        ("FREQ=MONTHLY;BYMONTH=13", "BYMONTH has '13'"),
        ("FREQ=WEEKLY;BYDAY=1MO", "BYDAY has the number 1"),
        ("FREQ=MONTHLY;BYDAY=60FR", "BYDAY has the number 60"),
        ("FREQ=MONTHLY;COUNT=3;BYDAY=-6FR", "BYDAY has the number 6"),
        ("FREQ=YEARLY;BYMONTH=2;BYDAY=40FR", "BYDAY has the number 40"),
        ("DTSTART:20260101T000000\nRRULE:FREQ=DAILY", "told by start"),
        (7, "must be a text"),
    ],
)
def test_what_is_wrong_is_refused(rule: object, says: str):
    with pytest.raises(InvalidSchedule, match=says) as refused:
        read({"rrule": rule})
    assert refused.value.field == "rrule"


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;COUNT=5;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;INTERVAL=7;COUNT=5;BYDAY=FR",
        "FREQ=MONTHLY;BYMONTH=4;BYMONTHDAY=31",
    ],
)
def test_a_rule_that_never_fires_is_refused_soon(rule: str):
    """Not after a walk to the year 9999, which takes the processor for many seconds."""
    began = time.thread_time()
    with pytest.raises(NeverFires):
        read({"rrule": rule})  # from 1970-01-01, a Thursday
    assert time.thread_time() - began < 3


def test_a_rule_that_counts_its_times_ends_after_the_last():
    rule = read({"rrule": "FREQ=YEARLY;COUNT=2;BYMONTH=2;BYMONTHDAY=29;INTERVAL=25", "start": "2023-11-14T00:00Z"})
    first = rule.next_after(instant("2023-11-14T00:00Z"))
    assert first == instant("2048-02-29T00:00Z")
    second = rule.next_after(first)
    assert second == instant("2148-02-29T00:00Z")
    assert rule.next_after(second) is None
