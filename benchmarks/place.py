"""Where a benchmark runs: a folder of its own on a real disk, the product's processes in it, and looks at /proc.

Processes are started as a person would start them. The database is read through apsw only, as a second SQLite library
in one process would break the locks of the first.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, ClassVar, Protocol, Self

import apsw

import mainspring
from benchmarks.raw import BATCH, RawStore
from mainspring.client.direct import DirectClient, connect
from mainspring.sdk.connection import use_client
from mainspring.store.sqlite import filesystem

APP = Path(__file__).with_name("app.py")
_PATH = os.pathsep.join((str(Path(mainspring.__file__).parents[1]), str(APP.parents[1])))
_TICKS = os.sysconf("SC_CLK_TCK")


class Raw(Protocol):
    """The raw limit: what a plain driver can do with the same rows."""

    def insert(self, count: int, *, batch: int) -> float:
        """Store jobs as a submit does; jobs per second."""
        ...

    def drain(self, count: int, *, batch: int = BATCH) -> float:
        """Claim and end this many waiting jobs; jobs per second."""
        ...

    def claim(self, batch: int) -> list[tuple[int, int]]:
        """Move the next jobs from ready to lease; their claims."""
        ...

    def end(self, claims: list[tuple[int, int]]) -> None:
        """Move these to their end."""
        ...

    def close(self) -> None:
        """Close and remove it."""
        ...


class Place:
    """A folder with one database. Use it as a context: it ends what it started and removes the folder."""

    driver: ClassVar[str] = "sqlite3"
    pickup: ClassVar[tuple[int, int]] = (3, 15)  # budgets of DESIGN section 12, in ms
    hop: ClassVar[int] = 3
    measured: ClassVar[tuple[str, ...]] = ()  # benchmarks that depend on the engine; none named: all

    def __init__(self) -> None:
        parent = Path(tempfile.gettempdir())
        if filesystem(parent) == "tmpfs":
            parent = Path.cwd()  # memory would flatter every commit
        self.folder = Path(tempfile.mkdtemp(prefix="msb", dir=parent))
        self.database = self.folder / "m.db"
        self.url = f"sqlite:///{self.database}"
        self.ledger = self.folder / "ledger"
        self._running: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._running):
            self.stop(process)
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- processes ------------------------------------------------------------------------------------------------

    def start(
        self, *words: str, launcher: tuple[str, ...] = ("-m", "mainspring"), **settings: str
    ) -> subprocess.Popen[bytes]:
        """``mainspring WORDS`` in this place. Keyword arguments become settings: ``lease="2s"``."""
        environment = {f"MAINSPRING_{name.upper()}": value for name, value in settings.items()}
        environment |= {"MAINSPRING_DATABASE_URL": self.url, "BENCH_LEDGER": str(self.ledger), "PYTHONPATH": _PATH}
        return self.run(sys.executable, *launcher, *words, environment=environment)

    def run(
        self, *command: str, environment: Mapping[str, str] = {}, printed: IO[str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Any command in this place, which ends with it. ``printed``: where its standard output goes."""
        with (self.folder / "said").open("ab") as said:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=os.environ | environment,
                stdin=subprocess.DEVNULL,
                stdout=printed or said,
                stderr=said,
                start_new_session=True,
            )
        self._running.append(process)
        return process

    def worker(self, *words: str, **settings: Any) -> subprocess.Popen[bytes]:
        """A worker with the benchmark app."""
        return self.start("worker", "--app", str(APP), *words, **settings)

    def up(self, *words: str, **settings: Any) -> subprocess.Popen[bytes]:
        """The whole tree with the benchmark app, on a free port."""
        return self.start("up", "--app", str(APP), "--port", str(free_port()), *words, **settings)

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """Ask it to end, then make it."""
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process in self._running:
            self._running.remove(process)

    def said(self) -> str:
        """What the processes wrote."""
        path = self.folder / "said"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    # --- waiting --------------------------------------------------------------------------------------------------

    def until(self, what: str, condition: Callable[[], bool], *, within: float = 60, every: float = 0.05) -> None:
        """Wait for a condition, or end with what the processes said."""
        deadline = time.monotonic() + within
        while not condition():
            if time.monotonic() > deadline:
                raise SystemExit(f"{what} did not happen within {within:.0f} s. The processes said:\n{self.said()}")
            if dead := [one for one in self._running if one.poll() not in (None, 0)]:
                raise SystemExit(f"{what}: a process ended with {dead[0].returncode}. It said:\n{self.said()}")
            time.sleep(every)

    def until_ready(self, workers: int = 1) -> None:
        """Wait until workers are ready to claim."""
        with self.reading() as look:
            self.until("a worker's start", lambda: look("select count(*) from beat where state = 'active'") >= workers)

    # --- the database ---------------------------------------------------------------------------------------------

    def raw(self) -> Raw:
        """The same tables, empty, through the plain driver."""
        return RawStore(self.folder / f"raw-{time.monotonic_ns()}.db")

    @contextmanager
    def sdk(self) -> Iterator[DirectClient]:
        """The SDK of this process works on this database for a while; made where it is missing."""
        client = connect(self.url)
        try:
            with use_client(client):
                yield client
        finally:
            client.close()

    @contextmanager
    def reading(self) -> Iterator[Callable[[str], int]]:
        """A function that answers one number of the database; 0 as long as there is nothing."""
        connection: apsw.Connection | None = None

        def look(question: str) -> int:
            nonlocal connection
            if connection is None:
                if not self.database.exists():
                    return 0
                connection = apsw.Connection(str(self.database), flags=apsw.SQLITE_OPEN_READWRITE)
                connection.set_busy_timeout(5000)
            try:
                rows = list(connection.execute(question))
            except apsw.SQLError:
                return 0  # before the schema is there
            return int(rows[0][0] or 0) if rows else 0

        try:
            yield look
        finally:
            if connection is not None:
                connection.close()

    def stamps(self) -> list[tuple[int, int]]:
        """The ledger: number and monotonic nanoseconds, in the order of writing."""
        text = self.ledger.read_text() if self.ledger.exists() else ""
        return [(int(line.split()[0]), int(line.split()[1])) for line in text.splitlines()]


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# --- /proc ------------------------------------------------------------------------------------------------------------


def tree(root: int) -> list[int]:
    """A process and all its descendants."""
    found, ahead = [], [root]
    while ahead:
        pid = ahead.pop()
        found.append(pid)
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            ahead += [int(child) for child in task.read_text().split()]
    return sorted(found)


def command(pid: int) -> str:
    """What ``ps`` shows."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()


def role(pid: int) -> str:
    """``up``, ``server``, ``worker``, ``runner``, ``guard`` ... from what ``ps`` shows."""
    words = command(pid)
    for name in ("guard", "spawner", "runner", "worker", "server", "up"):
        if f"mainspring {name}" in words or f"{name}.py" in words:
            return name
    return words[:40]


def cpu_seconds(pid: int) -> float:
    """User and system time so far: to the nanosecond where the kernel counts so, else in its ticks."""
    with suppress(OSError, ValueError):
        files = Path(f"/proc/{pid}/task").glob("*/schedstat")
        return sum(int(file.read_text().split()[0]) for file in files) / 1e9
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def wakeups(pid: int) -> int:
    """How often its threads went to sleep by themselves: no loop can ask the database more often than it wakes."""
    total = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        for line in status.read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches"):
                total += int(line.split()[1])
    return total


def memory(pid: int) -> tuple[float, float]:
    """Proportional and resident memory in megabytes (10^6 bytes)."""
    values = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, _, rest = line.partition(":")
        values[name] = int(rest.split()[0]) * 1024 / 1e6
    return values.get("Pss", 0.0), values.get("Rss", 0.0)
