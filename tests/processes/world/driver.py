"""A world for fault tests: a folder, a database, real processes of mainspring in it, a ledger, and a judge.

Processes are started as a person would start them and killed as fate would. On the way out the world must be able to
end everything, and nothing that was started in it may live on.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from mainspring.client.direct import DirectClient, connect
from mainspring.clock import MILLISECOND, SECOND, Clock, Duration, SystemClock, from_seconds
from mainspring.domain.attempt import Attempt
from mainspring.domain.event import Event
from mainspring.domain.job import Job, JobFilter
from mainspring.domain.logline import LogLine
from mainspring.domain.states import FINAL, Outcome, State, next_state
from mainspring.domain.worker import Worker, WorkerState
from mainspring.process import carriers
from mainspring.sdk.connection import use_client
from mainspring.sdk.task import RegisteredTask
from tests import blank
from tests.patience import Limit, ended
from tests.processes.world.apps import ledgers

ROOT = Path(__file__).parents[3]
APP = Path(__file__).parent / "apps" / "ledgers.py"
LEASE, SWEEP = 2.0, 1.0
_LOOK, _LOOK_SELDOM = Duration(15 * MILLISECOND), Duration(60 * MILLISECOND)
"""Between two looks at what is waited for: soon at first, then seldom, as a look costs a millisecond or two."""
T = TypeVar("T")


class Line(NamedTuple):
    """A line of the ledger; ``at`` is monotonic seconds."""

    kind: str
    job: int
    attempt: int
    pid: int
    at: float


class Process:
    """One process of mainspring, in a process group of its own."""

    def __init__(self, argv: Sequence[str], folder: Path, environment: dict[str, str], log: Path) -> None:
        self.log = log
        with log.open("ab") as said:
            self.popen = subprocess.Popen(
                argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said, process_group=0
            )
        self.pid = self.popen.pid

    @property
    def said(self) -> str:
        """What it wrote."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    @property
    def status(self) -> int | None:
        """Its exit status; negative for a signal, None while it runs."""
        return self.popen.poll()

    def send(self, number: signal.Signals) -> None:
        self.popen.send_signal(number)

    def kill(self) -> None:
        """SIGKILL to it alone."""
        self.popen.kill()
        self.popen.wait()

    def wait(self, within: float = 40) -> int:
        """Wait for its end; the exit status."""
        return ended(self.popen, within)

    def stop(self, within: float = 40) -> int:
        """SIGTERM, and wait."""
        self.send(signal.SIGTERM)
        return self.wait(within)


class World:
    """One platform. Lease 2 s and sweep 1 s unless a process is started with others.

    ``url``: of its database, if it is not to be a file of its own; ``keep``: its folder is not taken away in the end.
    """

    def __init__(self, url: str = "") -> None:
        self.keep = False
        self.clock: Clock = SystemClock()
        self.folder = Path(tempfile.mkdtemp(prefix="mw"))
        self.home = self.folder / "home"
        self.home.mkdir()
        self.database = self.folder / "m.db"
        self.url = url or f"sqlite:///{self.database}"
        self.ledger_file = self.home / "ledger"
        self.processes: list[Process] = []
        self._client: DirectClient | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._end()
        finally:
            if kind is not None:
                print(*(f"--- {one.log.name}\n{one.said}" for one in self.processes), sep="\n")
            if not self.keep:
                shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self) -> None:
        for process in self.processes:
            if process.status is None:
                process.send(signal.SIGCONT)
                os.killpg(process.pid, signal.SIGTERM)
        try:
            for process in self.processes:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(10)
            if self._client is not None:
                self._client.close()
            self.eventually(lambda: not self.alive(), within=8, what="the end of every process")
        finally:
            for pid in self.alive():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for process in self.processes:
                process.popen.wait()

    def alive(self) -> list[int]:
        """The processes that were started in this world and live: all carry its HOME, jobs in their own process too."""
        return [pid for pid in carriers("HOME", str(self.home)) if not is_zombie(pid)]

    # --- starting -------------------------------------------------------------------------------------------------

    def start(self, *words: str, shell: str = "", faults: str = "", **settings: object) -> Process:
        """``mainspring WORDS``; ``settings`` by environment, ``faults`` as MAINSPRING_FAULTS spells them.

        ``shell``: a script that runs it as ``"$@"``.
        """
        argv = [sys.executable, "-m", "mainspring", *words]
        if shell:
            argv = ["sh", "-c", shell, "sh", *argv]
        process = Process(argv, self.folder, self._environment(faults, settings), self._log(words[0]))
        self.processes.append(process)
        return process

    def command(self, *words: str, faults: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            [sys.executable, "-m", "mainspring", *words],
            cwd=self.folder,
            env=self._environment(faults, {}),
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )

    def _environment(self, faults: str, settings: dict[str, Any]) -> dict[str, str]:
        usual = {
            "lease": f"{LEASE:g}s",
            "sweep": f"{SWEEP:g}s",
            "poll": "500ms",
            "drain": "4s",
            "database_url": self.url,
        }
        chosen = usual | settings
        return (
            {name: value for name, value in os.environ.items() if not name.startswith("MAINSPRING_")}
            | {f"MAINSPRING_{name.upper()}": str(value) for name, value in chosen.items()}
            | {"HOME": str(self.home)}
            | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
            | ({"MAINSPRING_FAULTS": faults} if faults else {})
        )

    def _log(self, word: str) -> Path:
        return self.folder / f"{len(self.processes):02}-{word}.log"

    def worker(self, name: str = "", *, ready: bool = True, **settings: Any) -> Process:
        """A worker; with ``ready`` once it is active."""
        name = name or f"w{len(self.processes)}"
        process = self.start("worker", "--app", str(APP), "--name", name, **settings)
        if ready:
            self.eventually(lambda: name in self.active() or process.status is not None, what=f"worker {name}")
            assert process.status is None, process.said
        return process

    def writable(self) -> bool:
        """Whether the database takes writes: a process that is frozen amid a commit keeps a SQLite file locked."""
        if not self.url.startswith("sqlite"):
            return True
        with closing(sqlite3.connect(self.database, timeout=0.5, isolation_level=None)) as other:
            try:
                other.execute("begin immediate")
            except sqlite3.OperationalError:
                return False
            other.execute("rollback")
            return True

    def freeze(self, pid: int) -> None:
        """Stop a process, but not amid a commit to a SQLite file, where it would hold up everybody else."""
        os.kill(pid, signal.SIGSTOP)
        while not self.writable():
            os.kill(pid, signal.SIGCONT)
            self.eventually(self.writable)
            os.kill(pid, signal.SIGSTOP)

    def server(self, **settings: Any) -> Process:
        """A server on a free port."""
        return self.start("server", "--port", str(free_port()), **settings)

    def up(self, *words: str, ready: bool = True, shell: str = "", **settings: Any) -> Process:
        """The whole tree on a free port; with ``ready`` once a worker is active."""
        before = {worker.id for worker in self.client.workers()} if ready else set()
        process = self.start("up", "--app", str(APP), "--port", str(free_port()), *words, shell=shell, **settings)
        if ready:
            self.eventually(lambda: {one.id for one in self.active().values()} - before or process.status is not None)
            assert process.status is None, process.said
        return process

    # --- asking ---------------------------------------------------------------------------------------------------

    @property
    def client(self) -> DirectClient:
        """A client of this test's process."""
        if self._client is None:
            if not self.processes and self.url == f"sqlite:///{self.database}":
                blank.lay(self.database)
            self._client = connect(self.url)
        return self._client

    def settle(self, url: str) -> None:
        """From now on the platform is at this address."""
        if self._client is not None:
            self._client.close()
        self._client = None
        self.url = url

    def submit(self, task: str, /, **params: Any) -> int:
        """Submit one job of the app of ledgers; its number."""
        return self.submit_many(task, [params])[0]

    def submit_many(self, task: str, rows: Iterable[dict[str, Any]], **options: Any) -> list[int]:
        """Submit several; their numbers."""
        registered: RegisteredTask[..., Any, Any] = ledgers.app.tasks[task]
        with use_client(self.client):
            return [handle.id for handle in registered.options(**options).submit_many(rows)]

    def job(self, job: int) -> Job:
        return self.client.job(job)

    def attempts(self, job: int) -> list[Attempt]:
        return self.client.attempts(job)

    def outcomes(self, job: int) -> list[Outcome | None]:
        return [attempt.outcome for attempt in self.attempts(job)]

    def active(self) -> dict[str, Worker]:
        """The active workers by name."""
        return {worker.name: worker for worker in self.client.workers() if worker.state is WorkerState.ACTIVE}

    def runner_of(self, worker: str) -> int:
        """The pid of a worker's (first) runner."""
        return int(self.eventually(lambda: self.active()[worker].pids.get("runners"), what="a runner")[0])

    def log_of(self, job: int) -> str:
        """Everything that a job wrote, streams mixed as it came."""
        return "".join(f"{line.text}\n" for line in self.lines_of(job))

    def lines_of(self, job: int) -> list[LogLine]:
        """All log lines of a job."""
        lines: list[LogLine] = []
        while page := self.client.logs(job, after=lines[-1].seq if lines else 0):
            lines += page
        return lines

    def eventually(self, look: Callable[[], T | None], *, within: float = 40, what: str = "it") -> T:
        """The first true answer of ``look``; fails when none comes in time."""
        limit, pause = Limit(within), _LOOK
        while True:
            found = look()
            if found:
                return found
            assert not limit.over(), f"{what}: not within {within:g} s, still {found!r}"
            self.clock.wait(pause)
            pause = min(_LOOK_SELDOM, Duration(pause * 5 // 4))

    def until_state(self, job: int, state: State, *, within: float = 40) -> Job:
        """Wait for a state."""
        self.eventually(lambda: self.job(job).state is state, within=within, what=f"job {job} {state}")
        return self.job(job)

    def until_ended(self, jobs: Iterable[int], *, within: float = 60) -> dict[int, State]:
        """Wait until these jobs have ended; their states."""
        open_jobs, states = set(jobs), {}

        def look() -> bool:
            for job in list(open_jobs):
                state = self.job(job).state
                if state in FINAL:
                    states[job] = state
                    open_jobs.discard(job)
                else:
                    return False
            return not open_jobs

        self.eventually(look, within=within, what="the end of all jobs")
        return states

    def stays(self, look: Callable[[], bool], span: float) -> None:
        """Something is true now and for a while."""
        until = self.clock.monotonic() + from_seconds(span)
        while self.clock.monotonic() < until:
            assert look()
            self.clock.wait(Duration(20 * MILLISECOND))

    # --- the ledger and the judge ---------------------------------------------------------------------------------

    def ledger(self, job: int | None = None, kind: str = "") -> list[Line]:
        """The ledger's lines in order of time; of one job, of one kind."""
        text = self.ledger_file.read_text() if self.ledger_file.exists() else ""
        parts = [line.split() for line in text.splitlines()]
        lines = [Line(part[0], int(part[1]), int(part[2]), int(part[3]), int(part[4]) / 1e9) for part in parts]
        return sorted(
            (line for line in lines if job in (None, line.job) and kind in ("", line.kind)), key=lambda line: line.at
        )

    def started(self, job: int, attempt: int = 1, *, within: float = 40) -> Line:
        """Wait for the start of an attempt."""
        return self.eventually(
            lambda: next((line for line in self.ledger(job, "start") if line.attempt == attempt), None),
            within=within,
            what=f"start {attempt} of job {job}",
        )

    def now(self) -> float:
        """The ledger's clock."""
        return self.clock.monotonic() / SECOND

    def judge(self) -> None:
        """What must hold whatever happened: legal histories, one end each, attempts numbered, the ledger in line."""
        events: dict[int, list[Event]] = {}

        def all_told() -> bool:
            """Events wait for writers under way: one may be a session whose worker has just gone."""
            events.update(self._histories())
            return all(self.job(job).state is history[-1].target for job, history in events.items())

        self.eventually(all_told, within=20, what="the last events of all jobs")
        ledger = defaultdict(list)
        for line in self.ledger():
            ledger[line.job].append(line)
        for job, history in events.items():
            self._judge_history(job, history)
            self._judge_attempts(job, history, ledger[job])

    def _histories(self) -> dict[int, list[Event]]:
        events: dict[int, list[Event]] = defaultdict(list)
        after = 0
        while page := self.client.events(after=after, limit=5_000):
            after = page[-1].seq
            for event in page:
                events[event.job].append(event)
        return events

    def _judge_history(self, job: int, history: list[Event]) -> None:
        state = State.NEW
        for earlier, later in pairwise(history):
            assert earlier.at <= later.at, f"job {job}: time went back at event {later.seq}"
        for event in history:
            assert event.source is state, f"job {job}: event {event.seq} leaves {event.source}, it was {state}"
            assert next_state(state, event.cause) is event.target, f"job {job}: {event}"
            state = event.target
        assert sum(event.target in FINAL for event in history) <= 1

    def _judge_attempts(self, job: int, history: list[Event], lines: list[Line]) -> None:
        claims = [event.attempt for event in history if event.target is State.RUNNING]
        assert claims == list(range(1, len(claims) + 1)), f"job {job}: attempts {claims}"
        starts = [line.attempt for line in lines if line.kind == "start"]
        assert len(starts) == len(set(starts)), f"job {job}: an attempt started twice: {starts}"
        assert set(starts) <= set(claims), f"job {job}: {starts} started, {claims} claimed"
        if history[-1].target is State.SUCCEEDED:
            assert not lines or ("end", claims[-1]) in [(line.kind, line.attempt) for line in lines]
            assert [one for one in self.outcomes(job) if one is Outcome.SUCCEEDED] == [Outcome.SUCCEEDED]

    def count(self, **wanted: Any) -> int:
        return self.client.count(JobFilter(**wanted))


def command(pid: int) -> str:
    """What ps shows of a process."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def state_of(pid: int) -> str:
    """R, S, T, Z ... as the kernel has it; X when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def is_zombie(pid: int) -> bool:
    """Dead and not yet buried, or gone."""
    return state_of(pid) in "ZX"


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
