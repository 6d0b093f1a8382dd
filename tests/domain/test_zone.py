"""Zones as spans: every change is found, and wall time leads back to the instants that show it."""

from datetime import UTC, datetime, timedelta

import pytest

from mainspring.clock import Instant, instant
from mainspring.domain.zone import zone

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "name", ["Africa/Casablanca", "Africa/Cairo", "Asia/Gaza", "Antarctica/Casey", "Antarctica/Troll", "Pacific/Apia"]
)
def test_no_change_of_the_clocks_is_missed(name: str):
    place = zone(name)
    second = int(instant("2005-01-01T00:00:00Z")) // 1_000_000
    for _ in range(33 * 366):
        second += 86_400
        offset = (EPOCH + timedelta(seconds=second)).astimezone(place.info).utcoffset()
        assert offset == timedelta(seconds=place.span(second).offset), second


def test_wall_time_leads_back_to_its_instants():
    berlin = zone("Europe/Berlin")
    wall = int(instant("2025-10-26T02:30:00Z")) // 1_000_000
    assert [berlin.text(instant_of) for instant_of in map(_micros, berlin.instants(wall))] == [
        "2025-10-26T02:30:00+02:00",
        "2025-10-26T02:30:00+01:00",
    ]
    skipped = int(instant("2025-03-30T02:30:00Z")) // 1_000_000
    assert berlin.instants(skipped) == []
    assert berlin.text(_micros(berlin.first_instant(skipped))) == "2025-03-30T03:00:00+02:00"


def _micros(second: int) -> Instant:
    return Instant(second * 1_000_000)
