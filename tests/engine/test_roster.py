"""Which runners a worker starts, and when: decided by values alone."""

from __future__ import annotations

from mainspring.clock import MILLISECOND, SECOND, Duration
from mainspring.domain.task import Lodging
from mainspring.worker.roster import RestartPacer, Roster

START = Duration(100 * SECOND)


def at(seconds: float) -> Duration:
    return Duration(START + round(seconds * SECOND))


def test_restarts_slow_down_while_runners_die_young_and_recover():
    pacer = RestartPacer()
    young, old = Duration(2 * SECOND), Duration(60 * SECOND)
    waits = [pacer.after_death(young) for _ in range(12)]
    assert waits[:4] == [100_000, 200_000, 400_000, 800_000]
    assert waits[-1] == 30 * SECOND
    assert pacer.after_death(old) == 0
    assert pacer.after_death(young) == 100 * MILLISECOND


def test_shared_runners_are_there_from_the_start_and_others_when_they_are_wanted():
    roster = Roster(2)
    assert roster.due(START) == [(1, Lodging.SHARED), (2, Lodging.SHARED)]
    assert roster.next_start() is None
    roster.want({Lodging.PROCESS: 1, Lodging.ALONE: 2})
    assert roster.due(START) == [(3, Lodging.PROCESS), (4, Lodging.ALONE), (5, Lodging.ALONE)]
    roster.want({Lodging.PROCESS: 1, Lodging.ALONE: 2})
    assert roster.due(START) == [], "those that have not said hello yet count"


def test_a_shared_runner_that_died_young_is_replaced_after_a_pause_one_that_leaves_at_once():
    roster = Roster(2)
    roster.due(START)
    roster.died(1, at(1))
    assert roster.due(at(1)) == []
    assert roster.next_start() == at(1.1)
    assert roster.due(at(1.1)) == [(3, Lodging.SHARED)]
    roster.leaves(2)
    assert roster.due(at(2)) == [(4, Lodging.SHARED)]
    roster.died(2, at(3))
    assert roster.next_start() is None


def test_demand_ends_with_the_runner_and_is_not_held_up_by_what_crashed_alone():
    roster = Roster(1)
    roster.due(START)
    roster.want({Lodging.ALONE: 2})
    assert [number for number, _ in roster.due(START)] == [2, 3]
    roster.greeted(2)
    roster.died(2, at(1))
    assert roster.next_start() is None, "nobody has said again that one is wanted"
    roster.want({Lodging.ALONE: 2})
    assert roster.due(at(1)) == [(4, Lodging.ALONE)]
    roster.died(4, at(1.2))
    roster.want({Lodging.ALONE: 2})
    assert roster.due(at(1.2)) == [], "it could not even load the app"
    assert roster.due(at(1.3)) == [(5, Lodging.ALONE)]
