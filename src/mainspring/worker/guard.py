"""The guard: parent of exactly one runner, which it kills with all its descendants when nobody vouches for it any more.

Started by worker/runners.py as ``python -I -S guard.py``: one file, standard library only, nothing of the package, so
that it starts in milliseconds, stays small and shares no lock with user code. It must never wait for anybody.

Standard input (a socket or pipe) carries lines from the coordinator. The first is JSON: ``argv``, ``env``, ``cwd``,
``fds`` (descriptors the runner inherits), ``report`` (the descriptor that the guard writes to), ``work`` (a directory
to remove at the end, if it is there). Later ones: ``until MICROSECONDS`` (the runner may live until this instant of
CLOCK_MONOTONIC; no deadline before the first) and ``kill``. End of file means that the coordinator is dead.

The report is two lines of JSON: ``{"pid"}`` after the start, or ``{"refused"}`` with a text, and at the end
``{"exit_code" or "signal", "peak_memory" (bytes), "core", "killed": "deadline" | "asked" | "coordinator" | null,
"out_of_memory"}``, written when no descendant is left.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:  # the module typing alone would be a twentieth of our memory
    from collections.abc import Iterator
    from typing import Any

PR_SET_PDEATHSIG, PR_SET_NAME, PR_SET_CHILD_SUBREAPER = 1, 15, 36
LINUX = sys.platform.startswith("linux")
LONGEST_REST = 5.0  # seconds that the end of descendants is waited for: one in an uninterruptible call may outlive it
ROUND = 0.01


def prctl(option: int, value: Any) -> None:
    """A request to the Linux kernel about this process; elsewhere nothing."""
    if LINUX:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def parents() -> Iterator[tuple[int, int]]:
    """(process, its parent) of every process of the machine. Only where the kernel keeps no lists of children."""
    with os.popen("ps -A -o pid= -o ppid=") as listing:  # noqa: S605, S607 - fixed text
        for line in listing:
            pid, parent = line.split()
            yield int(pid), int(parent)


def children(of: int) -> list[int]:
    """The direct children of a process."""
    if not LINUX:
        return [pid for pid, parent in parents() if parent == of]
    found: list[int] = []
    with suppress(OSError):
        for task in os.listdir(f"/proc/{of}/task"):
            with suppress(OSError), open(f"/proc/{of}/task/{task}/children", encoding="ascii") as listing:  # noqa: PTH123 - pathlib doubles the start-up time
                found += [int(pid) for pid in listing.read().split()]
    return found


def descendants(of: int) -> list[int]:
    """All descendants, parents before their children."""
    found: list[int] = []
    to_look = [of]
    while to_look:
        near = children(to_look.pop())
        found += near
        to_look += near
    return found


def kill_all(pids: list[int]) -> None:
    """SIGKILL these and their process groups: a group goes at one blow, so that a fork bomb can't outrun us."""
    groups = set()
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            groups.add(os.getpgid(pid))
            os.kill(pid, signal.SIGKILL)
    for group in groups - {os.getpgrp()}:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def out_of_memory_kills() -> int:
    """How many processes the kernel has killed for want of memory, here and in our memory group."""
    count = 0
    for place, word in (("/proc/vmstat", "oom_kill"), (group_events(), "oom_kill")):
        with suppress(OSError, ValueError), open(place, encoding="ascii") as lines:  # noqa: PTH123 - see children
            count += sum(int(line.split()[1]) for line in lines if line.startswith(word + " "))
    return count


def group_events() -> str:
    """The file in which the memory group of this process counts its events; an empty text where there is none."""
    with suppress(OSError), open("/proc/self/cgroup", encoding="utf-8") as lines:  # noqa: PTH123 - see children
        for line in lines:
            number, _, path = line.strip().split(":", 2)
            if number == "0":
                return f"/sys/fs/cgroup{path}/memory.events"
    return ""


class Guard:
    """One runner and what may end it."""

    def __init__(self, spec: dict[str, Any], orders: bytes) -> None:
        self.spec = spec
        self.report_to = int(spec["report"])
        os.set_inheritable(self.report_to, False)
        self.until: int | None = None
        self.killed: str | None = None
        self.kills_before = out_of_memory_kills()
        self.pid = 0
        self.orders = orders  # what came behind the first line

    def start(self) -> None:
        """Fork the runner and let go of everything that is only its own."""
        with_us = os.getpid()
        failure, told = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(failure)
            try:
                self.become(with_us)
            except BaseException as error:  # noqa: BLE001 - whatever it is, the parent must hear of it
                reason = getattr(error, "strerror", None) or repr(error)
                os.write(told, f"{self.spec['argv'][0]}: {reason}".encode("utf-8", "replace"))
            finally:
                os._exit(127)
        os.close(told)
        text = os.read(failure, 4096)
        os.close(failure)
        for fd in self.spec["fds"]:
            os.close(fd)
        if text:
            os.waitpid(self.pid, 0)
            self.say({"refused": text.decode("utf-8", "replace")})
            self.leave()
        self.say({"pid": self.pid})

    def become(self, parent: int) -> None:
        """In the child: turn into the runner, in a session of its own, so that no signal to its group reaches us."""
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(127)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        for fd in self.spec["fds"]:
            os.set_inheritable(fd, True)
        if self.spec["cwd"]:
            os.chdir(self.spec["cwd"])
        os.execvpe(self.spec["argv"][0], self.spec["argv"], self.spec["env"])  # noqa: S606 - no shell is meant

    def watch(self) -> None:
        """Wait until the runner is over, or is to be ended."""
        wake_read, wake_write = os.pipe()
        for fd in (0, wake_read, wake_write):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        self.obey(b"")
        poll = select.poll()
        poll.register(0, select.POLLIN)
        poll.register(wake_read, select.POLLIN)
        while not self.runner_over():
            if self.until is not None and time.monotonic_ns() // 1000 >= self.until:
                self.killed = "deadline"
                return
            left = None if self.until is None else max(1, (self.until - time.monotonic_ns() // 1000) // 1000 + 1)
            ready = [fd for fd, _ in poll.poll(left)]
            if wake_read in ready:
                os.read(wake_read, 4096)
            if 0 in ready:
                self.listen()
            if self.killed:
                return

    def runner_over(self) -> bool:
        """Whether the runner has ended, which is left for ``finish`` to collect. Others are buried at once."""
        while True:
            with suppress(ChildProcessError):
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if found is None:
                    return False
                if found.si_pid != self.pid:
                    os.waitpid(found.si_pid, 0)
                    continue
            return True

    def listen(self) -> None:
        """Read what the coordinator says."""
        try:
            data = os.read(0, 65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.killed = "coordinator"
            return
        self.obey(data)

    def obey(self, data: bytes) -> None:
        """Take the orders in it; an unfinished one waits for its rest."""
        *lines, self.orders = (self.orders + data).split(b"\n")
        for line in lines:
            word, _, rest = line.partition(b" ")
            if word == b"until":
                self.until = int(rest)
            elif word == b"kill":
                self.killed = "asked"

    def finish(self) -> None:
        """Kill what is left, wait until it is gone, and report how the runner ended."""
        report: dict[str, Any] = {}
        give_up = time.monotonic() + LONGEST_REST
        if self.killed:
            os.kill(self.pid, signal.SIGKILL)  # first, so that it starts nothing while the others are found
        while True:
            report = self.collect() or report
            left = descendants(os.getpid())
            if (report and not left) or time.monotonic() > give_up:
                break
            kill_all(left)
            time.sleep(ROUND)
        self.say(report or {"signal": int(signal.SIGKILL), "peak_memory": 0, "core": False, **self.why(signal.SIGKILL)})
        self.leave()

    def collect(self) -> dict[str, Any]:
        """Bury what has ended; for the runner, how it did."""
        report: dict[str, Any] = {}
        with suppress(ChildProcessError):
            while True:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
                if pid == 0:
                    break
                if pid == self.pid:
                    report = self.ending(status, usage.ru_maxrss * (1024 if LINUX else 1))
        return report

    def ending(self, status: int, peak: int) -> dict[str, Any]:
        """How the runner ended, as the report says it."""
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            return {"signal": number, "peak_memory": peak, "core": os.WCOREDUMP(status), **self.why(number)}
        return {"exit_code": os.WEXITSTATUS(status), "peak_memory": peak, "core": False, **self.why(0)}

    def why(self, number: int) -> dict[str, Any]:
        """Who ended it, as far as we know."""
        by_kernel = number == signal.SIGKILL and not self.killed and out_of_memory_kills() > self.kills_before
        return {"killed": self.killed, "out_of_memory": by_kernel}

    def say(self, what: dict[str, Any]) -> None:
        """One line for the coordinator, who may be gone."""
        with suppress(OSError):
            os.write(self.report_to, json.dumps(what).encode() + b"\n")

    def leave(self) -> None:
        """Remove the work directory, if a job has made it, and exit."""
        if os.path.isdir(self.spec["work"]):  # noqa: PTH112 - see children
            import shutil

            shutil.rmtree(self.spec["work"], ignore_errors=True)
        os._exit(0)


def first_line() -> tuple[bytes, bytes]:
    """The coordinator's first line, and what has come behind it."""
    data = b""
    while b"\n" not in data:
        piece = os.read(0, 65536)
        if not piece:
            os._exit(0)  # the coordinator died before it said what to run
        data += piece
    line, _, rest = data.partition(b"\n")
    return line, rest


def main() -> None:
    """Guard one runner."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    with suppress(PermissionError):  # we lead a session already
        os.setsid()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_NAME, b"mainspring-guard")
    spec, orders = first_line()
    guard = Guard(json.loads(spec), orders)
    guard.start()
    guard.watch()
    guard.finish()


if __name__ == "__main__":
    main()
