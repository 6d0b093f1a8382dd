"""Servers that are killed while they fire, in real processes: no tick is lost or doubled, and another goes on."""

from __future__ import annotations

import signal
from itertools import pairwise

import pytest

from mainspring.clock import SECOND
from mainspring.domain.plan import Plan
from mainspring.domain.timetable import Origin, Outcome, Tick
from mainspring.faults import FaultPoint
from tests.patience import slowness
from tests.processes.world.apps import ledgers
from tests.processes.world.driver import World, state_of
from tests.processes.world.engines import both_engines, on_postgres

KILLED = -signal.SIGKILL
FIRING = (FaultPoint.FIRE_AFTER_READ, FaultPoint.FIRE_BEFORE_COMMIT, FaultPoint.FIRE_AFTER_COMMIT)
EACH_SECOND = Plan({"every": "1s"}, task="quick", overlap="allow", catch_up="all", cap=1000)


def regular(world: World) -> list[Tick]:
    """All ticks, oldest first."""
    return list(reversed(world.client.ticks("pulse", limit=1000).items))


@on_postgres
@pytest.mark.parametrize("point", [FaultPoint.FIRE_AFTER_READ, FaultPoint.FIRE_BEFORE_COMMIT])
def test_a_server_that_stops_amid_firing_holds_no_tick_back_and_fires_none_twice_when_it_goes_on(
    world: World, point: FaultPoint
) -> None:
    """Inside its transaction it has the ticks until the server of the database ends its session, which is 5 s."""
    world.client.declare(ledgers.app.catalog())
    world.client.put_schedule("pulse", EACH_SECOND, Origin.API)
    stopped = world.server(faults=f"{point}=stop@2")
    world.eventually(lambda: state_of(stopped.pid) == "T", what="a server that is stopped")
    stopped_at = world.now()
    before = len(regular(world))
    other = world.server()
    world.eventually(lambda: len(regular(world)) > before, what="ticks that go on")
    assert world.now() - stopped_at <= 5 + 2 * slowness()
    stopped.send(signal.SIGCONT)
    world.eventually(lambda: len(regular(world)) > before + 3, what="ticks of both")
    other.kill()
    stopped.kill()
    judge(world)


@both_engines
def test_a_server_killed_at_any_point_of_firing_loses_and_doubles_no_tick_and_a_second_takes_over(world: World) -> None:
    world.client.declare(ledgers.app.catalog())
    world.client.put_schedule("pulse", EACH_SECOND, Origin.API)
    for point in FIRING:
        doomed = world.server(faults=f"{point}=kill")
        assert doomed.wait(20) == KILLED
    first, second = world.server(), world.server()
    before = len(world.eventually(lambda: regular(world), what="a tick after the kills"))
    world.eventually(lambda: len(regular(world)) > before, what="ticks that go on")
    first.kill()
    last = regular(world)[-1].nominal
    world.eventually(lambda: regular(world)[-1].nominal > last + SECOND, within=10, what="the second server")
    second.kill()
    judge(world)


def judge(world: World) -> None:
    """No tick is missing, and each has made one job."""
    world.eventually(lambda: len(regular(world)) == world.count(), what="one job for each tick")
    ticks = regular(world)
    assert {tick.outcome for tick in ticks} == {Outcome.FIRED}
    for earlier, later in pairwise(ticks):
        assert later.nominal == earlier.nominal + SECOND
    jobs = [tick.job for tick in ticks]
    assert len(set(jobs)) == len(jobs)
