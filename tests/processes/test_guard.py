"""The guard kills its runner with everything under it when nobody vouches for it any more, and says how it ended."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mainspring.clock import MILLISECOND, SECOND, Duration
from mainspring.errors import ProtocolViolation
from mainspring.process import descendants
from mainspring.worker.forensics import RunnerDeath
from mainspring.worker.runners import GUARD, RunnerProcess, RunnerSpec
from tests.patience import slowness
from tests.processes.runners.driver import driving, eventually, let_go, spin_up
from tests.processes.runners.looking import alive, open_files, resident, variables_of

HIDING = "(setsid sh -c 'exec sleep 1000' </dev/null &) ; (env -i setsid sh -c 'exec sleep 1000' &)"
FAMILY = f"sleep 1000 & {HIDING} ; sleep 1000"


def started(*argv: str) -> RunnerProcess:
    """Any program under a guard, once the guard has told its pid."""
    process = RunnerProcess.start(RunnerSpec(argv=argv), 1)
    eventually(lambda: process.poll_death() or process.pid)
    return process


def family(process: RunnerProcess, count: int) -> list[int]:
    """All that live under the guard, once there are so many."""
    return under(process.guard_pid, count)


def under(guard: int, count: int) -> list[int]:
    def pids() -> list[int]:
        found = descendants(guard)
        return found if len(found) >= count else []

    return eventually(pids)


def ended(process: RunnerProcess, *, within: float = 5.0) -> RunnerDeath:
    death = eventually(process.poll_death, within=within, what="the death")
    let_go(process)
    return death


def test_told_to_kill_it_leaves_nothing():
    process = started("sh", "-c", FAMILY)
    pids = family(process, 5)
    process.kill()
    death = ended(process)
    assert (death.killed, death.evidence["signal"]) == ("asked", "SIGKILL")
    assert not [pid for pid in pids if alive(pid)]


def test_when_the_deadline_passes_it_leaves_nothing():
    process = started("sh", "-c", FAMILY)
    pids = family(process, 5)
    now = Duration(time.monotonic_ns() // 1000)
    process.extend(Duration(now + 10 * SECOND))
    process.extend(Duration(now + 300 * MILLISECOND))
    death = ended(process)
    assert 0.3 <= (time.monotonic_ns() // 1000 - now) / 1e6 < 1.3 * slowness()
    assert death.killed == "deadline"
    assert death.sentence.endswith("as its lease could not be renewed in time.")
    assert not [pid for pid in pids if alive(pid)]


def test_an_extended_deadline_does_not_strike():
    process = started("sleep", "1000")
    until = time.monotonic() + 0.8
    while time.monotonic() < until:
        process.extend(Duration(time.monotonic_ns() // 1000 + 300 * MILLISECOND))
        select.select([process.guard_fd], [], [], 0.05)
        assert process.poll_death() is None
    process.kill()
    assert ended(process).killed == "asked"


def test_what_a_runner_leaves_behind_goes_with_it():
    process = started("sh", "-c", "(setsid sh -c 'exec sleep 1000' </dev/null >/dev/null 2>&1 &) ; sleep 0.3; exit 3")
    pids = family(process, 2)
    death = ended(process)
    assert (death.killed, death.evidence["exit_code"]) == (None, 3)
    assert death.failure.message == "The runner exited with code 3."
    assert not [pid for pid in pids if alive(pid)]


def test_a_program_that_can_not_be_started_is_told():
    process = started("no-such-program-at-all")
    death = ended(process)
    assert death.sentence == "The runner could not be started: no-such-program-at-all: No such file or directory."


def test_a_killed_guard_takes_its_runner_along():
    with driving() as driver:
        claim = driver.start("start_and_forget")
        (stray,) = spin_up(driver, claim)
        command = driver.start(
            "shell", script="(setsid sh -c 'echo pid $$; exec sleep 1000' &) ; echo pid $$; sleep 1000"
        )
        pids = [stray, driver.process.pid, *spin_up(driver, command, 2)]
        work = Path(driver.process._work)
        os.kill(driver.process.guard_pid, signal.SIGKILL)
        death = driver.death()
        assert death.killed == "guard"
        assert death.sentence == "The runner was killed by SIGKILL, as its guard had died."
        eventually(lambda: not [pid for pid in pids if alive(pid)])
        assert not work.exists()


COORDINATOR = """
import os, sys
from mainspring.worker.runners import RunnerProcess, RunnerSpec
process = RunnerProcess.start(RunnerSpec(argv=("sh", "-c", sys.argv[1])), 1)
while not process.pid:
    process.poll_death()
print(process.guard_pid, process.pid, process._work, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
def test_when_the_coordinator_dies_nothing_is_left(signum: int):
    with subprocess.Popen(
        [sys.executable, "-c", COORDINATOR, FAMILY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as coordinator:
        assert coordinator.stdout is not None
        guard, runner, work = coordinator.stdout.readline().split()
        pids = under(int(guard), 5)
        assert int(runner) in pids
        coordinator.send_signal(signum)
    eventually(lambda: not [pid for pid in (int(guard), *pids) if alive(pid)], within=5)
    assert not Path(work).exists()


STOPPED = """
import sys, time
from mainspring.worker.runners import RunnerProcess, RunnerSpec
process = RunnerProcess.start(RunnerSpec(argv=("sh", "-c", "while :; do :; done")), 1)
while not process.pid:
    process.poll_death()
print(process.guard_pid, process.pid, flush=True)
while True:
    process.extend(time.monotonic_ns() // 1000 + 500_000)
"""


def test_when_the_coordinator_is_stopped_its_runner_dies_at_the_deadline():
    with subprocess.Popen([sys.executable, "-c", STOPPED], stdout=subprocess.PIPE, text=True) as coordinator:
        assert coordinator.stdout is not None
        guard, runner = (int(word) for word in coordinator.stdout.readline().split())
        until = time.monotonic() + 0.8
        eventually(lambda: time.monotonic() > until)
        assert alive(runner)
        coordinator.send_signal(signal.SIGSTOP)
        eventually(lambda: not alive(runner), within=1.5)
        eventually(lambda: not alive(guard))
        coordinator.kill()


def test_a_killed_runner_takes_all_along_that_its_jobs_have_started():
    with driving() as driver:
        forgotten = driver.start("start_and_forget")
        command = driver.start(
            "shell", script="(setsid sh -c 'echo pid $$; exec sleep 1000' &) ; echo pid $$; sleep 1000"
        )
        python = driver.start("wait_process")
        pids = [*spin_up(driver, forgotten), *spin_up(driver, command, 2), *spin_up(driver, python)]
        os.kill(driver.process.pid, signal.SIGKILL)
        death = driver.death()
        assert (death.killed, death.evidence["signal"]) == (None, "SIGKILL")
        assert death.failure.type == "Crashed"
        assert not [pid for pid in pids if alive(pid)]


@pytest.mark.parametrize(
    "said", ["no json", '{"type":"hello"}', '{"type":"dance"}', '{"type":"ended","job":1,"claim":"x"}']
)
def test_a_runner_that_raves_is_a_violation_for_its_coordinator(said: str):
    code = f"import os; os.write(int(os.environ['MAINSPRING_CONTROL_FD']), {said.encode()!r} + b'\\n'); input()"
    process = started(sys.executable, "-c", code)
    with pytest.raises(ProtocolViolation, match="can't be read"):
        eventually(process.control.read)
    process.kill()
    ended(process)


def test_signals_to_its_group_do_not_move_it():
    process = started("sleep", "1000")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.killpg(os.getpgid(process.guard_pid), number)
    assert os.getsid(process.guard_pid) == process.guard_pid
    assert os.getsid(process.pid) == process.pid
    select.select([process.guard_fd], [], [], 0.2)
    assert process.poll_death() is None
    process.kill()
    ended(process)


def test_it_is_small_and_starts_fast():
    process = RunnerProcess.start(RunnerSpec(argv=("sleep", "1000")), 1)
    began = time.monotonic()
    eventually(lambda: process.poll_death() or process.pid)
    assert time.monotonic() - began < 2 * slowness()
    assert resident(process.guard_pid) < 13 * 1_048_576
    process.kill()
    ended(process)


def test_it_is_one_file_that_needs_the_standard_library_alone(tmp_path: Path):
    alone = tmp_path / "guard.py"
    alone.write_bytes(GUARD.read_bytes())
    report, its_report = os.pipe()
    spec = {"argv": ["sh", "-c", "exit 5"], "env": {"PATH": os.environ["PATH"]}, "cwd": "", "fds": [], "work": ""}
    with subprocess.Popen(
        [sys.executable, "-I", "-S", str(alone)], stdin=subprocess.PIPE, pass_fds=(its_report,)
    ) as guard:
        os.close(its_report)
        assert guard.stdin is not None
        guard.stdin.write(json.dumps(spec | {"report": its_report}).encode() + b"\n")
        guard.stdin.flush()
        with os.fdopen(report) as lines:
            first, last = (json.loads(line) for line in lines)
    assert first["pid"] > 0
    assert (last["exit_code"], last["killed"], last["out_of_memory"]) == (5, None, False)


@pytest.mark.parametrize("task", ["spin", "spin_thread"])
def test_a_runner_that_spins_in_c_dies_when_its_driver_stops(task: str):
    """The stopped driver is this process, which says nothing while it waits; the guard alone must do it."""
    with driving() as driver:
        claim = driver.start(task)
        driver.printed(claim, "spinning")
        pid = driver.process.pid
        driver.live_for(0.5)
        began = time.monotonic()
        eventually(lambda: not alive(pid), within=1.5)
        assert time.monotonic() - began >= 0.4
        assert driver.death().killed == "deadline"


def test_a_crash_leaves_the_stacks_of_the_interpreter():
    with driving() as driver:
        driver.start("die", signum=int(signal.SIGSEGV))
        death = driver.death()
        assert death.evidence["signal"] == "SIGSEGV"
        assert "in die" in death.evidence["stacks"]
        assert death.evidence["peak_memory"] > 10_000_000


def test_runners_do_not_see_what_is_not_for_them():
    env = {"MAINSPRING_DATABASE_URL": "sqlite:///x", "MAINSPRING_TOKEN": "t", "MAINSPRING_FAULTS": "end=kill"}
    os.environ.update(env)
    try:
        with driving() as driver:
            seen = variables_of(driver.process.pid)
    finally:
        for name in env:
            del os.environ[name]
    assert not set(env) & seen


def test_neither_guard_nor_runner_inherits_what_is_open_here(tmp_path: Path):
    with (tmp_path / "open.txt").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        with driving() as driver:
            for pid in (driver.process.guard_pid, driver.process.pid):
                assert file.name not in open_files(pid)
