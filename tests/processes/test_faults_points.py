"""Kills and freezes exactly at the named fault points, in real processes: all or nothing, and no end twice."""

from __future__ import annotations

import signal
from typing import Any

from mainspring.domain.states import Outcome, State
from mainspring.faults import FaultPoint
from tests.processes.world.driver import World, state_of
from tests.processes.world.engines import both_engines, on_engines, on_postgres

KILLED = -signal.SIGKILL
FAST: dict[str, Any] = {"lease": "1s", "sweep": "300ms"}

AT_WORK = {
    FaultPoint.DISPATCH_BEFORE_COMMIT: "sqlite",
    FaultPoint.DISPATCH_AFTER_COMMIT: "postgres",
    FaultPoint.START_BEFORE_SEND: "sqlite",
    FaultPoint.RENEW_BEFORE_WRITE: "postgres",
}
"""Where whole workers are killed; a process at each of them on each engine: tests/contract/test_kills.py."""


@on_engines("point", AT_WORK)
def test_a_worker_killed_at_any_point_of_its_turn_loses_no_job_and_ends_none_twice(
    world: World, point: FaultPoint
) -> None:
    jobs = world.submit_many("nap", [{"seconds": 0.05}] * 12)
    for nth in (1, 3):
        doomed = world.worker(slots=4, faults=f"{point}=kill@{nth}", ready=False, **FAST)
        assert doomed.wait(20) == KILLED
    world.worker(slots=12, **FAST)
    assert set(world.until_ended(jobs).values()) == {State.SUCCEEDED}


SWEEPING = {
    FaultPoint.SWEEP_AFTER_READ: "postgres",
    FaultPoint.SWEEP_BEFORE_COMMIT: "sqlite",
    FaultPoint.SWEEP_AFTER_COMMIT: "postgres",
}


@on_engines("point", SWEEPING)
def test_a_sweep_that_is_killed_again_and_again_is_taken_over(world: World, point: FaultPoint) -> None:
    lost = world.worker("lost", **FAST)
    job = world.submit("nap", seconds=0.5)
    world.started(job)
    lost.kill()
    for _ in range(1 if point is FaultPoint.SWEEP_AFTER_COMMIT else 3):
        sweeper = world.server(faults=f"{point}=kill", **FAST)
        assert sweeper.wait(20) == KILLED
    world.worker("last", **FAST)
    world.until_state(job, State.SUCCEEDED)
    assert world.outcomes(job) == [Outcome.LOST, Outcome.SUCCEEDED]


@both_engines
def test_a_sweep_frozen_between_look_and_write_changes_nothing_late(world: World) -> None:
    """The sweeper looks, is frozen, the owner finishes, the sweeper goes on: its write hits nothing."""
    owner = world.worker("owner", lease="2s")
    while True:
        job = world.submit("nap", seconds=6)
        world.started(job)
        sweeper = world.server(faults=f"{FaultPoint.SWEEP_AFTER_READ}=stop@1")
        owner.send(signal.SIGSTOP)
        world.eventually(lambda: state_of(sweeper.pid) == "T", within=20, what="the frozen sweep")  # noqa: B023
        if world.writable():
            break
        sweeper.send(signal.SIGKILL)  # another of its loops was amid a commit, which would lock everybody out
        owner.send(signal.SIGCONT)
    owner.send(signal.SIGCONT)
    ended = world.until_state(job, State.SUCCEEDED)
    sweeper.send(signal.SIGCONT)
    world.stays(lambda: world.job(job).state is State.SUCCEEDED, 1.5)
    assert ended.attempt == world.job(job).attempt


def test_a_submit_is_all_or_nothing_wherever_its_process_dies(world: World) -> None:
    world.worker()
    words = ("submit", "nap", "seconds=0")
    before = world.command(*words, faults=f"{FaultPoint.SUBMIT_BEFORE_COMMIT}=kill")
    assert before.returncode == KILLED
    assert world.count() == 0
    after = world.command(*words, faults=f"{FaultPoint.SUBMIT_AFTER_COMMIT}=kill")
    assert after.returncode == KILLED
    assert world.count() == 1, "stored, though nobody heard of it"
    world.eventually(lambda: world.count(state=State.SUCCEEDED) == 1)


@on_postgres
def test_a_cancel_is_done_or_not_done_wherever_its_process_dies(world: World) -> None:
    world.worker()
    job = world.submit("nap", seconds=30)
    world.started(job)
    died = world.command("cancel", str(job), faults=f"{FaultPoint.CANCEL_BEFORE_COMMIT}=kill")
    assert died.returncode == KILLED
    assert not world.job(job).cancel_requested
    died = world.command("cancel", str(job), faults=f"{FaultPoint.CANCEL_AFTER_COMMIT}=kill")
    assert died.returncode == KILLED
    world.until_state(job, State.CANCELLED)


def test_a_database_whose_making_was_killed_is_made_by_the_next_process(world: World) -> None:
    died = world.command("submit", "nap", "seconds=0", faults=f"{FaultPoint.MIGRATE_BEFORE_COMMIT}=kill")
    assert died.returncode == KILLED
    world.worker()
    job = world.submit("nap", seconds=0)
    world.until_state(job, State.SUCCEEDED)
