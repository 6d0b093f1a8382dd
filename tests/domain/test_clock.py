"""Durations and instants: what people may write, what is refused, and that nothing is lost on the way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainspring.clock import (
    LONGEST,
    Duration,
    Instant,
    SystemClock,
    duration,
    duration_text,
    from_seconds,
    instant,
    instant_text,
    seconds,
)
from mainspring.errors import InvalidDuration, InvalidInstant


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("250ms", 250_000),
        ("30s", 30_000_000),
        ("10m", 600_000_000),
        ("2h", 7_200_000_000),
        ("1d", 86_400_000_000),
        ("1w", 604_800_000_000),
        ("5us", 5),
        ("1h30m", 5_400_000_000),
        ("1h 30m 5s", 5_405_000_000),
        (" 1.5H ", 5_400_000_000),
        ("0", 0),
        ("0s", 0),
        (30, 30_000_000),
        (0.25, 250_000),
        (0, 0),
    ],
)
def test_durations_are_read_as_people_write_them(text: str | float, microseconds: int) -> None:
    assert duration(text) == microseconds


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        " ",
        "30",
        "s",
        "-1s",
        "1s-",
        "1 s 2",
        "1x",
        "1e3s",
        "1s1",
        "ten minutes",
        "٣s",
        "101 years",
        "40000d",
        "9" * 400 + "s",
        -1,
        -0.001,
        float("nan"),
        float("inf"),
        10**400,
        1e15,
        True,
        None,
        [1],
        {"s": 1},
    ],
)
def test_what_is_no_duration_is_refused_with_the_value_and_the_right_form(wrong: object) -> None:
    with pytest.raises(InvalidDuration, match="Write 250ms, 30s, 10m") as caught:
        duration(wrong)  # type: ignore[arg-type]
    assert repr(wrong) in caught.value.message
    assert caught.value.code == "invalid_duration"


@given(st.integers(0, LONGEST))
def test_every_duration_survives_its_text(length: int) -> None:
    assert duration(duration_text(Duration(length))) == length


@given(st.integers(0, 10**15))
def test_every_duration_survives_seconds(length: int) -> None:
    assert from_seconds(seconds(Duration(length))) == length


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2026-11-29T03:00:00Z", "2026-11-29T03:00:00Z"),
        ("2026-11-29T04:00:00+01:00", "2026-11-29T03:00:00Z"),
        (" 2026-11-29T03:00:00.000001+00:00 ", "2026-11-29T03:00:00.000001Z"),
        ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
    ],
)
def test_instants_are_read_with_their_offset_and_written_in_utc(text: str, same: str) -> None:
    assert instant_text(instant(text)) == same


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "tomorrow",
        "2026-11-29",
        "2026-11-29T03:00:00",
        "2026-13-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",  # a day before the first
        "9999-12-31T23:59:59-14:00",  # a day behind the last
        1_700_000_000,
        None,
    ],
)
def test_what_is_no_instant_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidInstant, match="Write ISO 8601 with an offset") as caught:
        instant(wrong)  # type: ignore[arg-type]
    assert caught.value.code == "invalid_instant"


@given(
    st.datetimes(datetime(1800, 1, 1), datetime(9000, 1, 1)),  # noqa: DTZ001 - Hypothesis adds the zone
    st.integers(-14 * 60, 14 * 60),
)
def test_an_instant_is_the_same_moment_whatever_its_offset(moment: datetime, minutes: int) -> None:
    moment = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    read = instant(moment.isoformat())
    assert instant(instant_text(read)) == read
    assert datetime.fromisoformat(instant_text(read)) == moment
    assert read == (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def test_an_instant_beyond_the_calendar_is_shown_as_its_last() -> None:
    assert instant_text(Instant(2**62)).startswith("9999-12-31T23:59:59")


def test_the_systems_clocks_go_forward_and_count_microseconds() -> None:
    clock = SystemClock()
    before, now = clock.monotonic(), clock.now()
    clock.wait(Duration(2_000))
    assert clock.monotonic() - before >= 2_000
    assert abs(now - datetime.now(UTC).timestamp() * 1_000_000) < 60_000_000


def test_a_negative_wait_is_none() -> None:
    SystemClock().wait(Duration(-5))
