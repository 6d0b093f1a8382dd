"""Cancels, timeouts and releases: the runner asks, kills after the grace what it can, and says what it can't."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from mainspring.domain.states import Outcome
from tests.patience import slowness
from tests.processes.runners.driver import Driver, driving, eventually, spin_up
from tests.processes.runners.looking import alive


@pytest.fixture(scope="module")
def runner() -> Iterator[Driver]:
    with driving() as driver:
        yield driver


@pytest.mark.parametrize("outcome", [Outcome.CANCELLED, Outcome.TIMED_OUT, Outcome.RELEASED])
@pytest.mark.parametrize("task", ["wait_long", "wait_thread", "wait_process", "wait_process_async"])
def test_a_job_that_is_asked_to_end_cleans_up_and_ends_as_asked(runner: Driver, task: str, outcome: Outcome):
    claim = runner.start(task)
    runner.until(lambda: runner.text(claim))
    runner.cancel(claim, outcome)
    ended = runner.end(claim)
    assert ended.outcome is outcome
    assert "cleaned up" in runner.text(claim)
    assert f"cancelled={task != 'x'}" in runner.text(claim)
    if outcome is Outcome.TIMED_OUT:
        assert ended.failure is not None
        assert ended.failure.type == "TimedOut"


def test_a_thread_that_looks_ends_by_itself(runner: Driver):
    claim = runner.start("wait_politely")
    runner.printed(claim, "waiting")
    runner.cancel(claim)
    assert runner.end(claim, within=2).outcome is Outcome.CANCELLED


def test_code_that_swallows_its_cancel_and_returns_is_reported_as_asked(runner: Driver):
    claim = runner.start("swallow")
    runner.printed(claim, "waiting")
    runner.cancel(claim)
    assert runner.end(claim).outcome is Outcome.CANCELLED
    assert "swallowed" in runner.text(claim)


def test_an_error_on_the_way_out_is_told(runner: Driver):
    claim = runner.start("break_on_the_way_out")
    runner.printed(claim, "waiting")
    runner.cancel(claim)
    ended = runner.end(claim)
    assert ended.outcome is Outcome.CANCELLED
    assert ended.failure is not None
    assert ended.failure.message == "while cleaning up"


def test_code_on_the_loop_that_ignores_its_cancel_is_stuck_once_and_asked_again(runner: Driver):
    claim = runner.start("ignore", times=3)
    runner.printed(claim, "waiting")
    runner.cancel(claim, grace=0.2)
    assert runner.end(claim).outcome is Outcome.CANCELLED
    assert runner.text(claim).count("ignored") == 3
    assert sum(runner.stuck(claim) for _ in range(1)) == 1


def test_a_cancel_before_the_first_step_and_one_after_the_end(runner: Driver):
    early = runner.start("wait_long")
    runner.cancel(early)
    assert runner.end(early).outcome is Outcome.CANCELLED
    assert runner.text(early) == ""
    late = runner.start("noop")
    assert runner.end(late).outcome is Outcome.SUCCEEDED
    runner.cancel(late)
    runner.ping(7)
    runner.until(lambda: 7 in runner.pongs())


def test_a_blocked_thread_is_stuck_and_the_others_go_on():
    with driving() as driver:
        claim = driver.start("stubborn_thread")
        driver.printed(claim, "waiting")
        driver.cancel(claim, grace=0.2)
        driver.until(lambda: driver.stuck(claim))
        assert driver.run("echo_thread", value=1).outcome is Outcome.SUCCEEDED
        assert claim not in driver.ends
        driver.process.kill()
        assert driver.death().killed == "asked"


def test_a_thread_that_was_blocked_ends_as_asked_when_it_comes_back(runner: Driver):
    claim = runner.start("block_thread", seconds=0.7)
    runner.printed(claim, "waiting")
    runner.cancel(claim, Outcome.TIMED_OUT)
    assert runner.end(claim).outcome is Outcome.TIMED_OUT


def test_a_process_that_ignores_sigterm_is_killed_after_the_grace(runner: Driver):
    claim = runner.start("stubborn_process")
    (pid,) = spin_up(runner, claim)
    began = time.monotonic()
    runner.cancel(claim, grace=0.5)
    assert runner.end(claim).outcome is Outcome.CANCELLED
    assert 0.4 < time.monotonic() - began < 3 * slowness()
    assert not alive(pid)


IGNORING = "trap '' TERM; sleep 1000 & echo pid $!; echo pid $$; sleep 1000"
FAMILIES = {
    "grandchildren": "sleep 1000 & echo pid $!; echo pid $$; sleep 1000",
    "grandchildren that ignore": IGNORING,
    "a session of its own": "setsid sh -c 'echo pid $$; sleep 1000' & sleep 1000",
    "a double fork": "(setsid sh -c 'echo pid $$; exec sleep 1000' </dev/null &) ; sleep 1000",
    "no variables": "(env -i setsid sh -c 'echo pid $$; exec sleep 1000' </dev/null &) ; sleep 1000",
}


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_of_a_cancelled_command_lives_on(runner: Driver, family: str):
    claim = runner.start("shell", script=FAMILIES[family])
    pids = spin_up(runner, claim, 2 if "grandchildren" in family else 1)
    runner.cancel(claim, Outcome.TIMED_OUT, grace=0.3)
    ended = runner.end(claim)
    assert ended.outcome is Outcome.TIMED_OUT
    assert not [pid for pid in pids if alive(pid)]


def test_a_child_that_holds_the_pipe_does_not_hold_the_job(runner: Driver):
    began = time.monotonic()
    claim = runner.start("shell", script="sleep 1000 & echo pid $!; echo done")
    ended = runner.end(claim)
    assert ended.outcome is Outcome.SUCCEEDED
    assert bytes(ended.result) == b'{"exit_code":0}'
    assert time.monotonic() - began < 5 * slowness()
    (pid,) = spin_up(runner, claim)
    assert not alive(pid)


def test_a_stray_by_double_fork_dies_with_its_python_job(runner: Driver):
    claim = runner.start("fork_away")
    assert runner.end(claim).outcome is Outcome.SUCCEEDED
    (pid,) = spin_up(runner, claim)
    assert not alive(pid)


def test_a_stopped_process_is_killed_too(runner: Driver):
    claim = runner.start("wait_process")
    (pid,) = spin_up(runner, claim)
    os.kill(pid, signal.SIGSTOP)
    runner.cancel(claim, grace=0.3)
    assert runner.end(claim).outcome is Outcome.CANCELLED
    assert not alive(pid)


def test_fifty_jobs_that_ignore_their_timeout_block_nobody():
    with driving() as driver:
        claims = [driver.start("shell", script=IGNORING) for _ in range(20)]
        pids = [pid for claim in claims for pid in spin_up(driver, claim, 2)]
        for claim in claims:
            driver.cancel(claim, Outcome.TIMED_OUT, grace=0.2)
        assert driver.run("noop", within=2).outcome is Outcome.SUCCEEDED
        for claim in claims:
            assert driver.end(claim, within=20).outcome is Outcome.TIMED_OUT
        eventually(lambda: not [pid for pid in pids if alive(pid)])
