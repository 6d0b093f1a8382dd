"""Servers that are killed while they fire, in real processes: no tick is lost or doubled, and another goes on."""

from __future__ import annotations

import signal
from itertools import pairwise

from mainspring.clock import SECOND
from mainspring.domain.plan import Plan
from mainspring.domain.timetable import Origin, Outcome, Tick
from mainspring.faults import FaultPoint
from tests.processes.world.apps import ledgers
from tests.processes.world.driver import World
from tests.processes.world.engines import both_engines

KILLED = -signal.SIGKILL
FIRING = (FaultPoint.FIRE_AFTER_READ, FaultPoint.FIRE_BEFORE_COMMIT, FaultPoint.FIRE_AFTER_COMMIT)
EACH_SECOND = Plan({"every": "1s"}, task="quick", overlap="allow", catch_up="all", cap=1000)


def regular(world: World) -> list[Tick]:
    """All ticks, oldest first."""
    return list(reversed(world.client.ticks("pulse", limit=1000).items))


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
    world.eventually(lambda: len(regular(world)) == world.count(), what="one job for each tick")
    ticks = regular(world)
    assert {tick.outcome for tick in ticks} == {Outcome.FIRED}
    for earlier, later in pairwise(ticks):
        assert later.nominal == earlier.nominal + SECOND
    jobs = [tick.job for tick in ticks]
    assert len(set(jobs)) == len(jobs)
