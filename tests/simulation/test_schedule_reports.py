"""What users of other schedulers have reported of clocks that jump, restarts and edits, under a virtual clock."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from mainspring.chance import SeededChance
from mainspring.clock import DAY, HOUR, MINUTE, SECOND, Duration, Instant
from mainspring.control import schedules as control
from mainspring.control.catalog import declare
from mainspring.domain.plan import DeclaredSchedule, Plan
from mainspring.domain.task import Catalog, Executor, Task
from mainspring.domain.timetable import Origin, Outcome, Tick
from mainspring.engine.fire import Fire
from mainspring.store import Store
from mainspring.testing.image import fresh_store
from mainspring.testing.virtual import VirtualClock

SEND = Task("shop.send", "shop", Executor.ASYNC, "shop", {"type": "object"}, {})


class Desk:
    """A store with schedules, and one server at a time."""

    def __init__(self) -> None:
        self.clock = VirtualClock(Instant(1_767_225_600_000_000))
        self.store: Store = fresh_store(self.clock, SeededChance(1))
        declare(self.store, Catalog("shop", "one", (SEND,)))
        self.fire = Fire(self.store, self.clock)

    def put(self, name: str, every: str = "1m", **values: Any) -> None:
        plan = Plan({"every": every}, **({"task": "send", "overlap": "allow"} | values))
        control.put(self.store, name, plan, origin=Origin.API, actor="test")

    def restart(self) -> None:
        self.fire = Fire(self.store, self.clock)

    def live(self, length: int, step: int = SECOND) -> None:
        """Time passes, and the server looks."""
        for _ in range(length // step):
            self.clock.advance(Duration(step))
            while self.fire.turn() == 0:
                pass

    def ticks(self, name: str) -> list[Tick]:
        """Oldest first."""
        return list(reversed(control.listed_ticks(self.store, name, cursor=None, limit=1000).items))

    def fired(self, name: str) -> list[Instant]:
        return [tick.nominal for tick in self.ticks(name) if tick.outcome is Outcome.FIRED]


@pytest.fixture
def desk() -> Iterator[Desk]:
    one = Desk()
    yield one
    one.store.close()


def test_a_day_ahead_for_a_minute_fires_at_most_one_of_each_and_repeats_none(desk: Desk) -> None:
    for name, every in (("minutely", "1m"), ("hourly", "1h"), ("daily", "1d")):
        desk.put(name, every)
    desk.live(5 * MINUTE)
    before = {name: len(desk.fired(name)) for name in ("minutely", "hourly", "daily")}
    desk.clock.jump(Duration(DAY))
    desk.fire.turn()
    assert all(len(desk.fired(name)) - count <= 1 for name, count in before.items())
    desk.live(MINUTE)
    desk.clock.jump(Duration(-DAY))
    desk.live(2 * HOUR, step=MINUTE)
    for name in before:
        assert len(set(desk.fired(name))) == len(desk.fired(name))


def test_a_server_never_sleeps_long_wherever_the_clock_was(desk: Desk) -> None:
    desk.put("minutely")
    desk.clock.jump(Duration(2 * HOUR))
    desk.live(2 * MINUTE)
    desk.clock.jump(Duration(-2 * HOUR))
    assert desk.fire.turn() <= SECOND


def test_a_server_that_wakes_late_each_time_skips_no_tick(desk: Desk) -> None:
    for number in range(50):
        desk.put(f"s{number}")
    desk.live(20 * MINUTE, step=7 * SECOND + 300_000)
    for number in range(50):
        fired = desk.fired(f"s{number}")
        assert len(fired) >= 19
        assert all(later - earlier == MINUTE for earlier, later in pairwise(fired))


def test_restarts_within_the_minute_of_a_tick_send_nothing_again(desk: Desk) -> None:
    desk.put("minutely")
    for _ in range(60):
        desk.restart()
        desk.live(6 * SECOND)
    fired = desk.fired("minutely")
    assert len(fired) == len(set(fired)) == 6


def test_declaring_the_same_twenty_times_leaves_one_schedule_with_its_next_tick(desk: Desk) -> None:
    pulse = DeclaredSchedule("pulse", Plan({"every": "1m"}, task="shop.send"))
    found = set()
    for _ in range(20):
        declare(desk.store, Catalog("shop", "two", (SEND,), schedules=(pulse,)))
        desk.restart()
        (one,) = control.listed(desk.store)
        found.add((one.id, one.next_tick))
        desk.clock.advance(Duration(SECOND))
    assert len(found) == 1


def test_three_days_without_a_server_are_caught_up_as_was_said_and_all_is_counted(desk: Desk) -> None:
    wanted = {"none": 0, "latest": 1, "all": 100}
    for catch_up in wanted:
        desk.put(catch_up, catch_up=catch_up)
    desk.clock.advance(Duration(3 * DAY + 30 * SECOND))
    desk.fire.turn()
    for catch_up, count in wanted.items():
        assert len(desk.fired(catch_up)) == count
        assert sum(tick.ticks for tick in desk.ticks(catch_up)) == 3 * 24 * 60
    desk.live(MINUTE)
    assert {len(desk.fired(name)) - count for name, count in wanted.items()} == {1}, "afterwards all is as ever"


def test_pauses_and_resumes_in_quick_succession_fire_a_tick_once_at_most(desk: Desk) -> None:
    desk.put("minutely")
    chance = SeededChance(3)
    for _ in range(200):
        if chance.fraction() < 0.5:
            control.pause(desk.store, "minutely", note=None, actor="ann")
        control.resume(desk.store, "minutely", note=None, actor="ann")
        desk.live(2 * SECOND)
    ticks = desk.ticks("minutely")
    assert len({tick.nominal for tick in ticks}) == len(ticks)
    assert 3 <= len(desk.fired("minutely")) <= 7
