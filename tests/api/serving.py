"""A real server process on a real SQLite file, and a worker by hand that moves jobs as a real one does."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx2

from mainspring.clock import MILLISECOND, SECOND, Duration, SystemClock
from mainspring.domain.attempt import Ending, Failure
from mainspring.domain.ids import JobId, WorkerId
from mainspring.domain.retry import Retry
from mainspring.domain.states import Outcome
from mainspring.domain.task import Catalog, Executor, Lodging, Task
from mainspring.domain.worker import WorkerState
from mainspring.engine.claiming import Claimed, Claimer
from mainspring.engine.held import Limits, Room, RunnerView
from mainspring.store import Store, Transaction, catalog, lanes, runs, workers
from mainspring.store.workers import Hello
from mainspring.transitions.ended import Report, end
from tests.api import conformance
from tests.patience import Limit, ended

API = "/api/v1"
COMMAND = [sys.executable, "-m", "mainspring", "server"]
LEASE = Duration(60 * SECOND)

T = TypeVar("T")


def eventually(look: Callable[[], T], *, within: Duration = Duration(60 * SECOND)) -> T:
    """What ``look`` answers as soon as it is true."""
    clock = SystemClock()
    limit = Limit(within / SECOND)
    while True:
        found = look()
        if found:
            return found
        assert not limit.over(), f"still {found!r}"
        clock.wait(Duration(10 * MILLISECOND))


class Serving:
    """One server process."""

    def __init__(
        self,
        directory: Path,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        faults: str = "",
        options: tuple[str, ...] = (),
        database: str | None = None,
    ) -> None:
        self.database = database or f"sqlite:///{directory}/main.db"
        self._said = directory / "said.txt"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MAINSPRING_")}
        with self._said.open("w") as stderr:
            self.process = subprocess.Popen(
                [*COMMAND, "--db", self.database, "--host", host, "--port", str(port), *options],
                stderr=stderr,
                stdout=stderr,
                cwd=directory,
                env=environment | {"MAINSPRING_FAULTS": faults, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
        self.url = ""

    def wait_until_up(self) -> Serving:
        """Come back when it takes requests."""
        self.url = eventually(self._address, within=Duration(60 * SECOND))
        self.http = httpx2.Client(
            base_url=self.url, trust_env=False, timeout=30, event_hooks={"response": [conformance.check]}
        )
        return self

    def _address(self) -> str:
        found = re.search(r"listening at (https?://[\w.:\[\]]+)", self.said)
        assert found or self.process.poll() is None, self.said
        return found[1] if found else ""

    @property
    def said(self) -> str:
        """All that it wrote."""
        return self._said.read_text()

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Its exit status."""
        self.process.send_signal(number)
        return ended(self.process, 40)

    def close(self) -> None:
        if self.url:
            self.http.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def submit(self, task: str = "shop.echo", **fields: Any) -> dict[str, Any]:
        """A new job that must be taken."""
        answer = self.http.post(f"{API}/jobs", json={"task": task, **fields})
        assert answer.status_code == 201, answer.text
        job: dict[str, Any] = answer.json()
        return job

    def job(self, number: int) -> dict[str, Any]:
        answer = self.http.get(f"{API}/jobs/{number}")
        assert answer.status_code == 200, answer.text
        job: dict[str, Any] = answer.json()
        return job

    def raw(self, request: bytes, *, host: str = "127.0.0.1") -> bytes:
        """Send bytes as they are and read until the server hangs up."""
        with socket.create_connection((host, self.port), timeout=20) as connection:
            connection.sendall(request)
            data = b""
            while piece := connection.recv(65_536):
                data += piece
            return data


def task(name: str, properties: dict[str, Any], required: list[str]) -> Task:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return Task(
        name=f"shop.{name}",
        app="shop",
        executor=Executor.ASYNC,
        queue="shop",
        schema=schema,
        retry=Retry().document(),
        code_hash="1",
    )


CATALOG = Catalog(
    app="shop",
    code_hash="1",
    tasks=(
        task("echo", {"text": {}, "count": {"type": "integer"}}, []),
        task("receipt", {"order_id": {"type": "integer"}}, ["order_id"]),
    ),
)


class HandWorker:
    """Claims and ends jobs as a worker's turn does, one at a time and when the test says so."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.id = WorkerId(0)
        self._known: dict[int, Claimed] = {}

    def arrive(self) -> None:
        """Declare the catalog and register as a live worker that can run it."""

        def work(tx: Transaction) -> WorkerId:
            catalog.declare(tx, CATALOG)
            worker = workers.register(tx, self._hello())
            workers.beat(tx, worker, WorkerState.ACTIVE, LEASE)
            return worker

        self.id = self._store.write(work)

    def leave(self) -> None:
        self._store.write(lambda tx: workers.beat(tx, self.id, WorkerState.STOPPED, LEASE))

    def _hello(self) -> Hello:
        names = [one.name for one in CATALOG.tasks]
        return Hello("00ff", "alpha", "here", 1, "shop", "1", "0.1.0", [], {"disk": "fast"}, 4, names, {"runners": [2]})

    def claim(self, queue: str) -> int:
        """Take the next job of a queue; its number."""

        def work(tx: Transaction) -> list[Claimed]:
            runner = RunnerView(1, Lodging.SHARED, frozenset())
            room = Room(Limits(slots=1, processes=0), {}, [runner])
            every = lanes.read_map(tx)
            open_lanes = every._replace(lanes=[lane for lane in every.lanes if lane.queue == queue])
            claimer = Claimer(self.id, LEASE, f"worker:{self.id}", SystemClock())
            return claimer.claim(tx, open_lanes, room, None, avoid=()).jobs

        (claimed,) = self._store.write(work)
        number = claimed.grant.left.job
        self._known[number] = claimed
        return number

    def end(self, job: int, outcome: Outcome, *, result: bytes | None = None, failure: Failure | None = None) -> None:
        claimed = self._known.pop(job)
        ending = Ending(JobId(job), claimed.grant.claim, outcome, result=result, failure=failure)

        def work(tx: Transaction) -> None:
            link = runs.links(tx, [JobId(job)]).get(JobId(job))
            end(tx, [Report(ending, claimed.policy, alone=False, link=link)], f"worker:{self.id}")

        self._store.write(work)
