"""The minder: the small process that owns the processes of one job, as their parent and adopter.

Whatever the job starts, and however it hides (sessions of its own, double forks), becomes the minder's when its parent
ends, and is killed when the job's main process has. When the runner is gone, the job is ended at once.
"""

from __future__ import annotations

import errno
import os
import select
import shutil
import signal
import subprocess
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from mainspring import process
from mainspring.clock import MILLISECOND, SECOND, Duration, SystemClock
from mainspring.domain.frame import Frame
from mainspring.runner.orders import Exited, Kill, Refused, Signal, Spawn, to_minder
from mainspring.worker.frames import encoder

if TYPE_CHECKING:
    from mainspring.runner.running import Registered

_LONGEST_END = Duration(5 * SECOND)
"""How long killed processes are waited for: one in an uninterruptible call may outlive it."""
_ROUND = Duration(2 * MILLISECOND)
_PASSING = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ETXTBSY}
"""Reasons why a program can't be started now, though perhaps later."""


def mind(order: Spawn, descriptors: list[int], task: Registered | None) -> NoReturn:
    """In a fresh fork: start the job's process, see it to its end, report. Never returns."""
    line = descriptors[2]
    try:
        Minder(order, descriptors, task).run()
    except BaseException:  # noqa: BLE001 - the runner must hear of it, and this fork must not return
        _say(line, Refused(f"its minder failed:\n{traceback.format_exc()}"))
    finally:
        os._exit(0)


class Minder:
    """One job's processes."""

    def __init__(self, order: Spawn, descriptors: list[int], task: Registered | None) -> None:
        self._order = order
        self._task = task
        self._output, self._errors, self._line, *rest = descriptors
        self._frames = rest[0] if rest else -1
        self._clock = SystemClock()
        self._signalled = False
        self._partial = b""
        self._pid = 0
        self._kills_before = process.out_of_memory_kills()
        if order.work:
            Path(order.work).mkdir(mode=0o700, exist_ok=True)
        self._work = tempfile.mkdtemp(prefix=f"job-{order.job}-", dir=order.work or None)

    def run(self) -> None:
        """From start to end."""
        process.adopt_orphans()
        wake, wake_us = os.pipe()
        for descriptor in (self._line, wake, wake_us):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_us, warn_on_full_buffer=False)
        try:
            if self._start():
                self._watch(wake)
                self._finish()
        finally:
            shutil.rmtree(self._work, ignore_errors=True)

    def _start(self) -> bool:
        """Start it; False when that was refused."""
        env = self._order.env | {"TMPDIR": self._work}
        if self._order.argv is None:
            self._pid = self._fork(env)
        else:
            try:
                self._pid = self._execute(self._order.argv, env)
            except (OSError, ValueError) as error:
                passing = isinstance(error, OSError) and error.errno in _PASSING
                _say(self._line, Refused(_why_not(self._order.argv[0], error), final=not passing))
                return False
        for descriptor in (self._output, self._errors, self._frames):
            if descriptor >= 0:
                os.close(descriptor)
        return True

    def _execute(self, argv: list[str], env: dict[str, str]) -> int:
        # No preexec_fn, with which it could ask to die with us: a vfork is 5 ms faster, and should we be killed, the
        # runner finds it by its environment.
        started = subprocess.Popen(  # noqa: S603 - an argv that the app's author wrote; there is no shell
            argv,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._errors,
            env=env,
            start_new_session=True,
            umask=0o077,
        )
        started.returncode = 0  # it is ours to wait for, not Popen's
        return started.pid

    def _fork(self, env: dict[str, str]) -> int:
        from mainspring.runner import child

        us = os.getpid()
        pid = os.fork()
        if pid == 0:
            assert self._task is not None  # noqa: S101 - the spawner has looked it up
            signal.set_wakeup_fd(-1)
            os.close(self._line)
            child.run(self._task, (self._output, self._errors, self._frames), env, self._work, us)
        return pid

    def _watch(self, wake: int) -> None:
        """Wait for its end, and pass on what the runner says."""
        poll = select.poll()
        poll.register(self._line, select.POLLIN)
        poll.register(wake, select.POLLIN)
        while not self._over():
            for descriptor, _ in poll.poll():
                if descriptor == wake:
                    with suppress(BlockingIOError):
                        os.read(wake, 4096)
                elif not self._listen():
                    self._signal(signal.SIGKILL)
                    poll.unregister(self._line)

    def _over(self) -> bool:
        """Whether the main process has ended, which is left to collect. Adopted ones are buried at once."""
        while True:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is None:
                return False
            if found.si_pid == self._pid:
                return True
            os.waitpid(found.si_pid, 0)

    def _listen(self) -> bool:
        """Obey the runner; False when it is gone."""
        try:
            data = os.read(self._line, 4096)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            order = to_minder.decode(line)
            match order:
                case Signal():
                    self._signal(order.number)
                case Kill():
                    self._signal(signal.SIGKILL)
        return bool(data)

    def _signal(self, number: int) -> None:
        self._signalled = True
        if number == signal.SIGKILL:
            process.send_group(self._pid, number)
            process.kill_groups(process.descendants(os.getpid()))
            return
        try:
            os.killpg(self._pid, number)
        except (ProcessLookupError, PermissionError):  # it has not got so far as to lead a group
            process.send(self._pid, number)

    def _finish(self) -> None:
        """Kill what it left behind, and report once that is gone."""
        process.send_group(self._pid, signal.SIGKILL)  # while the pid is still ours
        _, status, usage = os.wait4(self._pid, 0)
        give_up = self._clock.monotonic() + _LONGEST_END
        while left := process.descendants(os.getpid()):
            process.kill_groups(left)
            self._clock.wait(_ROUND)
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if self._clock.monotonic() > give_up:
                break
        starved = not self._signalled and process.out_of_memory_kills() > self._kills_before
        report = process.exit_report(status, usage.ru_maxrss, out_of_memory=starved)
        _say(self._line, Exited(report, self._signalled))


def _say(line: int, frame: Frame) -> None:
    with suppress(OSError):
        os.set_blocking(line, True)
        os.write(line, encoder.encode(frame) + b"\n")


def _why_not(program: str, error: OSError | ValueError) -> str:
    """The reason why a program can't be executed, for people."""
    if isinstance(error, FileNotFoundError):
        place = "" if "/" in program else " in the worker's PATH"
        return f"The program {program!r} was not found{place}."
    if isinstance(error, PermissionError):
        return f"The program {program!r} is not executable."
    if isinstance(error, OSError):
        return f"The program {program!r} can't be started: {error.strerror}."
    return f"The program {program!r} can't be started: {error}."
