"""A queue with room for one job at a time, many workers that ask for it, and one of them dies: no two jobs overlap."""

from __future__ import annotations

import os
import signal
from typing import Any

from mainspring.domain.queue import QueueChange
from mainspring.domain.states import Outcome, State
from tests.patience import slowness
from tests.processes.world.driver import World
from tests.processes.world.engines import both_engines

FAST: dict[str, Any] = {"lease": "1s", "sweep": "300ms"}


def alone(world: World, killed: int) -> None:
    """Each job ends before the next begins; the first attempt of one ended with its worker."""
    running: list[tuple[int, int]] = []
    for line in world.ledger():
        if line.kind == "start":
            assert running in ([], [(killed, 1)]), f"{line} began beside {running}"
            running = [(line.job, line.attempt)]
        else:
            running.remove((line.job, line.attempt))


@both_engines
def test_jobs_of_a_queue_with_room_for_one_never_overlap_and_its_place_comes_back_with_a_dead_worker(
    world: World,
) -> None:
    for name in "abcd":
        world.worker(name, slots=4, **FAST)
    queue = world.client.tasks()[0].queue
    world.client.change_queue(queue, QueueChange(limit=1))
    (first,) = world.submit_many("nap", [{"seconds": 60}], retry={"max_attempts": 1, "max_losses": 0})
    world.started(first)
    jobs = world.submit_many("nap", [{"seconds": 0.01}] * 50)
    os.kill(world.active()[world.attempts(first)[0].worker].pid, signal.SIGKILL)
    killed_at = world.now()
    assert set(world.until_ended(jobs).values()) == {State.SUCCEEDED}
    assert world.outcomes(first) == [Outcome.LOST]
    assert min(world.started(job).at for job in jobs) - killed_at <= 2.3 * slowness(), "lease + sweep + 1 s"
    alone(world, first)
