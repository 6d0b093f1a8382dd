"""Draining, signals and what a process leaves behind: nothing is lost, nothing waits for long, no second set stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

from mainspring.domain.states import Outcome, State
from tests.patience import slowness
from tests.processes.world.driver import LEASE, World, command, is_zombie
from tests.processes.world.engines import both_engines

FAST: dict[str, Any] = {"lease": "1s", "sweep": "300ms"}


@both_engines
def test_a_job_that_outlasts_the_drain_is_given_back_in_the_same_second(world: World) -> None:
    worker = world.worker(drain="2s")
    job = world.submit("nap", seconds=60)
    world.started(job)
    told_at = world.now()
    worker.send(signal.SIGTERM)
    world.until_state(job, State.QUEUED)
    assert 1.9 <= world.now() - told_at <= 2 + 1 * slowness()
    assert worker.wait() == 0
    assert world.outcomes(job) == [Outcome.RELEASED]
    other = world.worker(slots=1)
    world.started(job, 2, within=1)
    assert world.job(job).state is State.RUNNING
    world.client.cancel(job)
    world.until_state(job, State.CANCELLED)
    assert other.status is None


@both_engines
def test_a_drain_keeps_the_lease_alive_until_the_job_has_ended(world: World) -> None:
    draining = world.worker("draining", drain="30s", **FAST)
    job = world.submit("nap", seconds=4)
    world.started(job)
    world.worker("idle", **FAST)
    draining.send(signal.SIGTERM)
    world.eventually(lambda: "a second signal" in draining.said, what="the worker's word that it drains")
    waiting = world.submit("nap", seconds=0)
    world.until_state(waiting, State.SUCCEEDED)
    assert world.attempts(waiting)[-1].worker == "idle", "a draining worker takes nothing more"
    assert draining.wait() == 0
    assert world.job(job).state is State.SUCCEEDED
    assert world.outcomes(job) == [Outcome.SUCCEEDED]
    assert world.attempts(job)[0].worker == "draining"


def test_ctrl_c_twice_gives_the_job_back_at_once_and_a_new_start_runs_it(world: World) -> None:
    up = world.up()
    job = world.submit("nap", seconds=2)
    first = world.started(job)
    os.killpg(up.pid, signal.SIGINT)  # as a terminal does: to the whole group
    world.eventually(lambda: "a second signal gives back" in up.said, what="the worker's word that it drains")
    os.killpg(up.pid, signal.SIGINT)
    world.until_state(job, State.QUEUED, within=3)
    assert up.wait() == 0
    assert "given back" in up.said
    assert is_zombie(first.pid)
    world.up()
    world.until_state(job, State.SUCCEEDED)
    assert world.outcomes(job) == [Outcome.RELEASED, Outcome.SUCCEEDED]


@both_engines
def test_jobs_due_tomorrow_hold_up_no_shutdown(world: World) -> None:
    worker = world.worker()
    jobs = world.submit_many("quick", [{}] * 1000, delay="1d")
    told_at = world.now()
    assert worker.stop() == 0
    assert world.now() - told_at < 2 * slowness()
    assert world.count(state=State.SCHEDULED) == len(jobs)


@both_engines
def test_a_delayed_job_starts_once_and_in_time_however_short_the_lease(world: World) -> None:
    for name in "abc":
        world.worker(name, **FAST)
    server = world.server(**FAST)
    submitted_at = world.now()
    (job,) = world.submit_many("quick", [{}], delay="5s")
    world.eventually(lambda: world.now() - submitted_at > 2)
    server.kill()
    world.server(**FAST)
    world.until_state(job, State.SUCCEEDED)
    (start,) = world.ledger(job, "start")
    assert 5 <= start.at - submitted_at <= 5 + 1 * slowness()
    assert world.outcomes(job) == [Outcome.SUCCEEDED]


def test_10_starts_and_stops_under_a_shell_leave_one_set_of_processes(world: World) -> None:
    job = 0
    for number in range(10):
        up = world.up(ready=number == 9, shell='"$@"; exit $?', **FAST)
        if number == 0:
            job = world.submit("nap", seconds=0.3)
        elif number != 9:
            world.eventually(lambda up=up, least=number % 4: up.said or len(roles(world)) > least)  # type: ignore[misc]
        os.killpg(up.pid, signal.SIGTERM)  # the shell, and what it runs, as a service manager does
        up.wait()
        world.eventually(lambda: not roles(world), what=f"the end of set {number}")
    world.up(shell='"$@"; exit $?')
    world.until_state(job, State.SUCCEEDED)
    world.eventually(lambda: sorted(roles(world)) == ["runner", "server", "up", "worker"])
    assert set(world.active()), "it works"


def test_a_shell_that_is_killed_alone_leaves_a_set_that_no_second_can_join(world: World) -> None:
    first = world.up(shell='"$@"; exit $?')
    first.kill()
    second = world.up(ready=False)
    assert second.wait() == 4
    assert "Another `mainspring up` runs" in second.said
    assert sorted(roles(world)) == ["runner", "server", "up", "worker"]
    (left,) = [pid for pid in world.alive() if "mainspring up" in command(pid) and "sh -c" not in command(pid)]
    os.kill(left, signal.SIGTERM)
    world.eventually(lambda: not roles(world))


def test_a_number_in_a_lock_file_means_nothing_even_if_a_process_has_it(world: World) -> None:
    unrelated = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
    try:
        for lock in ("up", "tree"):
            (world.folder / f"m.db.{lock}.lock").write_text(f"{unrelated.pid}\n")
        world.up()
        job = world.submit("nap", seconds=0)
        world.until_state(job, State.SUCCEEDED)
        assert unrelated.poll() is None
    finally:
        unrelated.kill()
        unrelated.wait()


@both_engines
def test_a_killed_job_process_stops_no_worker_and_an_unclean_end_is_no_success(world: World) -> None:
    worker = world.worker(slots=2)
    job = world.submit("nap_process", seconds=60)
    os.kill(world.started(job).pid, signal.SIGKILL)  # as the kernel does when memory is short
    assert world.started(job, 2)
    first = world.attempts(job)[0]
    assert first.outcome is Outcome.CRASHED
    assert first.failure is not None
    assert first.failure.evidence["signal"] == "SIGKILL"
    world.client.cancel(job)
    world.until_state(job, State.CANCELLED)
    after = world.submit("nap", seconds=0)
    world.until_state(after, State.SUCCEEDED)
    assert worker.status is None
    worker.kill()
    assert worker.status != 0


def test_a_tree_whose_supervisor_is_killed_drains_and_ends_by_itself(world: World) -> None:
    up = world.up(drain="20s")
    job = world.submit("nap", seconds=1.5)
    world.started(job)
    up.kill()
    world.eventually(lambda: not world.alive(), within=LEASE + 8, what="the end of the tree")
    assert world.job(job).state is State.SUCCEEDED
    assert world.outcomes(job) == [Outcome.SUCCEEDED]


def roles(world: World) -> list[str]:
    """What runs in the world, by role; shells and guards left out."""
    found = []
    for pid in world.alive():
        words = command(pid)
        if "sh -c" not in words:
            found += [role for role in ("up", "server", "worker", "runner") if f"mainspring {role}" in words]
    return found
