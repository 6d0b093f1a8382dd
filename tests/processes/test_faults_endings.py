"""Cancelling, timing out, crashing and retrying, with real processes below: what is recorded is what happened."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import apsw
import pytest

from mainspring.domain.job import JobFilter
from mainspring.domain.states import Charge, Outcome, State
from mainspring.errors import IllegalState
from tests.patience import slowness
from tests.processes.world.driver import World, is_zombie
from tests.processes.world.engines import both_engines

FAST: dict[str, Any] = {"lease": "1s", "sweep": "300ms"}
GRACE = 0.3
FAMILY = "sleep 1000 & setsid sleep 1000 & (setsid sleep 1000 &) ; sh -c 'sleep 1000 & wait' & "


def sleepers(world: World) -> list[int]:
    return [pid for pid in world.alive() if _argv(pid)[:2] == ["sleep", "1000"]]


def _argv(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return []


@pytest.mark.parametrize("how", ["cancel", "timeout"])
def test_no_child_of_a_command_outlives_its_end(working: World, how: str) -> None:
    lasts = 4 if how == "timeout" else 0  # a busy machine needs some of it to start all four
    options = {"timeout": f"{lasts}s"} if lasts else {}
    (job,) = working.submit_many("shell", [{"script": FAMILY + "wait"}], **options)
    working.eventually(lambda: len(sleepers(working)) == 4)
    asked_at = working.now()
    if how == "cancel":
        working.client.cancel(job)
    working.until_ended([job])
    working.eventually(lambda: not sleepers(working), within=lasts + GRACE + 2 - (working.now() - asked_at))
    expected = Outcome.CANCELLED if how == "cancel" else Outcome.TIMED_OUT
    assert working.outcomes(job) == [expected]


def test_no_child_of_a_python_process_outlives_its_cancel(working: World) -> None:
    job = working.submit("breed")
    job_pid = working.started(job).pid
    pids = [int(line) for line in working.eventually(lambda: _four(working.log_of(job)))]
    working.client.cancel(job)
    working.until_state(job, State.CANCELLED)
    working.eventually(lambda: all(is_zombie(pid) for pid in [job_pid, *pids]), within=GRACE + 1)


def _four(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip().isdigit()]
    return lines if len(lines) == 4 else []


@pytest.mark.parametrize("how", ["cancel", "timeout"])
def test_async_code_that_blocks_its_loop_on_a_child_ends_when_asked(world: World, how: str) -> None:
    world.worker(runners=1)
    (job,) = world.submit_many("block_on_child", [{}], **({"timeout": "500ms"} if how == "timeout" else {}))
    world.started(job)
    if how == "cancel":
        world.client.cancel(job)
    world.until_ended([job], within=12)
    if how == "cancel":
        assert world.job(job).state is State.CANCELLED
    else:
        assert world.outcomes(job) == [Outcome.TIMED_OUT]
    (child,) = [one.id for one in world.client.jobs(JobFilter(task="nap")).items]
    if how == "timeout":
        world.until_state(child, State.SUCCEEDED)


@both_engines
def test_a_cancel_needs_no_free_slot(world: World) -> None:
    world.worker(slots=1)
    jobs = {task: world.submit(task, seconds=60) for task in ("nap", "nap_thread", "nap_process")}
    for job in jobs.values():
        world.started(job)
        asked_at = world.now()
        world.client.cancel(job)
        world.until_state(job, State.CANCELLED, within=2 + GRACE)
        assert world.now() - asked_at <= (2 + GRACE) * slowness()
        assert world.outcomes(job) == [Outcome.CANCELLED]


@both_engines
def test_a_cancel_that_was_accepted_is_never_followed_by_success(world: World) -> None:
    world.worker(slots=20)
    jobs = world.submit_many("nap", [{"seconds": 0.02}] * 300)
    accepted, late = [], []

    def cancel(mine: list[int]) -> None:
        for job in mine:
            try:
                world.client.cancel(job)
            except IllegalState:
                late.append(job)
            else:
                accepted.append(job)

    threads = [threading.Thread(target=cancel, args=(jobs[part::4][:: 1 if part % 2 else -1],)) for part in range(4)]
    world.started(jobs[0])
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    states = world.until_ended(jobs)
    assert {states[job] for job in accepted} == {State.CANCELLED}
    assert {states[job] for job in late} <= {State.SUCCEEDED}
    assert len(accepted) + len(late) == 300


@both_engines
def test_deaf_jobs_are_killed_when_their_time_is_over_and_hold_nobody_up(world: World) -> None:
    world.worker(slots=4, processes=4)
    jobs = world.submit_many("deaf", [{}] * 6, retry={"max_attempts": 1})
    quick = world.submit_many("quick", [{}] * 20, priority=9)
    assert set(world.until_ended(jobs).values()) == {State.DEAD}
    assert all(world.outcomes(job) == [Outcome.TIMED_OUT] for job in jobs)
    assert all(is_zombie(line.pid) for line in world.ledger(kind="start") if line.job in jobs)
    assert set(world.until_ended(quick, within=5).values()) == {State.SUCCEEDED}


def test_a_busy_loop_in_a_process_is_ended_by_a_signal(working: World) -> None:
    job = working.submit("busy_process")
    pid = working.started(job).pid
    working.client.cancel(job)
    working.until_state(job, State.CANCELLED, within=2 + GRACE)
    assert is_zombie(pid)


def test_a_thread_that_does_not_heed_is_shown_as_asked_to_stop_until_it_ends(working: World) -> None:
    job = working.submit("busy_thread", seconds=1.5)
    working.started(job)
    answer = working.client.cancel(job)
    assert answer.state is State.RUNNING
    assert answer.cancel_requested
    working.until_state(job, State.CANCELLED)
    assert [line.kind for line in working.ledger(job)] == ["start", "end"]


def test_a_command_ends_with_its_main_process_whoever_holds_its_output(working: World) -> None:
    began = working.now()
    (job,) = working.submit_many("shell", [{"script": "echo before; sleep 1000 & echo after"}], timeout="20s")
    ended = working.until_state(job, State.SUCCEEDED)
    assert working.now() - began < 10 * slowness()
    assert working.log_of(ended.id).split() == ["before", "after"]
    working.eventually(lambda: not sleepers(working))


@both_engines
def test_a_job_that_keeps_killing_its_process_ends_dead_after_its_attempts(world: World) -> None:
    for name in "abc":
        world.worker(name, **FAST)
    poison = world.submit("die")
    others = world.submit_many("nap", [{"seconds": 0.05}] * 20)
    ended = world.until_state(poison, State.DEAD)
    assert len(world.ledger(poison, "start")) == 3
    assert world.outcomes(poison) == [Outcome.CRASHED] * 3
    assert ended.error is not None
    assert "SIGKILL" in ended.error.message
    assert set(world.until_ended(others).values()) == {State.SUCCEEDED}


def test_a_job_that_kills_its_shared_runner_is_found_and_its_neighbours_end_well(world: World) -> None:
    worker = world.worker(slots=10)
    neighbours = world.submit_many("nap", [{"seconds": 1}] * 5)
    culprit = world.submit("die_shared")
    assert world.until_state(culprit, State.DEAD, within=40).state is State.DEAD
    assert set(world.until_ended(neighbours, within=40).values()) == {State.SUCCEEDED}
    assert set(world.outcomes(culprit)) == {Outcome.CRASHED}
    assert all(len(world.attempts(job)) <= 2 for job in neighbours), "no neighbour goes down twice"
    told = world.attempts(neighbours[0])[0].failure
    assert told is not None
    assert told.message == (
        "The runner was killed by SIGKILL. 5 other jobs were in it: 4 of ledgers.nap, 1 of ledgers.die_shared."
    )
    assert {"job": culprit, "task": "ledgers.die_shared"} in told.evidence["neighbours"]
    error = world.job(culprit).error
    assert error is not None
    assert error.message.endswith("No other job was in it.")
    assert worker.status is None


def test_a_suspect_that_hangs_does_not_hold_up_the_other_suspects(world: World) -> None:
    world.worker(slots=10)
    hung = world.submit("nap", seconds=1000)
    neighbours = world.submit_many("nap", [{"seconds": 0.5}] * 6)
    culprit = world.submit("die_shared")
    assert set(world.until_ended(neighbours, within=20).values()) == {State.SUCCEEDED}
    world.until_state(culprit, State.DEAD, within=20)
    assert world.job(hung).state is State.RUNNING
    assert all(world.outcomes(job) == [Outcome.CRASHED, Outcome.SUCCEEDED] for job in neighbours)
    assert world.outcomes(hung) == [Outcome.CRASHED, None]


def test_commands_and_processes_live_on_when_the_shared_runner_crashes(world: World) -> None:
    world.worker(slots=10)
    own = [world.submit("nap_process", seconds=1.5), world.submit("shell", script="sleep 1.5; echo done")]
    world.started(own[0])
    world.until_state(own[1], State.RUNNING)
    culprit = world.submit("die_shared")
    world.until_state(culprit, State.DEAD, within=20)
    assert set(world.until_ended(own).values()) == {State.SUCCEEDED}
    assert [world.outcomes(job) for job in own] == [[Outcome.SUCCEEDED]] * 2
    assert world.log_of(own[1]) == "done\n"


def test_what_went_down_with_the_runner_of_processes_runs_again_and_is_not_charged_an_attempt(world: World) -> None:
    world.worker("solid", slots=4)
    own = [world.submit("nap_process", seconds=0.7), world.submit("shell", script="sleep 0.7")]
    world.started(own[0])
    world.eventually(lambda: len(world.active()["solid"].pids["runners"]) == 2, what="the runner of processes")
    os.kill(world.active()["solid"].pids["runners"][1], signal.SIGKILL)
    assert set(world.until_ended(own).values()) == {State.SUCCEEDED}
    for job in own:
        first, second = world.attempts(job)
        assert (first.outcome, first.charge, second.outcome) == (Outcome.CRASHED, Charge.SUSPECT, Outcome.SUCCEEDED)
        assert first.failure is not None
        assert "ran no code of theirs" in first.failure.message


def test_a_killed_runner_is_replaced_and_its_jobs_run_again(world: World) -> None:
    worker = world.worker("solid", slots=4)
    jobs = world.submit_many("nap", [{"seconds": 0.7}] * 4)
    for job in jobs:
        world.started(job)
    os.kill(world.runner_of("solid"), signal.SIGKILL)
    assert set(world.until_ended(jobs).values()) == {State.SUCCEEDED}
    assert all(world.outcomes(job) == [Outcome.CRASHED, Outcome.SUCCEEDED] for job in jobs)
    assert worker.status is None


@both_engines
def test_2000_tiny_jobs_under_the_fastest_sweep_end_once_each(world: World) -> None:
    world.server(lease="1s", sweep="100ms")
    for name in "ab":
        world.worker(name, lease="1s", sweep="100ms")
    world.submit_many("quick", [{}] * 2000)
    world.eventually(lambda: world.count(state=State.SUCCEEDED) == 2000, within=40)
    assert len(world.ledger(kind="start")) == 2000


def test_rows_that_were_spoiled_by_hand_fail_by_themselves(world: World) -> None:
    jobs = world.submit_many("nap", [{"seconds": 0}] * 20)
    spoiled = apsw.Connection(str(world.database))
    for job, change in ((jobs[0], "params = '{\"seconds\": '"), (jobs[1], 'params = \'{"seconds": "long"}\'')):
        spoiled.execute(f"update job set {change} where id = {job}")
    spoiled.execute(f"update job set task = 'ledgers.gone' where id = {jobs[2]}")
    spoiled.close()
    world.worker(slots=20)
    fine = jobs[3:]
    assert set(world.until_ended(fine).values()) == {State.SUCCEEDED}
    states = world.until_ended(jobs[:2])
    assert set(states.values()) == {State.DEAD}
    for job in jobs[:2]:
        error = world.job(job).error
        assert error is not None
        assert error.message
    assert world.until_ended([jobs[2]])[jobs[2]] is State.DEAD, "a task that nobody knows fails; it blocks none"


def test_children_of_a_job_are_submitted_with_it_as_parent_and_can_be_awaited(working: World) -> None:
    job = working.submit("parent", count=3)
    children = working.until_state(job, State.SUCCEEDED).result
    assert [working.job(child).parent for child in children] == [job] * 3
    assert json.dumps(children)
