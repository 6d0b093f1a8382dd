"""``python -m campaign.chaos [--on postgres|pooled|sqlite] [--seconds 300] [--seed N]``: a fleet, and what befalls it.

Three workers of four slots and two servers on leases of 3 s, each behind a proxy of its own, with clients that submit,
cancel and retry. By seed, processes are killed and stopped, the database is restarted, and connections are cut, slowed,
swallowed, or lose the answer to a commit. Then the faults stop, everything must end, and chaos_judge.py compares the
database with what clients were told and what the jobs have written. A run that fails keeps its folders and says how to
repeat it: the same faults in the same order, though not at the same instants.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw
import psycopg

from campaign.chaos_clients import NARROW, Clients
from campaign.chaos_ground import GROUNDS, Ground, clear
from campaign.chaos_judge import Judge
from mainspring.chance import SeededChance, SystemChance
from mainspring.clock import MILLISECOND, SECOND, Duration, SystemClock
from mainspring.domain.job import JobFilter
from mainspring.domain.queue import QueueChange
from mainspring.domain.states import State
from mainspring.errors import MainspringError, StoreError
from tests.processes.world.driver import Process, World, free_port
from tests.proxy import Proxy

APP = Path(__file__).parent / "apps" / "beating.py"
LEASE, SWEEP = "3s", "1s"
WORKERS, SERVERS, CLIENTS, HTTP_CLIENTS = 3, 2, 2, 2
LIMIT = 2
"""Jobs of the narrow queue that may run at once."""
UNREACHABLE = 5
"""How a process ends that finds no database at its start."""
SETTLING = 150.0
"""Seconds within which everything has ended once the faults stop."""

_UNENDED = (State.QUEUED, State.RUNNING, State.SCHEDULED, State.RETRYING)


def say(text: str) -> None:
    """A line for whoever watches."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def go_on(process: Process) -> None:
    """Whoever was stopped."""
    if process.status is None:
        process.send(signal.SIGCONT)


class Seat:
    """A worker or server that is started again whenever it has ended."""

    def __init__(self, name: str, start: Callable[[str], Process], ground: Ground) -> None:
        self.name = name
        self._url, self.proxy = ground.way()
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


class Run:
    """One run."""

    def __init__(self, seed: int, length: float, ground: Ground) -> None:
        self.seed = seed
        self.length = length
        self.ground = ground
        self.clock = SystemClock()
        self.chance = SeededChance(seed)
        self.clients = Clients(seed)
        self.counts: Counter[str] = Counter()
        self.busy: Counter[str] = Counter()
        """Faults that befell a worker which had jobs just then."""
        self.amiss: list[str] = []
        self._ports: list[int] = []
        self._kinds = [kind for kind, weight in ground.weights.items() for _ in range(weight)]
        self._over = threading.Event()
        self._later: list[tuple[Duration, Callable[[], object]]] = []

    # --- the fleet --------------------------------------------------------------------------------------------

    def run(self) -> list[str]:
        """All of it; what did not hold."""
        with World(self.ground.url) as world:
            self.world = world
            world.keep = True
            kept = self._with_world(world)
            world.keep = bool(kept)
        return kept

    def _with_world(self, world: World) -> list[str]:
        world.client.tasks()  # makes the tables
        self.seats = [self._worker(f"w{number}") for number in range(WORKERS)]
        self.seats += [self._server(f"s{number}") for number in range(SERVERS)]
        ways = [self.ground.way() for _ in range(CLIENTS)]
        self._client_proxies = [proxy for _, proxy in ways if proxy]
        world.eventually(lambda: len(world.active()) == WORKERS, within=60, what="all workers")
        world.client.change_queue(NARROW, QueueChange(limit=LIMIT))
        threads = [
            threading.Thread(target=self.clients.run, args=(number, url, self._over))
            for number, (url, _) in enumerate(ways)
        ]
        threads += [
            threading.Thread(target=self.clients.run_http, args=(number, self._ports, self._over))
            for number in range(HTTP_CLIENTS)
        ]
        for thread in threads:
            thread.start()
        try:
            self._torment()
        finally:
            self._over.set()
            self._mend()
            for thread in threads:
                thread.join()
        self._settle()
        self.judge = Judge(
            self.ground.ask, world.ledger_file, self.clients.notes, self.clients.retried, limits={NARROW: LIMIT}
        )
        return self.amiss + self.clients.amiss + self.judge.verdicts()

    def _worker(self, name: str) -> Seat:
        def start(url: str) -> Process:
            words = ("worker", "--app", str(APP), "--name", name, "--slots", "4", "--queue", "beating")
            return self.world.start(*words, "--queue", NARROW, database_url=url, lease=LEASE, sweep=SWEEP)

        return Seat(name, start, self.ground)

    def _server(self, name: str) -> Seat:
        port = free_port()
        self._ports.append(port)

        def start(url: str) -> Process:
            return self.world.start("server", "--port", str(port), database_url=url, lease=LEASE, sweep=SWEEP)

        return Seat(name, start, self.ground)

    # --- faults -----------------------------------------------------------------------------------------------

    def _torment(self) -> None:
        began = self.clock.monotonic()
        until, told = began + self.length * SECOND, began
        next_fault = began + SECOND
        while (now := self.clock.monotonic()) < until:
            self._mind()
            self._do_later(now)
            if now >= next_fault:
                kind, seat = self.chance.pick(self._kinds), self.chance.pick(self.seats)
                self.counts[kind] += 1
                self.busy[kind] += self._is_busy(seat)
                self._strike(kind, seat)
                next_fault = self.clock.monotonic() + self.chance.whole(200, 1800) * MILLISECOND
            if now - told > 10 * SECOND:
                told = now
                self._progress((now - began) / SECOND)
            self.clock.wait(Duration(50 * MILLISECOND))

    def _mind(self) -> None:
        for seat in self.seats:
            if wrong := seat.mind():
                self.amiss.append(wrong)

    def _is_busy(self, seat: Seat) -> bool:
        """Whether it has jobs just now. Nobody knows while the database is away."""
        with suppress(psycopg.Error, apsw.Error):
            return (seat.name,) in self.ground.ask("select name from lease join worker on worker.id = lease.worker")
        return False

    def _do_later(self, now: Duration) -> None:
        due = [act for at, act in self._later if at <= now]
        self._later = [(at, act) for at, act in self._later if at > now]
        for act in due:
            act()

    def _after(self, length: int, act: Callable[[], object]) -> None:
        self._later.append((Duration(self.clock.monotonic() + length * MILLISECOND), act))

    def _strike(self, kind: str, seat: Seat) -> None:
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
                self.ground.restart(kind.partition(" ")[0])
            case _:
                own = [seat.proxy] if seat.proxy else []
                self._disturb(kind, self.chance.pick([*own, *own, self.chance.pick(self._client_proxies)]), length)

    def _disturb(self, kind: str, proxy: Proxy, length: int) -> None:
        match kind:
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
        self.ground.mend()
        for seat in self.seats:
            go_on(seat.process)

    def _settle(self) -> None:
        """Everything ends, now that nobody disturbs."""
        deadline = self.clock.monotonic() + SETTLING * SECOND
        open_jobs = -1
        while self.clock.monotonic() < deadline:
            self._mind()
            with suppress(StoreError):
                open_jobs = sum(self.world.client.count(JobFilter(state=state)) for state in _UNENDED)
                if not open_jobs:
                    return
            self.clock.wait(Duration(200 * MILLISECOND))
        self.amiss.append(f"{open_jobs} jobs had not ended {SETTLING:.0f} s after the last fault")

    def _progress(self, passed: float) -> None:
        answers = Counter(told.answer for told in self.clients.notes)
        say(f"{passed:6.0f} s  submits {dict(answers)}  faults {self.counts.total()}  amiss {len(self.amiss)}")

    def summary(self) -> None:
        """What happened, in a few lines."""
        states = Counter(state for state, _ in self.judge.jobs.values())
        outcomes = Counter(outcome for tries in self.judge.attempts.values() for _, outcome in tries)
        hits = ", ".join(f"{one} {self.counts[one]} ({self.busy[one]})" for one in sorted(self.counts))
        say(f"faults (of them on a worker with jobs): {hits}")
        say(f"commits lost, or their answers: {sum(proxy.lost for proxy in self.ground.proxies)}")
        say(f"clients: {dict(sorted(self.clients.counts.items()))}")
        say(f"submits: {dict(Counter(told.answer for told in self.clients.notes))}")
        say(f"jobs: {dict(states)}")
        say(f"attempts: {dict(outcomes)}, lines of the ledger: {sum(map(len, self.judge.lines.values()))}")


def main(argv: list[str] | None = None) -> int:
    """Run it; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m campaign.chaos", description="A fleet and everything that befalls it."
    )
    parser.add_argument("--on", choices=GROUNDS, default="postgres", help="where the database is (default postgres)")
    parser.add_argument("--seconds", type=float, default=300, help="how long faults go on (default 300)")
    parser.add_argument("--seed", type=int, help="which faults (default: any)")
    options = parser.parse_args(argv)
    seed = round(SystemChance().fraction() * 1_000_000) if options.seed is None else options.seed
    say(f"chaos: on {options.on}, seed {seed}, {options.seconds:g} s")
    run = Run(seed, options.seconds, GROUNDS[options.on]())
    wrong: list[str] = ["it did not come to its end"]
    try:
        wrong = run.run()
    finally:
        run.ground.close(keep=bool(wrong))
        if wrong:
            say(f"kept: {run.ground.place} (the database) and {run.world.folder} (logs and ledger)")
            say(f"again: python -m campaign.chaos --on {options.on} --seed {seed} --seconds {options.seconds:g}")
    run.summary()
    for one in wrong[:50]:
        say(f"WRONG {one}")
    say(f"{len(wrong)} things were wrong" if wrong else "everything held")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
