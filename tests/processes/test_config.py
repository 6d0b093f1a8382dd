"""The configuration of processes that run: changed by file, command and REST while jobs run, and heeded by all."""

from __future__ import annotations

import re
import signal

import httpx2

from mainspring.domain.states import Outcome
from tests.processes.world.driver import World


def timed_out(world: World) -> bool:
    """Whether a job of a second is over its time."""
    (job,) = world.submit_many("at_most_once", [{"seconds": 1}], priority=0)
    world.until_ended([job])
    return world.outcomes(job) == [Outcome.TIMED_OUT]


def test_the_limit_of_a_queue_is_changed_while_its_jobs_run_and_all_workers_heed_it(world: World) -> None:
    file = world.folder / "mainspring.toml"
    up = world.up("--workers", "2", "--name", "w")
    queue = world.client.tasks()[0].queue
    address = world.eventually(lambda: re.search(r"listening at (http\S+:\d+)", up.said))
    config = f"{address[1]}/api/v1/config"

    def runs(most: int, how: str) -> None:
        world.eventually(lambda: world.client.queue(queue).running == most, what=f"{most} at once, by {how}")

    file.write_text(f"[queue.{queue}]\nlimit = 2\n[task.ledgers.at_most_once]\ntimeout = '200ms'\n")
    world.eventually(lambda: world.client.queue(queue).limit == 2)
    world.submit_many("nap", [{"seconds": 0.3}] * 200)
    runs(2, "file")
    assert world.command("config", "set", f"queue.{queue}.limit=5", "worker.w-1.slots=3").returncode == 0
    runs(5, "command")
    world.eventually(lambda: timed_out(world), what="a task's timeout, by file")
    world.eventually(lambda: world.active()["w-1"].slots == 3)
    assert httpx2.patch(config, json={f"queue.{queue}.limit": 3}, trust_env=False).status_code == 200
    runs(3, "REST")
    file.write_text(f"[queue.{queue}]\nlimit = 0\n")
    world.eventually(lambda: f"{file} line 2: queue.{queue}.limit is 0" in up.said)
    assert httpx2.patch(config, json={f"queue.{queue}.limit": None}, trust_env=False).status_code == 200
    runs(2, "file, as it was when it was right")
    up.send(signal.SIGHUP)  # nobody's terminal has gone, so that nobody is to end
    file.write_text(f"[queue.{queue}]\nlimit = 6\n")
    runs(6, "file")
    assert up.status is None
    assert up.stop(60) == 0
