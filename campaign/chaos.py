"""``python -m campaign.chaos [--seconds 300] [--seed N]``: a fleet on a real PostgreSQL server, and what befalls it.

Three workers of four slots and two servers on leases of 3 s, each behind a proxy of its own, with clients that submit,
cancel and retry. By seed, processes are killed and stopped, the database is restarted, and connections are cut, slowed,
swallowed, or lose the answer to a commit. Then the faults stop, everything must end, and chaos_judge.py compares the
database with what clients were told and what the jobs have written. A run that fails keeps its folders and says how to
repeat it: the same faults in the same order, though not at the same instants.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from campaign.chaos_judge import Judge, Told
from mainspring.chance import SeededChance, SystemChance
from mainspring.client.direct import DirectClient, connect
from mainspring.clock import MILLISECOND, SECOND, Duration, SystemClock, seconds
from mainspring.domain.job import JobFilter, JobRequest
from mainspring.domain.states import State
from mainspring.errors import IllegalState, MainspringError, OutcomeUnknown, ReplayLive, StoreError
from tests import postgres
from tests.processes.world.driver import Process, World, free_port
from tests.proxy import Proxy

APP = Path(__file__).parent / "apps" / "beating.py"
TASKS = ("drift", "drift", "trudge", "dwell", "stumble")
LEASE, SWEEP = "3s", "1s"
WORKERS, SERVERS, CLIENTS = 3, 2, 3
DATABASE = "chaos"
UNREACHABLE = 5
"""How a process ends that finds no database at its start."""
SETTLING = 150.0
"""Seconds within which everything has ended once the faults stop."""

_WEIGHTS = {
    "kill": 5,
    "kill runner": 3,
    "stop": 5,
    "cut": 6,
    "lose answer": 6,
    "lose commit": 3,
    "swallow": 3,
    "delay": 3,
    "refuse": 2,
    "fast restart": 1,
    "immediate restart": 2,
}
_UNENDED = (State.QUEUED, State.RUNNING, State.SCHEDULED, State.RETRYING)
_KINDS = [kind for kind, weight in _WEIGHTS.items() for _ in range(weight)]


def say(text: str) -> None:
    """A line for whoever watches."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def clear(proxy: Proxy) -> None:
    """It does nothing wrong any more; what was said into the void is cut, as nobody would answer it."""
    proxy.refuse, proxy.swallow, proxy.delay, proxy.at_commit = 0, "", Duration(0), ""
    proxy.cut()


def go_on(process: Process) -> None:
    """Whoever was stopped."""
    if process.status is None:
        process.send(signal.SIGCONT)


class Seat:
    """A worker or server that is started again whenever it has ended."""

    def __init__(self, name: str, start: Callable[[str], Process], server: postgres.Server) -> None:
        self.name = name
        self.proxy = Proxy(server.port)
        self._url = server.tcp_url(DATABASE, port=self.proxy.port) + "?connect_timeout=2"
        self._start = start
        self.process = start(self._url)
        self.killed = False

    def mind(self) -> str:
        """Start it again if it has ended; what is wrong with how it did."""
        status = self.process.status
        if status is None:
            return ""
        said = "" if self.killed or status == UNREACHABLE else f"{self.name} ended by itself with status {status}"
        if said:
            said += "\n" + self.process.said[-2000:]
        self.killed = False
        self.process = self._start(self._url)
        return said

    def mend(self) -> None:
        """No fault of ours is left."""
        clear(self.proxy)
        go_on(self.process)


class Run:
    """One run."""

    def __init__(self, seed: int, length: float) -> None:
        self.seed = seed
        self.length = length
        self.clock = SystemClock()
        self.chance = SeededChance(seed)
        self.place = Path(tempfile.mkdtemp(prefix="ms-chaos-"))
        self.place.chmod(0o755)
        (self.place / "server").mkdir()
        self.server = postgres.start(self.place / "server", fsync="on", log_line_prefix="%m [%p] ")
        self.server.ask(f"create database {DATABASE}")
        self.notes: list[Told] = []
        self.retried: list[int] = []
        self.counts: Counter[str] = Counter()
        self.amiss: list[str] = []
        self._over = threading.Event()
        self._later: list[tuple[Duration, Callable[[], object]]] = []

    # --- the fleet --------------------------------------------------------------------------------------------

    def run(self) -> list[str]:
        """All of it; what did not hold."""
        with World(self.server.url(DATABASE)) as world:
            self.world = world
            kept = self._with_world(world)
            world.keep = bool(kept)
        return kept

    def _with_world(self, world: World) -> list[str]:
        world.client.tasks()  # makes the tables
        self.seats = [self._worker(f"w{number}") for number in range(WORKERS)]
        self.seats += [self._server(f"s{number}") for number in range(SERVERS)]
        self.proxy = Proxy(self.server.port)
        world.eventually(lambda: len(world.active()) == WORKERS, within=60, what="all workers")
        clients = [threading.Thread(target=self._client, args=(number,)) for number in range(CLIENTS)]
        for thread in clients:
            thread.start()
        try:
            self._torment()
        finally:
            self._over.set()
            self._mend()
            for thread in clients:
                thread.join()
        self._settle()
        ledger = world.ledger_file
        self.judge = Judge(self.server, DATABASE, ledger, self.notes, self.retried)
        return self.amiss + self.judge.verdicts()

    def _worker(self, name: str) -> Seat:
        def start(url: str) -> Process:
            words = ("worker", "--app", str(APP), "--name", name, "--slots", "4")
            return self.world.start(*words, database_url=url, lease=LEASE, sweep=SWEEP)

        return Seat(name, start, self.server)

    def _server(self, name: str) -> Seat:
        def start(url: str) -> Process:
            return self.world.start("server", "--port", str(free_port()), database_url=url, lease=LEASE, sweep=SWEEP)

        return Seat(name, start, self.server)

    def close(self, *, keep: bool) -> None:
        """End the server and the proxies."""
        for seat in [*self.seats]:
            seat.proxy.__exit__()
        self.proxy.__exit__()
        postgres.stop(self.server)
        if not keep:
            shutil.rmtree(self.place)

    # --- faults -----------------------------------------------------------------------------------------------

    def _torment(self) -> None:
        began = self.clock.monotonic()
        until, told = began + self.length * SECOND, began
        next_fault = began + SECOND
        while (now := self.clock.monotonic()) < until:
            for seat in self.seats:
                if wrong := seat.mind():
                    self.amiss.append(wrong)
            self._do_later(now)
            if now >= next_fault:
                kind, seat = self.chance.pick(_KINDS), self.chance.pick(self.seats)
                self.counts[kind] += 1
                self._strike(kind, seat)
                next_fault = self.clock.monotonic() + self.chance.whole(200, 1800) * MILLISECOND
            if now - told > 10 * SECOND:
                told = now
                self._progress((now - began) / SECOND)
            self.clock.wait(Duration(50 * MILLISECOND))

    def _do_later(self, now: Duration) -> None:
        due = [act for at, act in self._later if at <= now]
        self._later = [(at, act) for at, act in self._later if at > now]
        for act in due:
            act()

    def _after(self, length: int, act: Callable[[], object]) -> None:
        self._later.append((Duration(self.clock.monotonic() + length * MILLISECOND), act))

    def _strike(self, kind: str, seat: Seat) -> None:
        proxy = self.chance.pick([seat.proxy, seat.proxy, self.proxy])
        length = self.chance.whole(300, 6000)
        match kind:
            case "kill":
                seat.killed = True
                seat.process.kill()
            case "kill runner":
                self._kill_runner(seat.name)
            case "stop":
                process = seat.process
                process.send(signal.SIGSTOP)
                self._after(length, lambda: go_on(process))
            case "fast restart" | "immediate restart":
                with suppress(Exception):
                    self.server.control("-m", kind.partition(" ")[0], "-l", str(self.server.folder / "log"), "restart")
            case "cut":
                proxy.cut()
            case "lose answer" | "lose commit":
                proxy.commits = 1
                proxy.at_commit = "answer" if kind == "lose answer" else "lose"
            case "swallow":
                proxy.swallow = self.chance.pick(["both", "answers"])
                self._after(length, lambda: clear(proxy))
            case "delay":
                proxy.delay = Duration(self.chance.whole(20, 200) * MILLISECOND)
                self._after(length, lambda: clear(proxy))
            case _:
                proxy.refuse = self.chance.whole(1, 8)
                proxy.cut()

    def _kill_runner(self, name: str) -> None:
        with suppress(MainspringError):
            worker = self.world.active().get(name)
            for pid in list((worker.pids if worker else {}).get("runners") or [])[:1]:
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)

    def _mend(self) -> None:
        self._later.clear()
        for seat in self.seats:
            seat.mend()
        clear(self.proxy)
        try:
            self.server.control("status")
        except subprocess.CalledProcessError:  # a restart was cut short
            self.server.control("-l", str(self.server.folder / "log"), "start")

    def _settle(self) -> None:
        """Everything ends, now that nobody disturbs."""
        deadline = self.clock.monotonic() + SETTLING * SECOND
        open_jobs = -1
        while self.clock.monotonic() < deadline:
            for seat in self.seats:
                if wrong := seat.mind():
                    self.amiss.append(wrong)
            with suppress(StoreError):
                open_jobs = sum(self.world.client.count(JobFilter(state=state)) for state in _UNENDED)
                if not open_jobs:
                    return
            self.clock.wait(Duration(200 * MILLISECOND))
        self.amiss.append(f"{open_jobs} jobs had not ended {SETTLING:.0f} s after the last fault")

    def _progress(self, passed: float) -> None:
        answers = Counter(told.answer for told in self.notes)
        say(f"{passed:6.0f} s  submits {dict(answers)}  faults {self.counts.total()}  amiss {len(self.amiss)}")

    # --- clients ----------------------------------------------------------------------------------------------

    def _client(self, number: int) -> None:
        """Submit, cancel and retry, one thing after the other, and note what was answered."""
        chance = SeededChance(self.seed * 1000 + number)
        url = self.server.tcp_url(DATABASE, port=self.proxy.port) + "?connect_timeout=2"
        client: DirectClient | None = None
        known: list[int] = []
        serial = 0
        while not self._over.is_set():
            serial += 1
            try:
                client = client or connect(url)
                if chance.fraction() < 0.7 or not known:
                    known += self._submit(client, chance, f"c{number}n{serial}")
                elif chance.fraction() < 0.6:
                    client.cancel(chance.pick(known))
                    self.counts["cancels"] += 1
                else:
                    self.retried.append(client.retry(chance.pick(known)).id)
                    self.counts["retries"] += 1
            except (IllegalState, ReplayLive):
                pass
            except MainspringError as error:
                self.counts[f"client: {error.code}"] += 1
            except Exception as error:  # noqa: BLE001 - nothing else may come out of a client
                self.amiss.append(f"a client was told {type(error).__name__}: {error}")
            self._over.wait(seconds(Duration(chance.whole(50, 600) * MILLISECOND)))
        if client is not None:
            client.close()

    def _submit(self, client: DirectClient, chance: SeededChance, token: str) -> list[int]:
        count = chance.pick([1, 1, 1, 2, 5])
        delay = chance.pick([None, None, "300ms", "2s"])
        request = JobRequest(
            f"beating.{chance.pick(TASKS)}",
            {"seconds": chance.whole(1, 15) / 10},
            delay=delay,
            tags={"token": token},
        )
        answer, jobs = "refused", tuple[int, ...]()
        try:
            jobs = tuple(receipt.job for receipt in client.submit([request] * count))
            answer = "stored"
        except OutcomeUnknown:
            answer = "unknown"
            raise
        finally:
            self.notes.append(Told(token, count, answer, jobs))
        return list(jobs)


def main(argv: list[str] | None = None) -> int:
    """Run it; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m campaign.chaos", description="A fleet and everything that befalls it."
    )
    parser.add_argument("--seconds", type=float, default=300, help="how long faults go on (default 300)")
    parser.add_argument("--seed", type=int, help="which faults (default: any)")
    options = parser.parse_args(argv)
    seed = round(SystemChance().fraction() * 1_000_000) if options.seed is None else options.seed
    say(f"chaos: seed {seed}, {options.seconds:g} s")
    run = Run(seed, options.seconds)
    wrong: list[str] = ["it did not come to its end"]
    try:
        wrong = run.run()
    finally:
        run.close(keep=bool(wrong))
        if wrong:
            say(f"kept: {run.place} (the database server) and {run.world.folder} (logs and ledger)")
            say(f"again: python -m campaign.chaos --seed {seed} --seconds {options.seconds:g}")
    summary(run)
    for one in wrong[:50]:
        say(f"WRONG {one}")
    say(f"{len(wrong)} things were wrong" if wrong else "everything held")
    return 1 if wrong else 0


def summary(run: Run) -> None:
    """What happened, in a few lines."""
    states = Counter(state for state, _ in run.judge.jobs.values())
    outcomes = Counter(outcome for tries in run.judge.attempts.values() for _, outcome in tries)
    say(f"faults and clients: {dict(sorted(run.counts.items()))}")
    say(f"submits: {dict(Counter(told.answer for told in run.notes))}")
    say(f"jobs: {dict(states)}")
    say(f"attempts: {dict(outcomes)}, lines of the ledger: {sum(map(len, run.judge.lines.values()))}")


if __name__ == "__main__":
    sys.exit(main())
