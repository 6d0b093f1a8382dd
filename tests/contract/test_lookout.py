"""The look-out: whoever has something to do is rung, nobody else is, and once it is done all is quiet again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mainspring.clock import DAY, MINUTE, SECOND, Duration, Instant
from mainspring.control import schedules, topics
from mainspring.domain.backfill import BackfillRequest
from mainspring.domain.plan import Plan
from mainspring.domain.timetable import Origin
from mainspring.domain.topic import SubscriptionWanted
from mainspring.engine.carry import Carry
from mainspring.engine.fire import Fire
from mainspring.engine.lookout import Lookout, Watched
from mainspring.engine.rollup import RollUp
from mainspring.engine.sweep import Sweep
from tests.contract.stories import LEASE, Story

SWEEP = Duration(5 * SECOND)


class Loops:
    """The loops of a server, which turn when they are rung."""

    def __init__(self, story: Story) -> None:
        store, clock = story.store, story.clock
        self.turns: dict[str, Watched] = {
            "sweeper": Sweep(store, clock, SWEEP),
            "scheduler": Fire(store, clock),
            "bus": Carry(store, clock),
            "roll-up": RollUp(store, clock),
        }
        self._rung: set[str] = set()
        watched = [(turn, lambda name=name: self._rung.add(name)) for name, turn in self.turns.items()]
        self._lookout = Lookout(store, watched, SECOND)

    def rung(self) -> set[str]:
        """Whom one look rings."""
        self._rung.clear()
        self._lookout.turn()
        return set(self._rung)

    def until_quiet(self) -> None:
        """All that can be done is done."""
        for _ in range(20):
            rung = self.rung()
            if not rung:
                return
            for name in rung:
                self.turns[name].turn()
        raise AssertionError(f"still rung: {self.rung()}")


def delayed(story: Story) -> None:
    story.submit(delay="5m")


def expiring(story: Story) -> None:
    story.submit(expires="5m")


def leased(story: Story) -> None:
    story.running()


def scheduled(story: Story) -> None:
    schedules.put(story.store, "pulse", Plan({"every": "5m"}, task="send"), origin=Origin.CLI, actor="ann")


@pytest.mark.parametrize(
    ("begin", "wait", "who"),
    [
        (delayed, 5 * MINUTE, "sweeper"),
        (expiring, 5 * MINUTE, "sweeper"),
        (leased, LEASE - 4 * SECOND, "sweeper"),
        (scheduled, 5 * MINUTE, "scheduler"),
    ],
)
def test_what_comes_by_time_rings_when_it_is_near_and_not_before(
    story: Story, begin: Callable[[Story], None], wait: int, who: str
) -> None:
    loops = Loops(story)
    begin(story)
    loops.until_quiet()
    story.clock.forward(Duration(wait - 3 * SECOND))
    assert loops.rung() == set()
    story.clock.forward(Duration(3 * SECOND))
    assert loops.rung() == {who}


def subscribed(story: Story) -> None:
    topics.subscribe(story.store, SubscriptionWanted("receipts", "paid", task="send"), actor="ann")


def published(story: Story) -> None:
    topics.publish(story.store, "paid", [{"n": 1}], actor="ann")


def submitted(story: Story) -> None:
    story.submit()


def hourly(story: Story) -> None:
    schedules.put(story.store, "pulse", Plan({"cron": "0 * * * *"}, task="send"), origin=Origin.CLI, actor="ann")


def backfilled(story: Story) -> None:
    now = story.clock.now()
    wanted = BackfillRequest(Instant(now - DAY), now, at_once=100)
    schedules.backfill(story.store, "pulse", wanted, actor="ann")


@pytest.mark.parametrize(
    ("before", "then", "who"),
    [
        (subscribed, published, "bus"),
        (hourly, backfilled, "scheduler"),
        (submitted, submitted, "roll-up"),
    ],
)
def test_what_somebody_writes_rings_who_has_to_do_with_it(
    story: Story, before: Callable[[Story], None], then: Callable[[Story], None], who: str
) -> None:
    loops = Loops(story)
    before(story)
    loops.until_quiet()
    then(story)
    assert loops.rung() == {who}
    loops.until_quiet()
