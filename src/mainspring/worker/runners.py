"""Runner processes as the coordinator sees them: started under a guard, spoken to over two channels, watched, ended.

It never waits: everything that a guard has to say is read when ``guard_fd`` is readable. It knows nothing of jobs.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from mainspring.chance import Chance, SystemChance
from mainspring.clock import Duration
from mainspring.domain.frame import FromRunner
from mainspring.process import carriers, kill_groups
from mainspring.worker.forensics import RunnerDeath, runner_death
from mainspring.worker.frames import Channel, from_runner

GUARD = Path(__file__).with_name("guard.py")
KEPT_FROM_RUNNERS = ("MAINSPRING_DATABASE_URL", "MAINSPRING_API_URL", "MAINSPRING_TOKEN", "MAINSPRING_FAULTS")
"""Variables that user code must not see: what it asks of the platform goes through its coordinator."""
_LONGEST_STACKS = 65_536


class RunnerSpec(msgspec.Struct, frozen=True):
    """What to start.

    ``app``: MODULE:ATTR or FILE; ``argv``: the runner's command (None: the Python runner for ``app``); ``env``:
    variables on top of ours; ``cwd``: where it starts ("": where we are).
    """

    app: str = ""
    argv: tuple[str, ...] | None = None
    env: dict[str, str] = {}
    cwd: str = ""


class RunnerProcess:
    """One runner and its guard. Made by ``start``; ``close`` it when it is dead and what it sent has been read."""

    def __init__(
        self,
        number: int,
        guard: subprocess.Popen[bytes],
        channels: tuple[Channel[FromRunner], Channel[FromRunner]],
        pipes: tuple[int, int, int],
        places: tuple[str, str],
    ) -> None:
        self.number = number
        self.pid = 0
        """Of the runner; 0 until its guard has told."""
        self.control, self.bulk = channels
        self._guard = guard
        self._orders, self.guard_fd, self._stacks = pipes
        self._token, self._work = places
        self._heard = b""
        self._asked = False
        self._death: RunnerDeath | None = None

    @property
    def guard_pid(self) -> int:
        """Of the guard."""
        return self._guard.pid

    @classmethod
    def start(cls, spec: RunnerSpec, number: int, *, chance: Chance | None = None) -> RunnerProcess:
        """Start a guard, which starts the runner. Returns at once; the runner says ``hello`` when it is ready."""
        _bury()
        control, its_control = socket.socketpair()
        bulk, its_bulk = socket.socketpair()
        its_orders, orders = os.pipe()
        report, its_report = os.pipe()
        stacks = _unnamed_file()
        token = (chance or SystemChance()).incarnation()
        work = str(Path(tempfile.gettempdir(), f"mainspring-{token}"))  # made by the first job that needs it
        fds = [its_control.fileno(), its_bulk.fileno(), stacks]
        try:
            guard = subprocess.Popen(  # noqa: S603 - our own file
                [sys.executable, "-I", "-S", str(GUARD)],
                stdin=its_orders,
                pass_fds=(*fds, its_report),
                start_new_session=True,
            )
        finally:
            its_control.close()
            its_bulk.close()
            os.close(its_orders)
            os.close(its_report)
        first = {
            "argv": spec.argv or (sys.executable, "-P", "-m", "mainspring", "runner", spec.app),
            "env": _environment(spec, fds, token, work),
            "cwd": spec.cwd,
            "fds": fds,
            "report": its_report,
            "work": work,
        }
        with suppress(OSError):  # a guard that died at once is seen by poll_death
            _write_all(orders, json.dumps(first).encode() + b"\n")
        os.set_blocking(orders, False)
        os.set_blocking(report, False)
        channels = (Channel(control, from_runner), Channel(bulk, from_runner))
        return cls(number, guard, channels, (orders, report, stacks), (token, work))

    def extend(self, until: Duration) -> None:
        """Let the runner live until this instant of the monotonic clock. Before the first call it has no deadline."""
        self._order(b"until %d\n" % until)

    def kill(self) -> None:
        """End the runner and all its descendants. When called again, the guard too, in case it does not listen."""
        if self._asked or not self._order(b"kill\n"):
            self._guard.send_signal(signal.SIGKILL)
        self._asked = True

    def _order(self, line: bytes) -> bool:
        with suppress(OSError):
            os.write(self._orders, line)
            return True
        return False

    def poll_death(self) -> RunnerDeath | None:
        """What the guard has said by now: None while the runner lives. Never waits."""
        if self._death is not None:
            return self._death
        ended = False
        while True:
            try:
                piece = os.read(self.guard_fd, 4096)
            except BlockingIOError:
                break
            if not piece:
                ended = True
                break
            self._heard += piece
        *lines, self._heard = self._heard.split(b"\n")
        for line in lines:
            self._listen(json.loads(line))
        if ended and self._death is None:
            self._clear_up()
            self._death = runner_death({})
        return self._death

    def _listen(self, said: dict[str, Any]) -> None:
        if "pid" in said:
            self.pid = int(said["pid"])
        else:
            self._death = runner_death(said, self._read_stacks())

    def _read_stacks(self) -> str:
        """What the interpreter wrote when a signal such as SIGSEGV ended it."""
        return os.pread(self._stacks, _LONGEST_STACKS, 0).decode("utf-8", "backslashreplace").replace("\0", "\\0")

    def _clear_up(self) -> None:
        """The guard was killed: the kernel has ended the runner; we end what may be left and remove its files."""
        for _ in range(20):
            left = carriers("MAINSPRING_RUNNER", self._token)
            if not left:
                break
            kill_groups(left)
        shutil.rmtree(self._work, ignore_errors=True)

    def close(self) -> None:
        """Let go of everything. Ends the runner if it still lives: its guard sees that we are gone."""
        self.control.close()
        self.bulk.close()
        for fd in (self._orders, self.guard_fd, self._stacks):
            with suppress(OSError):
                os.close(fd)
        self._orders = self.guard_fd = self._stacks = -1
        _leaving.append(self._guard)
        _bury()


_leaving: list[subprocess.Popen[bytes]] = []
"""Guards that have said their last and may need a moment to exit."""


def _bury() -> None:
    _leaving[:] = [guard for guard in _leaving if guard.poll() is None]


def _environment(spec: RunnerSpec, fds: list[int], token: str, work: str) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if name not in KEPT_FROM_RUNNERS}
    env |= spec.env
    env |= {
        "MAINSPRING_CONTROL_FD": str(fds[0]),
        "MAINSPRING_BULK_FD": str(fds[1]),
        "MAINSPRING_STACKS_FD": str(fds[2]),
        "MAINSPRING_RUNNER": token,
        "MAINSPRING_WORK": work,
    }
    return env


def _unnamed_file() -> int:
    """A file that vanishes with its last descriptor, inheritable by none but those it is passed to."""
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
