"""Processes that die, freeze and come back, on real processes: what was acknowledged is run and ends once.

Which field report is tested where: docs/architecture/field-reports.md.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from mainspring.domain.states import Outcome, State
from tests.contract.engines import by_hand
from tests.patience import slowness
from tests.processes.world.clients import Submitter
from tests.processes.world.driver import LEASE, SWEEP, World, command, is_zombie
from tests.processes.world.engines import both_engines, on_engines

RECOVERY = LEASE + SWEEP + 1


@both_engines
def test_kill_9_of_the_worker_amid_50_jobs_loses_none_and_repeats_only_those_that_ran(world: World) -> None:
    world.up(slots=10)
    jobs = world.submit_many("nap", [{"seconds": 1}] * 50)
    world.eventually(lambda: len(world.ledger(kind="end")) >= 10)
    world.eventually(lambda: len(world.ledger(kind="start")) - len(world.ledger(kind="end")) >= 8)
    killed_at = world.now()
    (worker,) = world.active().values()
    os.kill(worker.pid, signal.SIGKILL)
    assert set(world.until_ended(jobs).values()) == {State.SUCCEEDED}
    orphans = set()
    for job in jobs:
        outcomes = world.outcomes(job)
        assert outcomes in ([Outcome.SUCCEEDED], [Outcome.LOST, Outcome.SUCCEEDED])
        if len(outcomes) == 2:
            orphans.add(job)
    ran = {line.job for line in world.ledger(kind="start") if line.at < killed_at}
    ended = {line.job for line in world.ledger(kind="end") if line.at < killed_at - 0.1 * slowness()}
    assert orphans <= ran
    assert 1 <= len(orphans) <= 10
    assert not orphans & (ended - orphans)
    first_restart = min(world.started(job, 2).at for job in orphans)
    assert first_restart - killed_at <= RECOVERY * slowness()


@both_engines
def test_a_rescuer_is_killed_too_and_each_loss_is_found_on_its_own_lease(world: World) -> None:
    workers = {name: world.worker(name) for name in "abc"}
    job = world.submit("nap", seconds=1.5)
    world.started(job)
    began = world.now()
    workers.pop(world.attempts(job)[-1].worker).kill()
    world.started(job, 2)
    workers.pop(world.attempts(job)[-1].worker).kill()
    assert world.started(job, 3).at - began <= 2 * RECOVERY * slowness()
    world.until_state(job, State.SUCCEEDED)
    assert world.outcomes(job) == [Outcome.LOST, Outcome.LOST, Outcome.SUCCEEDED]


@both_engines
def test_kill_9_of_server_and_supervisor_loses_nothing(world: World) -> None:
    up = world.up(slots=4)
    jobs = world.submit_many("nap", [{"seconds": 0.4}] * 20)
    world.started(jobs[0])
    (server,) = [pid for pid in world.alive() if "server" in command(pid)]
    os.kill(server, signal.SIGKILL)
    jobs += world.submit_many("nap", [{"seconds": 0.1}] * 5)
    world.eventually(lambda: [pid for pid in world.alive() if "server" in command(pid)] not in ([], [server]))
    up.kill()
    jobs += world.submit_many("nap", [{"seconds": 0.1}] * 5)
    world.eventually(lambda: not [pid for pid in world.alive() if not is_zombie(pid)], what="the end of the old tree")
    world.up(slots=8)
    assert set(world.until_ended(jobs).values()) == {State.SUCCEEDED}
    assert all(world.outcomes(job) == [Outcome.SUCCEEDED] for job in jobs), "a drain repeats nothing"


@both_engines
def test_a_frozen_worker_loses_its_job_and_its_late_result_is_refused_and_said_so(world: World) -> None:
    frozen = world.worker("frozen")
    job = world.submit("nap", seconds=1)
    world.started(job)
    world.freeze(frozen.pid)
    other = world.worker("other")
    world.started(job, 2, within=RECOVERY + 1)
    world.until_state(job, State.SUCCEEDED)
    assert world.attempts(job)[-1].worker == "other"
    frozen.send(signal.SIGCONT)
    world.eventually(lambda: "refused" in frozen.said, what="the word of the woken worker")
    assert world.job(job).result == "attempt 2"
    assert world.outcomes(job) == [Outcome.LOST, Outcome.SUCCEEDED]
    again = world.submit("nap", seconds=0)
    world.until_state(again, State.SUCCEEDED)
    assert other.status is None
    assert frozen.status is None, "it goes on with other jobs"


@on_engines("task", {"spin_in_c": "postgres", "nap_process": "sqlite"})
def test_nothing_of_a_frozen_workers_attempt_lives_past_lease_and_5_s(world: World, task: str) -> None:
    frozen = world.worker("frozen")
    job = world.submit(task, **({"first_only": True} if task == "spin_in_c" else {"seconds": 1000}))
    first = world.started(job)
    world.freeze(frozen.pid)
    frozen_at = world.now()
    world.eventually(lambda: is_zombie(first.pid), within=LEASE + 5, what="the end of the old attempt")
    assert world.now() - frozen_at <= (LEASE + 5) * slowness()
    if task == "spin_in_c":
        world.worker("other")
        world.until_state(job, State.SUCCEEDED)
        assert world.started(job, 2).at >= frozen_at + LEASE - 1
    else:
        world.client.cancel(job)
        world.worker("other")
        world.until_state(job, State.CANCELLED)


@both_engines
def test_a_job_that_holds_the_interpreter_lock_is_not_taken_for_lost(world: World) -> None:
    world.worker("holder", lease="1s", sweep="500ms")
    world.worker("idle", lease="1s", sweep="500ms", queues="elsewhere")
    job = world.submit("hold_the_lock", number=1)
    world.until_state(job, State.SUCCEEDED, within=40)
    (start,), (end,) = world.ledger(job, "start"), world.ledger(job, "end")
    assert end.at - start.at > 1, "it held the lock longer than the lease"
    assert world.outcomes(job) == [Outcome.SUCCEEDED]


@both_engines
def test_orphans_are_swept_by_the_server_when_no_worker_is_left(world: World) -> None:
    world.server()
    worker = world.worker()
    job = world.submit("nap", seconds=30)
    world.started(job)
    worker.kill()
    died_at = world.now()
    world.until_state(job, State.QUEUED)
    assert world.now() - died_at <= RECOVERY * slowness()
    assert world.outcomes(job) == [Outcome.LOST]
    world.eventually(
        lambda: [one.code for one in world.client.explain(job).reasons] == ["no_worker"], what="the reason"
    )
    world.client.cancel(job)


@both_engines
def test_two_sweeps_move_each_of_100_orphans_once(world: World) -> None:
    doomed = world.worker("doomed", slots=100)
    jobs = world.submit_many("nap", [{"seconds": 0.9}] * 100)
    world.eventually(lambda: len(world.ledger(kind="start")) == 100)
    doomed.kill()
    world.server()
    world.server()
    world.worker("b", slots=50)
    world.worker("c", slots=50)
    assert set(world.until_ended(jobs).values()) == {State.SUCCEEDED}
    repeated = [job for job in jobs if world.outcomes(job) == [Outcome.LOST, Outcome.SUCCEEDED]]
    assert len(repeated) >= 90
    assert all(world.outcomes(job) == [Outcome.SUCCEEDED] for job in set(jobs) - set(repeated))
    assert len(world.ledger(kind="start")) == 100 + len(repeated)


@both_engines
def test_a_lost_job_that_may_run_at_most_once_ends_dead_and_says_why(world: World) -> None:
    worker = world.worker()
    (job,) = world.submit_many("at_most_once", [{"seconds": 30}], unique="k")
    world.started(job)
    worker.kill()
    assert world.submit_many("at_most_once", [{"seconds": 0}], unique="k") == [job], "it may yet go on"
    world.worker()
    ended = world.until_state(job, State.DEAD)
    assert ended.error is not None
    assert "lost worker" in ended.error.message
    assert len(world.ledger(job, "start")) == 1
    (with_same,) = world.submit_many("at_most_once", [{"seconds": 0}], unique="k")
    assert with_same != job, "the lost one holds its key no longer"
    world.until_state(with_same, State.SUCCEEDED)


@pytest.fixture
def unrelated() -> Iterator[subprocess.Popen[bytes]]:
    """A process of somebody else, which lives to the end of the test."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"], process_group=0) as process:
        yield process
        lives = process.poll() is None
        process.kill()
    assert lives, "somebody has ended a process that is nobody's business"


@both_engines
def test_retry_and_cancel_of_orphans_answer_sensibly_at_once(world: World, unrelated: subprocess.Popen[bytes]) -> None:
    """Also when a process of somebody else has the numbers by now that those of the dead worker had."""
    worker = world.worker("gone")
    jobs = [world.submit("nap", seconds=30) for _ in range(2)]
    for job in jobs:
        world.started(job)
    worker.kill()
    pids = json.dumps({"runners": [unrelated.pid], "guards": [unrelated.pid]})
    world.client.store.write(lambda tx: by_hand(tx, f"update worker set pid = {unrelated.pid}, pids = '{pids}'"))
    refused = world.command("retry", str(jobs[0]), "--json")
    assert refused.returncode == 4
    assert "running" in refused.stderr + refused.stdout
    assert world.command("cancel", str(jobs[0])).returncode == 0
    world.worker("new")
    world.until_state(jobs[0], State.CANCELLED)
    world.started(jobs[1], 2)
    world.client.cancel(jobs[1])
    world.until_state(jobs[1], State.CANCELLED)
    assert len(world.ledger(jobs[0], "start")) == 1, "a cancelled orphan never starts again"


def test_submits_that_were_acknowledged_survive_kills_of_the_server(world: World) -> None:
    world.up(restart_limit=20)
    (port,) = {line.rpartition(":")[2].strip() for line in world.processes[0].said.splitlines() if "address" in line}
    with Submitter(world, int(port)) as client:
        for goal in (50, 100):
            client.until(goal)
            for pid in world.alive():
                if "server" in command(pid):
                    os.kill(pid, signal.SIGKILL)
            client.until_refused()
        client.until(150)
    assert set(world.until_ended(client.acknowledged).values()) == {State.SUCCEEDED}
