"""Jobs with a process of their own: commands, Python tasks, their surroundings, and how they die."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mainspring.domain.states import Outcome
from mainspring.process import children
from tests.processes.runners.driver import Driver, driving, eventually, spin_up
from tests.processes.runners.looking import alive, open_files, parent_of, words_of


@pytest.fixture(scope="module")
def runner() -> Iterator[Driver]:
    with driving() as driver:
        yield driver


def spawner_of(driver: Driver) -> int:
    (found,) = [pid for pid in children(driver.process.pid) if "mainspring.runner.spawner" in words_of(pid)]
    return found


def test_a_command_gets_its_parameters_as_whole_words(runner: Driver):
    claim = runner.start("words", text="a b; $(rm -rf /) 'c' \"d\"", number=1.5, flag=True, many=["x y", "-z"])
    ended = runner.end(claim)
    assert ended.outcome is Outcome.SUCCEEDED
    assert bytes(ended.result) == b'{"exit_code":0}'
    assert json.loads(runner.text(claim, "stdout"))[1:] == ["a b; $(rm -rf /) 'c' \"d\"", "1.5", "true", "x y", "-z"]


def test_a_command_that_fails_says_its_code_and_its_last_lines(runner: Driver):
    ended = runner.run("shell", script="echo out; echo oh no >&2; exit 3")
    assert (ended.outcome, ended.final, ended.sandbox) == (Outcome.FAILED, False, "S1, without limits")
    assert ended.failure is not None
    assert ended.failure.message == "the command exited with code 3: oh no"
    assert ended.failure.type == "CommandFailed"
    assert ended.failure.evidence["exit_code"] == 3
    assert ended.failure.evidence["last_output"] == "oh no"


def test_a_command_that_a_signal_ends_has_crashed_with_evidence(runner: Driver):
    ended = runner.run("shell", script="echo last words; kill -9 $$")
    assert ended.outcome is Outcome.CRASHED
    assert ended.failure is not None
    assert ended.failure.message == "the command was killed by SIGKILL"
    evidence = ended.failure.evidence
    assert (evidence["signal"], evidence["last_output"]) == ("SIGKILL", "last words")
    assert evidence["peak_memory"] > 100_000


@pytest.mark.parametrize(
    ("task", "words"), [("missing", "'no-such-program-at-all' was not found"), ("unexecutable", "is not executable")]
)
def test_a_program_that_can_not_be_started_fails_for_good(runner: Driver, task: str, words: str):
    ended = runner.run(task)
    assert (ended.outcome, ended.final) == (Outcome.FAILED, True)
    assert ended.failure is not None
    assert ended.failure.type == "CannotStart"
    assert words in ended.failure.message


@pytest.mark.parametrize("signum", [9, 11, 6])
def test_a_python_process_that_dies_has_crashed_and_the_runner_goes_on(runner: Driver, signum: int):
    claim = runner.start("die_process", signum=signum)
    ended = runner.end(claim)
    assert ended.outcome is Outcome.CRASHED
    assert ended.failure is not None
    assert ended.failure.evidence["signal"] == signal.Signals(signum).name
    assert runner.text(claim, "stdout") == "last words\n"
    assert ("in die_process" in runner.text(claim, "stderr")) == (signum != 9)
    assert runner.run("echo_process", value=2).outcome is Outcome.SUCCEEDED


def test_a_python_process_that_exits_without_a_word_has_crashed(runner: Driver):
    ended = runner.run("leave_process", code=3)
    assert ended.outcome is Outcome.CRASHED
    assert ended.failure is not None
    assert ended.failure.message == "its process exited with code 3 without reporting a result"
    assert ended.failure.evidence["exit_code"] == 3


def test_a_python_process_lives_in_clean_surroundings():
    secrets = {
        "MAINSPRING_DATABASE_URL": "sqlite:///secret",
        "MAINSPRING_TOKEN": "t",
        "AWS_SECRET": "s",
        "LC_ALL": "C.UTF-8",
    }
    with driving(env=secrets) as driver:
        claim = driver.start("look_around")
        ended = driver.end(claim)
        assert ended.outcome is Outcome.SUCCEEDED, ended
        seen = json.loads(bytes(ended.result))
        env = seen["env"]
        assert not {"AWS_SECRET", "MAINSPRING_DATABASE_URL", "MAINSPRING_TOKEN"} & set(env)
        assert env["LC_ALL"] == "C.UTF-8"
        assert (env["MAINSPRING_JOB"], env["MAINSPRING_ATTEMPT"], env["MAINSPRING_CLAIM"]) == ("1", "1", str(claim))
        assert seen["cwd"] == env["TMPDIR"]
        eventually(lambda: not Path(seen["cwd"]).exists())
        assert seen["umask"] == 0o077
        assert seen["session"]
        assert len(seen["fds"]) == 1


def test_a_command_runs_where_its_worker_does_with_clean_surroundings(tmp_path: Path):
    (tmp_path / "here.txt").write_text("relative paths work\n")
    with driving(cwd=str(tmp_path), env={"AWS_SECRET": "s"}) as driver:
        script = (
            "cat here.txt; echo secret=$AWS_SECRET; umask; ls /proc/self/fd | wc -l; echo t $TMPDIR; ls -ld $TMPDIR"
        )
        claim = driver.start("shell", script=script)
        driver.end(claim)
        lines = driver.text(claim, "stdout").splitlines()
        assert lines[0] == "relative paths work"
        assert lines[1] == "secret="
        assert lines[2] == "0077"
        assert int(lines[3]) == 4  # 0, 1, 2 and the folder that is listed
        assert lines[5].startswith("drwx------")
        eventually(lambda: not Path(lines[4].split()[1]).exists())


def test_killing_the_spawner_costs_no_job_and_the_next_gets_a_new_one(runner: Driver):
    claim = runner.start("wait_process")
    spin_up(runner, claim)
    old = spawner_of(runner)
    os.kill(old, signal.SIGKILL)
    eventually(lambda: not alive(old))
    assert runner.run("shell", script="exit 0").outcome is Outcome.SUCCEEDED
    assert spawner_of(runner) != old
    runner.cancel(claim)
    assert runner.end(claim).outcome is Outcome.CANCELLED


def test_killing_the_minder_ends_its_job_and_all_of_it(runner: Driver):
    claim = runner.start(
        "shell", script="(setsid sh -c 'echo pid $$; exec sleep 1000' &); sleep 0.1; echo pid $$; sleep 1000"
    )
    pids = spin_up(runner, claim, 2)
    os.kill(parent_of(pids[1]), signal.SIGKILL)
    ended = runner.end(claim)
    assert ended.outcome is Outcome.CRASHED
    eventually(lambda: not [pid for pid in pids if alive(pid)])


def test_many_short_processes_at_once_all_end_well(runner: Driver):
    jobs: list[tuple[str, dict[str, Any]]] = [("shell", {"script": "exit 0"}), ("echo_process", {"value": 1})]
    claims = [runner.start(task, **params) for _ in range(30) for task, params in jobs]
    assert {runner.end(claim, within=30).outcome for claim in claims} == {Outcome.SUCCEEDED}


def test_jobs_leave_no_descriptors_and_no_processes_behind(runner: Driver):
    runner.run("echo_process", value=1)
    before = len(open_files(runner.process.pid))
    for claim in [
        runner.start(task, **params)
        for task, params in (("shell", {"script": "true"}), ("echo_process", {"value": 1}), ("missing", {}))
        for _ in range(5)
    ]:
        runner.end(claim)
    eventually(lambda: len(open_files(runner.process.pid)) <= before)
    eventually(lambda: not children(spawner_of(runner)))
