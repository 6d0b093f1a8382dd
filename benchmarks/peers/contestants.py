"""Who is measured, where each keeps its jobs, and how each is set up: the fastest of its own sensible ways."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import mainspring
from benchmarks import drain, latency
from benchmarks.peers import environment
from benchmarks.peers.redis_place import RedisPlace
from benchmarks.peers.scripts.ledger import marks
from benchmarks.place import Place
from benchmarks.postgres import PostgresPlace
from benchmarks.report import percentile

_ROOT = Path(__file__).parents[2]
_SYNCED = "yes, each commit is synced"


class Contestant(Protocol):
    """Something that runs jobs.

    ``durable``: whether a stored job outlives the machine; ``share``: of the jobs of a drain, so that a slow one takes
    about as long as a fast one; ``how``: its set-up.
    """

    @property
    def name(self) -> str: ...
    @property
    def where(self) -> type[Place]: ...
    @property
    def durable(self) -> str: ...
    @property
    def share(self) -> float: ...
    @property
    def how(self) -> str: ...
    @property
    def version(self) -> str: ...
    def ready(self) -> None:
        """Install what is missing. Raises LeftOut."""
        ...

    def drain(self, jobs: int, workers: int) -> float:
        """Jobs a second, of no-op jobs that wait when the workers start."""
        ...

    def pickup(self, *, quick: bool) -> tuple[float, float]:
        """Milliseconds from a submit to the first line of its job on an idle worker: p50 and p99."""
        ...


@dataclass(frozen=True)
class Ours:
    """mainspring, as the other benchmarks measure it: results, attempts and events are stored with each end."""

    name: str
    where: type[Place]
    durable: str = _SYNCED
    share: float = 1
    how: str = "async task; as it comes: 100 slots, one runner; stores results, attempts and events"

    @property
    def version(self) -> str:
        return mainspring.__version__

    def ready(self) -> None:
        """It is here."""

    def drain(self, jobs: int, workers: int) -> float:
        with self.where() as place:
            return drain.product_rate(place, jobs, (), workers=workers)

    def sleeping(self, jobs: int, workers: int) -> float:
        """Jobs a second of 5 ms each, with 10 slots a worker."""
        with self.where() as place:
            return drain.product_rate(place, jobs, ("--slots", "10"), workers=workers, task="sleep")

    def pickup(self, *, quick: bool) -> tuple[float, float]:
        middle, slow = latency.pickup(self.where, quick=quick)
        return middle.value, slow.value


@dataclass(frozen=True)
class Peer:
    """Another queue, whose jobs note in a ledger when they run; ``script``: its app in the folder scripts."""

    name: str
    script: str
    where: type[Place]
    durable: str
    share: float
    how: str

    @property
    def version(self) -> str:
        return environment.version(self.name.lower())

    def ready(self) -> None:
        environment.python()
        if self.where is RedisPlace:
            environment.redis()

    def drain(self, jobs: int, workers: int) -> float:
        with self.where() as place:
            asked = _Asked(place, self.script, room=jobs)
            asked.wait("prepare")
            asked.wait("fill", str(jobs))
            started = [asked.start("worker") for _ in range(workers)]
            place.until("the drain", lambda: _drained(place, jobs, started), within=300, every=0.25)
            for worker in started:
                place.stop(worker)
            return rate(marks(place.ledger), jobs)

    def pickup(self, *, quick: bool) -> tuple[float, float]:
        samples = 40 if quick else 200
        with self.where() as place:
            asked = _Asked(place, self.script, room=samples + 1)
            asked.wait("prepare")
            worker = asked.start("worker")
            taken = json.loads(asked.wait("pickup", str(samples)))
            place.stop(worker)
        return percentile(taken, 0.5), percentile(taken, 0.99)


class _Asked:
    """The script of a peer in a place, in the peers' interpreter."""

    def __init__(self, place: Place, script: str, *, room: int) -> None:
        self._place = place
        self._command = (environment.python(), "-m", "benchmarks.peers.scripts.roles", script)
        self._environment = {
            "BENCH_URL": place.url,
            "BENCH_LEDGER": str(place.ledger),
            "BENCH_JOBS": str(room),
            "PYTHONPATH": str(_ROOT),
            "PYTHONWARNINGS": "ignore",
        }
        place.ledger.mkdir()

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        return self._place.run(*self._command, *words, environment=self._environment)

    def wait(self, *words: str) -> str:
        """Let it do this to its end; what it printed."""
        answer = self._place.folder / "answer"
        with answer.open("w") as printed:
            process = self._place.run(*self._command, *words, environment=self._environment, printed=printed)
        self._place.until(" ".join(words), lambda: process.poll() is not None, within=300, every=0.01)
        self._place.stop(process)
        if process.returncode:
            raise SystemExit(f"{' '.join(words)} ended with {process.returncode}. It said:\n{self._place.said()}")
        return answer.read_text()


def _drained(place: Place, jobs: int, workers: Sequence[subprocess.Popen[bytes]]) -> bool:
    """Whether all jobs have run; workers that were told to end from outside would never get there."""
    if sum(map(len, marks(place.ledger))) >= jobs:
        return True
    if any(worker.poll() is not None for worker in workers):
        raise SystemExit(f"a worker ended before the drain did. It said:\n{place.said()}")
    return False


def rate(ledgers: Sequence[Sequence[int]], jobs: int) -> float:
    """Jobs a second, from the moment when each process has run one, as long as all run, to the last.

    So a start that takes long is not counted; with one process it is from the first job to the last.
    """
    since = max(each[0] for each in ledgers)
    last = max(each[-1] for each in ledgers)
    counted = sum(at > since for each in ledgers for at in each)
    if counted < jobs / 4:
        raise SystemExit(f"{jobs - counted} of {jobs} jobs were gone before all workers ran: a figure needs more jobs")
    return counted / (last - since) * 1e9


POSTGRES = Ours("mainspring on PostgreSQL", PostgresPlace)
EVERY: tuple[Contestant, ...] = (
    POSTGRES,
    Ours("mainspring on SQLite", Place),
    Peer(
        "pgqueuer",
        "pgqueuer_app",
        PostgresPlace,
        durable=_SYNCED,
        share=1,
        how="async task on asyncpg and uvloop, batch size 100; keeps a log row a change of state",
    ),
    Peer(
        "Procrastinate",
        "procrastinate_app",
        PostgresPlace,
        durable=_SYNCED,
        share=0.02,
        how="async task on psycopg and uvloop, concurrency 5, 5 connections; keeps jobs and their events",
    ),
    Peer(
        "Dramatiq",
        "dramatiq_app",
        RedisPlace,
        durable="no: snapshots",
        share=0.4,
        how="as it comes: a process for each of two cores, 8 threads each; no results, no history",
    ),
    Peer(
        "Celery",
        "celery_app",
        RedisPlace,
        durable="no: snapshots",
        share=0.1,
        how="solo pool, its fastest for such jobs, prefetch 100; results ignored, events and gossip off; no history",
    ),
    Peer(
        "Huey",
        "huey_app",
        Place,
        durable="until it is taken: a crash loses it",
        share=0.2,
        how="one thread that polls every 10 ms, results off, commits synced as SQLite does by itself; no history",
    ),
)
