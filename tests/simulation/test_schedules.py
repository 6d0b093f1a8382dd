"""Simulated years of schedules: each due tick has one record and at most one job, whoever dies while it fires."""

from __future__ import annotations

import pytest

from mainspring.clock import DAY, Duration
from tests.simulation.ticking import Ticking


@pytest.mark.parametrize("seed", range(2))
def test_a_year_of_three_schedulers_with_kills_and_jumps_doubles_and_loses_nothing(seed: int) -> None:
    world = Ticking(seed, 12)
    world.live(Duration(366 * DAY))
    assert world.wrong() == []
    assert world.kills > 10
    assert world.nested > 100


def test_without_the_key_of_ticks_doubled_ones_are_found() -> None:
    world = Ticking(0, 12)
    world.drop_the_key_of_ticks()
    world.live(Duration(60 * DAY))
    assert any("jobs at" in wrong for wrong in world.wrong())
