"""Cron expressions: what they mean, what is refused and why, and what clock changes do to them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaign.cron_oracle import failures
from mainspring.clock import Instant, instant
from mainspring.domain.cron import Cron
from mainspring.domain.recurrence import Recurrence, read
from mainspring.errors import InvalidCron, NeverFires


def ticks(rule: Recurrence, after: str, count: int) -> list[str]:
    found: list[str] = []
    moment: Instant | None = instant(after)
    while moment is not None and len(found) < count:
        moment = rule.next_after(moment)
        if moment is not None:
            found.append(rule.place.text(moment))
    return found


def days(expression: str, after: str, count: int, **options: Any) -> list[str]:
    return [text[5:10] for text in ticks(Cron(expression, **options), after, count)]


# ------------------------------------------------------------------------------------------------- what is meant
@pytest.mark.parametrize(
    ("expression", "after", "expected"),
    [
        ("0 0 */10 * *", "2021-02-20T00:00:00Z", "02-21 03-01 03-11 03-21 03-31 04-01"),  # the first of March too
        ("0 0 L * *", "2023-12-31T00:00:00Z", "01-31 02-29 03-31"),
        ("0 0 L-2 * *", "2016-01-30T00:00:00Z", "02-27 03-29"),
        ("0 0 LW * *", "2017-09-29T12:00:00Z", "10-31 11-30 12-29"),
        ("0 0 L-1W * *", "2017-01-01T00:00:00Z", "01-30 02-27"),
        ("0 0 1W * *", "2021-12-31T12:00:00Z", "01-03 02-01 03-01"),
        ("0 0 31W * *", "2020-01-01T00:00:00Z", "01-31 03-31 05-29"),
        ("0 0 * * 5#2", "2026-01-01T00:00:00Z", "01-09 02-13 03-13"),
        ("0 0 * * sun#5", "2026-01-01T00:00:00Z", "03-29 05-31"),
        ("0 0 * * 5L", "2026-01-01T00:00:00Z", "01-30 02-27"),
        ("0 0 * * FRIL", "2026-01-01T00:00:00Z", "01-30 02-27"),
        ("0 0 * * L2,L4", "2016-06-01T00:00:00Z", "06-28 06-30 07-26"),
        ("0 0 * * 7", "2026-01-01T00:00:00Z", "01-04 01-11"),
        ("0 0 * * fri-sun", "2024-01-01T00:00:00Z", "01-05 01-06 01-07 01-12"),
        ("0 0 * * thu-tue/3", "2024-01-01T00:00:00Z", "01-04 01-07 01-11"),
        ("0 0 1 nov-feb *", "2024-01-15T00:00:00Z", "02-01 11-01 12-01 01-01"),
        ("0 0 ? * wed", "2026-01-01T00:00:00Z", "01-07 01-14"),
        ("@MONTHLY", "2026-01-15T00:00:00Z", "02-01 03-01"),
    ],
)
def test_days(expression: str, after: str, expected: str):
    wanted = expected.split()
    assert days(expression, after, len(wanted)) == wanted


def test_of_two_day_fields_one_is_enough_unless_one_starts_with_a_star():
    assert days("0 0 13 * 5", "2026-01-01T00:00:00Z", 4) == ["01-02", "01-09", "01-13", "01-16"]
    assert days("0 0 13 * 5", "2026-01-01T00:00:00Z", 2, days="and") == ["02-13", "03-13"]
    assert days("0 0 */2 * 1", "2026-01-01T00:00:00Z", 2) == ["01-05", "01-19"]
    assert days("0 0 1-7 * */7", "2026-01-01T00:00:00Z", 2) == ["01-04", "02-01"]
    assert days("0 0 */100,1-7 * mon", "2020-01-01T00:00:00Z", 2) == ["01-06", "02-03"]


def test_times_of_day_with_steps_that_start_or_wrap_anywhere():
    assert [text[11:16] for text in ticks(Cron("5/20 22-1 * * *"), "2026-01-01T22:30:00Z", 4)] == [
        "22:45", "23:05", "23:25", "23:45",
    ]  # fmt: skip
    assert [text[11:16] for text in ticks(Cron("56-4/4 * * * *"), "2026-01-01T22:30:00Z", 4)] == [
        "22:56", "23:00", "23:04", "23:56",
    ]  # fmt: skip
    assert [text[11:19] for text in ticks(Cron("15/35 20-35/15 * * * *"), "2012-07-09T23:20:51Z", 3)] == [
        "23:35:15", "23:35:50", "00:20:15",
    ]  # fmt: skip


def test_the_29th_of_february_is_found_over_a_century():
    assert ticks(Cron("0 0 29 2 *"), "2096-03-01T00:00:00Z", 1) == ["2104-02-29T00:00:00+00:00"]
    assert Cron("0 0 29 2 *").next_after(instant("2197-01-01T00:00:00Z")) is None


# ----------------------------------------------------------------------------------------------------- clock changes
BERLIN_FORWARD, BERLIN_BACK = "2025-03-29T23:00:00Z", "2025-10-25T22:00:00Z"


@pytest.mark.parametrize(
    ("expression", "options", "after", "expected"),
    [
        # Berlin goes from 02:00 to 03:00: a fixed time in between fires once, right after
        ("30 2 * * *", {}, BERLIN_FORWARD, "03:00+02 02:30+02"),
        ("0,15,30 2 * * *", {}, BERLIN_FORWARD, "03:00+02 02:00+02"),
        ("30 2,3 * * *", {}, BERLIN_FORWARD, "03:00+02 03:30+02 02:30+02"),
        ("30 2 * * *", {"gap": "skip"}, BERLIN_FORWARD, "02:30+02"),
        ("*/20 2 * * *", {}, BERLIN_FORWARD, "02:00+02 02:20+02"),
        ("0 */2 * * *", {}, BERLIN_FORWARD, "04:00+02 06:00+02"),
        ("*/30 * * * *", {}, "2025-03-30T00:30:00Z", "03:00+02 03:30+02"),
        ("0-30/15 30 2 * * *", {}, BERLIN_FORWARD, "02:30+02"),
        # and back from 03:00 to 02:00
        ("30 2 * * *", {}, BERLIN_BACK, "02:30+02 02:30+01"),
        ("30 2 * * *", {"repeat": "last"}, BERLIN_BACK, "02:30+01 02:30+01"),
        ("30 2 * * *", {"repeat": "both"}, BERLIN_BACK, "02:30+02 02:30+01 02:30+01"),
        ("0 2,3 * * *", {}, BERLIN_BACK, "02:00+02 03:00+01 02:00+01"),
        ("*/30 2 * * *", {}, BERLIN_BACK, "02:00+02 02:30+02 02:00+01 02:30+01 02:00+01"),
        ("0 * * * *", {}, "2025-10-25T23:30:00Z", "02:00+02 02:00+01 03:00+01"),
    ],
)
def test_a_clock_change_in_berlin(expression: str, options: dict[str, str], after: str, expected: str):
    wanted = expected.split()
    rule = read({"cron": expression, "tz": "Europe/Berlin", **options})
    assert [text[11:16] + text[19:22] for text in ticks(rule, after, len(wanted))] == wanted


@pytest.mark.parametrize(
    ("expression", "zone", "after", "expected"),
    [
        # midnight does not exist, half hours, a missing day, a zone that changed its rule
        ("0 0 * * *", "America/Santiago", "2024-09-07T12", "2024-09-08T01:00:00-03:00 2024-09-09T00:00:00-03:00"),
        ("0 0 * * *", "Asia/Beirut", "2024-03-30T12", "2024-03-31T01:00:00+03:00 2024-04-01T00:00:00+03:00"),
        ("15 2 * * *", "Australia/Lord_Howe", "2017-09-30T12", "2017-10-01T02:30:00+11:00 2017-10-02T02:15:00+11:00"),
        ("45 1 * * *", "Australia/Lord_Howe", "2017-04-01T12", "2017-04-02T01:45:00+11:00 2017-04-03T01:45:00+10:30"),
        ("0 9 * * *", "Pacific/Apia", "2011-12-29T20", "2011-12-31T00:00:00+14:00 2011-12-31T09:00:00+14:00"),
        ("0 * * * *", "America/Caracas", "2016-05-01T06", "2016-05-01T02:00:00-04:30 2016-05-01T03:00:00-04:00"),
        ("0 2 * * *", "Europe/Istanbul", "2016-10-29T22", "2016-10-30T02:00:00+03:00 2016-10-31T02:00:00+03:00"),
        ("30 5 * * *", "Asia/Kolkata", "2024-03-31T00", "2024-04-01T05:30:00+05:30"),
        ("0 7,9 * * *", "America/Los_Angeles", "2020-03-08T00", "2020-03-08T07:00:00-07:00 2020-03-08T09:00:00-07:00"),
    ],
)
def test_a_clock_change_elsewhere(expression: str, zone: str, after: str, expected: str):
    wanted = expected.split()
    assert ticks(Cron(expression, zone), f"{after}:00:00Z", len(wanted)) == wanted


def test_every_minute_fires_180_times_in_the_three_hours_around_the_end_of_summer():
    got = ticks(Cron("* * * * *", "Europe/Paris"), "2020-10-25T00:29:59Z", 181)
    assert len([text for text in got if instant(text) < instant("2020-10-25T03:30:00Z")]) == 180
    assert len(set(got)) == 181


def test_random_expressions_agree_with_the_brute_force_oracle():
    assert failures(60, seed=7, count=3) == []


# ------------------------------------------------------------------------------------------------------- properties
STARTS = st.integers(instant("2015-01-01T00:00:00Z"), instant("2038-01-01T00:00:00Z")).map(Instant)
FIELDS = st.sampled_from(["*", "*/7", "0", "5", "1-3", "2,4", "3/5"])
RULES = st.builds(
    lambda minute, hour, day, weekday, zone, gap, repeat: read(
        {"cron": f"{minute} {hour} {day} * {weekday}", "tz": zone, "gap": gap, "repeat": repeat}
    ),
    FIELDS,
    FIELDS,
    st.sampled_from(["*", "1", "*/9", "L", "15W", "30"]),
    st.sampled_from(["*", "1", "fri-sun", "2#3", "5L"]),
    st.sampled_from(["UTC", "Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "America/Havana"]),
    st.sampled_from(["shift", "skip"]),
    st.sampled_from(["first", "last", "both"]),
)


@given(RULES, STARTS)
def test_ticks_increase_and_no_start_in_between_skips_or_repeats_one(rule: Recurrence, start: Instant):
    first = rule.next_after(start)
    assert first is not None
    assert first > start
    second = rule.next_after(first)
    assert second is not None
    assert second > first
    assert rule.next_after(Instant(first - 1)) == first
    assert rule.next_after(Instant((first + second) // 2)) == second
    assert read(rule.document()) == rule


# --------------------------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize("expression", ["0 0 30 2 *", "* * 31 4,6,9,11 *", "0 0 */100 * mon#4"])
def test_what_can_never_fire_is_refused_with_the_days_that_don_t_meet(expression: str):
    with pytest.raises(NeverFires, match="never fires: no month"):
        Cron(expression)


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("60 * * * *", "minute '60'.*The full hour is 0"),
        ("* 24 * * *", "hour '24'.*Midnight is 0"),
        ("* * * * 8", "day of week '8'.*8 is not in 0-7"),
        ("* * * * sunday", "Names have three letters: sun"),
        ("* * mon * *", "day of month 'mon'.*last field"),
        ("* * * * l", "Say which: 5L"),
        ("0 0 * * * 1 2026", "7 fields.*year field is not supported"),
        ("* * *", "3 fields; it must have 5"),
        ("@every 5m", "every='5m'"),
        ("@reboot", "A start of the machine is no time"),
        ("@fortnightly", "There are @annually"),
        ("H/15 * * * *", "H .a value picked by Jenkins"),
        ("rate(5 minutes)", "every='5m'"),
        ("${WHEN} * * * *", "template that was not filled in"),
        ("TZ=UTC 0 3 * * *", "second 'tz=utc'|The zone stands beside"),
        ("*/0 * * * *", "a step is at least 1"),
        ("0 0 5-1 * *", "runs backwards"),
        ("1,,2 * * * *", "nothing between two commas"),
        ("1-1_0 * * * *", "can't be read"),
        ("¹ * * * *", "can't be read"),
        ("* * 5L * *", "day of month '5l'"),
        ("* * * * 5#6", "day of week '5#6'"),
        (None, "must be a text"),
        ("* " * 600, "1,199 characters|1,200 characters"),
    ],
)
def test_a_refusal_says_the_field_the_value_and_what_would_be_right(expression: Any, says: str):
    with pytest.raises(InvalidCron, match=says):
        Cron(expression)


# ------------------------------------------------------------------------------------------------------------ words
@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 3 * * *", "at 03:00"),
        ("30 4 1,15 * 5", "at 04:30, on day 1 and 15 of the month or on Friday"),
        ("0 0 */15 jan-mar 1", "at 00:00, on day 1, 16 and 31 of the month, if that is Monday, in January to March"),
        ("*/5 * * * *", "every 5 minutes"),
        ("*/90 * * * *", "at minute 0 of every hour"),
        ("*/15 9-17 * * mon-fri", "every 15 minutes of hour 09 to 17, on Monday to Friday"),
        ("* * * * * *", "every second"),
        ("5 0 0 L * *", "at 00:00:05, on the last day of the month"),
        ("0 0 LW,15W * *", "at 00:00, on the weekday nearest to day 15 of the month and the last weekday of the month"),
        ("0 0 L-3 * *", "at 00:00, on 3 days before the last day of the month"),
        ("0 0 * * 5#2,6L", "at 00:00, on the second Friday of the month and the last Saturday of the month"),
    ],
)  # fmt: skip
def test_an_expression_in_words(expression: str, words: str):
    assert Cron(expression, "Asia/Tokyo").words() == f"{words}, Asia/Tokyo time"
