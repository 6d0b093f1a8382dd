"""A crowd on one database: processes with threads that submit, claim, end, cancel, read and log, all at once.

    python -m tests.contract.crowd URL FOLDER PROCESSES THREADS SECONDS KILLED

Every thread writes what it was told into a file of its own process in FOLDER at once, so that a kill loses no record of
an answer. Half of the processes write inline, as coordinators do, the others through a writer thread. In the middle of
the time, KILLED of the processes are killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from mainspring.chance import SeededChance
from mainspring.clock import SECOND, Duration, Instant, SystemClock
from mainspring.control import jobs as control_jobs
from mainspring.control import read, submit
from mainspring.domain.attempt import Ending
from mainspring.domain.ids import ClaimId, JobId, WorkerId
from mainspring.domain.job import JobFilter, JobRequest
from mainspring.domain.logline import LogChunk
from mainspring.domain.retry import Retry
from mainspring.domain.states import Outcome
from mainspring.domain.task import Lodging
from mainspring.engine.claiming import Claimer, Claims
from mainspring.engine.held import Limits, Room, RunnerView
from mainspring.errors import IllegalState
from mainspring.store import Store, Transaction, lanes, rows
from mainspring.transitions.ended import Report, end

POLICY = rows.Policy(Retry(max_attempts=1), None, Duration(SECOND), {})


class Member:
    """One process of the crowd."""

    def __init__(self, url: str, folder: Path, number: int, until: Duration) -> None:
        self.clock = SystemClock()
        self.number = number
        self.until = until
        self.record = os.open(folder / f"{number}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.store = Store.open(url, inline=number % 2 == 0)

    def tell(self, what: str, value: Any) -> None:
        os.write(self.record, (json.dumps([what, value]) + "\n").encode())

    def run(self, threads: int) -> None:
        crew = [threading.Thread(target=self.live, args=(number,)) for number in range(threads)]
        for one in crew:
            one.start()
        for one in crew:
            one.join()
        self.store.close()
        self.tell("done", self.number)

    def live(self, number: int) -> None:
        chance = SeededChance(self.number * 100 + number)
        claimer = Claimer(WorkerId(self.number + 1), Duration(60 * SECOND), f"worker:{self.number}", self.clock)
        mine: list[int] = []
        verbs = [self.submit, self.submit, self.work, self.work, self.cancel, self.look, self.log]
        while self.clock.monotonic() < self.until:
            try:
                chance.pick(verbs)(chance, claimer, mine)
            except IllegalState:
                pass  # it had ended before the cancel came
            except BaseException as error:
                self.tell("error", f"{type(error).__name__}: {error}")
                raise

    def submit(self, chance: SeededChance, claimer: Claimer, mine: list[int]) -> None:
        asked = [JobRequest("send", {"by": self.number})] * chance.whole(1, 5)
        ids = [one.job for one in submit.submit(self.store, asked, actor="crowd")]
        self.tell("submitted", ids)
        mine += ids

    def work(self, chance: SeededChance, claimer: Claimer, mine: list[int]) -> None:
        """A turn of a worker: claim what is there, end it at once."""
        runners = [RunnerView(1, Lodging.SHARED, frozenset()), RunnerView(2, Lodging.PROCESS, frozenset())]
        room = Room(Limits(10, 10), {}, runners)

        def claim(tx: Transaction) -> Claims:
            return claimer.claim(tx, lanes.read_map(tx), room, None, avoid=())

        claimed = [
            (one.grant.left.job, one.grant.claim, one.grant.left.attempt + 1) for one in self.store.write(claim).jobs
        ]
        self.tell("claimed", [[job, number] for job, _, number in claimed])
        reports = [Report(self.ending(chance, job, claim_id), POLICY, alone=False) for job, claim_id, _ in claimed]
        settled = self.store.write(lambda tx: end(tx, reports, "crowd"))
        self.tell("ended", list(settled.verdicts))
        self.tell("fenced", settled.fenced)

    def ending(self, chance: SeededChance, job: JobId, claim: ClaimId) -> Ending:
        outcome = chance.pick([Outcome.SUCCEEDED, Outcome.SUCCEEDED, Outcome.FAILED, Outcome.RELEASED])
        return Ending(job, claim, outcome, result=b"1" if outcome is Outcome.SUCCEEDED else None)

    def cancel(self, chance: SeededChance, claimer: Claimer, mine: list[int]) -> None:
        if mine:
            job = chance.pick(mine)
            control_jobs.cancel(self.store, job, actor="crowd")
            self.tell("cancelled", [job])

    def look(self, chance: SeededChance, claimer: Claimer, mine: list[int]) -> None:
        page = read.listed(self.store, JobFilter(limit=20))
        ids = [job.id for job in page.items]
        if ids != sorted(ids, reverse=True):
            self.tell("error", f"a list out of order: {ids}")
        read.history(self.store, after=max(0, read.last_event(self.store) - 20), job=None, kinds=(), limit=20)

    def log(self, chance: SeededChance, claimer: Claimer, mine: list[int]) -> None:
        if mine:
            chunk = LogChunk(Instant(self.clock.now()), "stdout", f"{self.number}\n")
            self.store.logs.append([(JobId(chance.pick(mine)), 1, 1, chunk)])


def main(url: str, folder: Path, *, processes: int, threads: int, seconds: float, killed: int) -> int:
    """Fork the crowd before any store is open; the number of those that did not end well."""
    clock = SystemClock()
    until = Duration(clock.monotonic() + round(seconds * SECOND))
    pids = []
    for number in range(processes):
        pid = os.fork()
        if not pid:
            status = 1
            try:
                Member(url, folder, number, until).run(threads)
                status = 0
            finally:
                os._exit(status)
        pids.append(pid)
    clock.wait(Duration((until - clock.monotonic()) // 2))
    for pid in pids[:killed]:
        os.kill(pid, signal.SIGKILL)
    return sum(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0 for pid in pids[killed:])


if __name__ == "__main__":
    _, url_, folder_, *numbers = sys.argv
    many, each, long, few = map(float, numbers)
    sys.exit(main(url_, Path(folder_), processes=int(many), threads=int(each), seconds=long, killed=int(few)))
