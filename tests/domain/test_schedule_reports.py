"""What users of other schedulers have reported of clock changes and of what expressions mean."""

from __future__ import annotations

from itertools import pairwise

import pytest

from mainspring.clock import HOUR, Instant, instant
from mainspring.domain.lookahead import preview
from mainspring.domain.recurrence import Recurrence, read
from mainspring.errors import MainspringError


def local(expression: str, tz: str, after: str, count: int) -> list[str]:
    """The next ticks, as the clocks show them."""
    return [tick.local for tick in preview(read({"cron": expression, "tz": tz}), instant(after), count)]


def days_and_times(expression: str, tz: str, after: str, count: int) -> list[str]:
    return [text[5:16] for text in local(expression, tz, after, count)]


def test_no_midnight_is_jumped_over_when_the_clocks_go_forward():
    assert days_and_times("0 0 * * *", "US/Pacific", "2022-03-12T09:00:00Z", 4) == [
        f"03-{day}T00:00" for day in (13, 14, 15, 16)
    ]
    assert local("0 0 * * 0-4", "US/Central", "2021-03-12T12:00:00Z", 2) == [
        "2021-03-14T00:00:00-06:00",
        "2021-03-15T00:00:00-05:00",
    ]


@pytest.mark.parametrize(
    ("expression", "tz", "after", "day", "expected"),
    [
        ("0 2 * * *", "US/Eastern", "2013-03-09T12:00:00Z", "2013-03-10", ["2013-03-10T03:00:00-04:00"]),
        ("30 2 * * *", "Europe/Berlin", "2016-03-26T12:00:00Z", "2016-03-27", ["2016-03-27T03:00:00+02:00"]),
        ("0 2 * * *", "America/Montreal", "2019-03-09T12:00:00Z", "2019-03-10", ["2019-03-10T03:00:00-04:00"]),
        ("30 2 * * *", "Europe/Berlin", "2025-10-25T12:00:00Z", "2025-10-26", ["2025-10-26T02:30:00+02:00"]),
    ],
)
def test_a_time_that_is_skipped_or_repeated_fires_once_at_an_instant_that_there_is(
    expression: str, tz: str, after: str, day: str, expected: list[str]
):
    rule = read({"cron": expression, "tz": tz})
    assert [text for text in local(expression, tz, after, 5) if text.startswith(day)] == expected
    for text in expected:
        assert rule.place.text(instant(text)) == text, "from local time to the instant and back"


@pytest.mark.parametrize("expression", ["0 */2 * * *", "30 * * * *", "* * * * *"])
@pytest.mark.parametrize(("tz", "after"), [("Europe/Helsinki", "2017-10-28T22"), ("Europe/London", "2024-10-26T22")])
def test_in_the_repeated_hour_each_tick_is_later_than_the_one_before(expression: str, tz: str, after: str):
    rule = read({"cron": expression, "tz": tz})
    found: list[Instant] = [instant(f"{after}:00:00Z")]
    while found[-1] < found[0] + 12 * HOUR:
        tick = rule.next_after(found[-1])
        assert tick is not None
        found.append(tick)
    assert all(earlier < later for earlier, later in pairwise(found))
    assert max(later - earlier for earlier, later in pairwise(found)) <= 3 * HOUR


def test_hours_don_t_drift_after_the_change():
    assert days_and_times("0 7-8 * * *", "America/Los_Angeles", "2020-03-06T20:00:00Z", 6) == [
        f"03-0{day}T0{hour}:00" for day in (7, 8, 9) for hour in (7, 8)
    ]


def test_a_step_of_days_begins_anew_with_each_month():
    assert [text[5:10] for text in local("0 0 */10 * *", "UTC", "2021-01-01T12:00:00Z", 8)] == (
        ["01-11", "01-21", "01-31", "02-01", "02-11", "02-21", "03-01", "03-11"]
    )
    assert [text[5:10] for text in local("0 0 */5 * *", "UTC", "2022-02-20T12:00:00Z", 4)] == (
        ["02-21", "02-26", "03-01", "03-06"]
    )


def test_of_two_restricted_days_either_is_enough_and_the_words_say_so():
    assert [text[5:10] for text in local("0 11 4 * mon-wed", "UTC", "2026-01-01T00:00:00Z", 5)] == (
        ["01-04", "01-05", "01-06", "01-07", "01-12"]
    )
    assert [text[5:10] for text in local("0 0 13 * 5", "UTC", "2026-02-01T00:00:00Z", 3)] == ["02-06", "02-13", "02-20"]
    both: Recurrence = read({"cron": "0 0 */2 * 1"})
    assert {text[8:10] for text in local("0 0 */2 * 1", "UTC", "2026-01-01T12:00:00Z", 6)} <= {
        f"{day:02}" for day in range(1, 32, 2)
    }
    assert " or " in read({"cron": "0 0 13 * 5"}).words()
    assert " or " not in both.words()


@pytest.mark.parametrize(
    ("expression", "first"),
    [
        ("0 0 * * 7", "2026-01-04T00:00:00+00:00"),
        ("0 0 * * SUN", "2026-01-04T00:00:00+00:00"),
        ("0 0 * JAN-MAR *", "2026-01-02T00:00:00+00:00"),
        ("0 0 L * *", "2026-01-31T00:00:00+00:00"),
        ("5/15 * * * *", "2026-01-01T12:05:00+00:00"),
    ],
)
def test_what_is_accepted_has_the_documented_meaning(expression: str, first: str):
    assert local(expression, "UTC", "2026-01-01T12:00:00Z", 1) == [first]


@pytest.mark.parametrize("expression", ["60 * * * *", "* * * *", "* * * * * * *"])
def test_what_can_not_be_computed_is_refused_at_once(expression: str):
    with pytest.raises(MainspringError) as refused:
        read({"cron": expression})
    assert refused.value.field == "cron"
