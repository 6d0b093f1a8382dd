"""Programs that are killed in the middle: one child for each case, armed as MAINSPRING_FAULTS arms real processes.

    python -m tests.contract.victim CASES

CASES is a JSON list of [action, url, told, now, faults]. Each child opens the database at ``url`` when its clock says
``now``, does what the action says, and notes what it was told in the file ``told``, one JSON value a line, before it
goes on. Prints the list of exit codes (-9: killed).
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import msgspec

from mainspring import faults
from mainspring.chance import SystemChance
from mainspring.clock import MILLISECOND, SECOND, Duration, Instant
from mainspring.control import jobs as control_jobs
from mainspring.control import read, replays, resumption, runs
from mainspring.control.submit import submit
from mainspring.domain.frame import Ended, Start
from mainspring.domain.job import JobFilter, JobRequest
from mainspring.domain.run import RunFilter
from mainspring.domain.states import Outcome, State
from mainspring.domain.worker import WorkerState
from mainspring.engine.dispatch import Dispatch
from mainspring.engine.held import Limits
from mainspring.engine.sweep import Sweep
from mainspring.engine.timing import Timing
from mainspring.store import Store, Transaction, workers
from mainspring.store.workers import Hello
from tests.contract.engines import HandClock

Tell = Callable[[Any], object]
LEASE = Duration(30 * SECOND)


def submits(store: Store, clock: HandClock, tell: Tell) -> None:
    """Four submits of three jobs."""
    for _ in range(4):
        tell([one.job for one in submit(store, [JobRequest("send")] * 3, actor="victim")])


def cancels(store: Store, clock: HandClock, tell: Tell) -> None:
    """Cancel what waits, one after the other."""
    for job in reversed(read.listed(store, JobFilter(state=State.QUEUED)).items):
        control_jobs.cancel(store, job.id, actor="victim")
        tell(job.id)


def retries(store: Store, clock: HandClock, tell: Tell) -> None:
    """Retry what is dead, one after the other."""
    for job in reversed(read.listed(store, JobFilter(state=State.DEAD)).items):
        tell(control_jobs.retry(store, job.id, actor="victim").id)


def dispatches(store: Store, clock: HandClock, tell: Tell) -> None:
    """A worker with two slots, whose runner ends each job as soon as it has started it."""
    hello = Hello(
        SystemChance().incarnation(), "victim", "host", os.getpid(), "shop", "one", "0.1.0", [], {}, 2, [], {}
    )

    def register(tx: Transaction) -> Any:
        worker = workers.register(tx, hello)
        workers.beat(tx, worker, WorkerState.ACTIVE, LEASE)
        return worker

    timing = Timing(lease=LEASE, sweep=Duration(5 * SECOND), poll=SECOND, drain=SECOND)
    limits = Limits(2, 2)
    worker = store.write(register)
    dispatch = Dispatch(store, clock, worker=worker, app="shop", queues=(), labels={}, limits=limits, timing=timing)
    dispatch.add_runner(1, [task.name for task in read.tasks(store)])
    idle = 0
    while idle < 5:
        out = dispatch.turn()
        idle = 0 if out.frames else idle + bool(out.wait)
        for runner, frame in out.frames:
            if isinstance(frame, Start):
                tell(["started", frame.job, frame.attempt])
                dispatch.receive(runner, Ended(frame.job, frame.claim, Outcome.SUCCEEDED, result=msgspec.Raw(b"1")))
        if out.wait:
            clock.forward(2 * SECOND)


def resumes(store: Store, clock: HandClock, tell: Tell) -> None:
    """Resume the first run, in four transactions and one that takes numbers."""
    setattr(resumption, "_AT_ONCE", 2)  # noqa: B010 - as a large run would
    first = runs.listed(store, RunFilter()).items[-1]
    tell(replays.resume(store, first.id, actor="victim").run.id)


def sweeps(store: Store, clock: HandClock, tell: Tell) -> None:
    """A server's sweep, until it finds nothing more to do."""
    sweep = Sweep(store, clock, Duration(2 * SECOND))
    for _ in range(8):
        sweep.turn()
        clock.forward(SECOND)


def opens(store: Store, clock: HandClock, tell: Tell) -> None:
    """Only open: the migrations have run."""
    tell("open")


ACTIONS = {action.__name__: action for action in (submits, cancels, retries, dispatches, resumes, sweeps, opens)}


def child(action: str, url: str, notes: str, now: int, plan: str) -> int:
    """One case."""
    told = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    clock = HandClock(Instant(now))
    try:
        faults.arm_from_environment({"MAINSPRING_FAULTS": plan})
        store = Store.open(url, clock=clock)
        ACTIONS[action](store, clock, lambda value: os.write(told, (json.dumps(value) + "\n").encode()))
        clock.wait(MILLISECOND)
        store.close()
    except BaseException:  # noqa: BLE001 - shown by the test
        traceback.print_exc()
        return 1
    return 0


def main(cases: list[list[Any]]) -> list[int]:
    """Run the cases one after the other; their exit codes."""
    codes = []
    for case in cases:
        pid = os.fork()
        if not pid:
            os._exit(child(*case))
        codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    return codes


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
