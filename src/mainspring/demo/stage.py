"""The stage: a temporary folder with a real platform in it, started as a person would start it.

``mainspring up`` (supervisor, server, worker alpha) and a second worker, beta. It starts, kills and ends processes, and
knows nothing of what they are asked to do.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self

from mainspring.client.direct import DirectClient, connect
from mainspring.clock import MILLISECOND, SECOND, Clock, Duration, duration_text
from mainspring.domain.worker import Worker, WorkerState
from mainspring.process import die_with_parent

APP = "mainspring.demo.traffic:app"
LEASE, SWEEP = "2s", "1s"
_START = Duration(30 * SECOND)
_END = Duration(20 * SECOND)
_LOOK = Duration(30 * MILLISECOND)


class StageError(Exception):
    """The platform did not do what any platform must; says what, with the end of its log."""


class Stage:
    """A platform. Use it as a context: on the way out it is drained and ended; the folder stays, to be looked at."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.folder = Path(tempfile.mkdtemp(prefix="mainspring-demo-"))
        self.url = f"sqlite:///{self.folder}/mainspring.db"
        self.log = self.folder / "platform.log"
        self.port = _free_port()
        self._running: list[subprocess.Popen[bytes]] = []
        self._client: DirectClient | None = None
        self._kept: dict[int, object] = {}

    @property
    def address(self) -> str:
        """Where the server listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def client(self) -> DirectClient:
        """A client on its database."""
        if self._client is None:
            self._client = connect(self.url)
        return self._client

    def __enter__(self) -> Self:
        # A signal that would end us at once would leave the platform behind.
        for number in (signal.SIGTERM, signal.SIGHUP):
            self._kept[number] = signal.signal(number, _interrupted)
        self._start("up", "--app", APP, "--port", str(self.port), "--slots", "4", "--name", "alpha")
        self._start("worker", "--app", APP, "--slots", "4", "--name", "beta")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._running:
            process.send_signal(signal.SIGTERM)
        deadline = self._clock.monotonic() + _END
        for process in self._running:
            try:
                process.wait(max(0.1, (deadline - self._clock.monotonic()) / SECOND))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._client is not None:
            self._client.close()
            self._client = None
        for number, handler in self._kept.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _start(self, *words: str) -> None:
        with self.log.open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and package
                (sys.executable, "-m", "mainspring", *words, "--db", self.url, "--log-format", "pretty"),
                cwd=self.folder,
                env=os.environ | {"MAINSPRING_LEASE": LEASE, "MAINSPRING_SWEEP": SWEEP},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,  # Ctrl-C reaches it only through us
                preexec_fn=partial(die_with_parent, signal.SIGTERM, os.getpid()),  # noqa: PLW1509 - no thread yet
            )
        self._running.append(process)

    def until(self, what: str, condition: Callable[[], bool], *, within: Duration = _START) -> None:
        """Wait for a condition. Raises StageError when it does not come, or a process has ended."""
        deadline = self._clock.monotonic() + within
        while not condition():
            if any(process.poll() is not None for process in self._running):
                raise StageError(f"A process of the platform ended before {what}.\n{self._last_lines()}")
            if self._clock.monotonic() > deadline:
                raise StageError(f"There was not {what} within {duration_text(within)}.\n{self._last_lines()}")
            self._clock.wait(_LOOK)

    def active_workers(self) -> dict[str, Worker]:
        """The live workers by name."""
        return {worker.name: worker for worker in self.client.workers() if worker.state is WorkerState.ACTIVE}

    def kill_worker(self, name: str) -> bool:
        """SIGKILL a worker's own process, which nothing can catch. False when it is not there."""
        worker = self.active_workers().get(name)
        if worker is None:
            return False
        os.kill(worker.pid, signal.SIGKILL)
        return True

    def wait_for_end(self) -> None:
        """Block until the platform ends by itself; Ctrl-C comes through as KeyboardInterrupt."""
        self._running[0].wait()

    def _last_lines(self) -> str:
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
