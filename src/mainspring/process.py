"""What we ask of processes, and of our own: lineage, orphans, walking and killing trees, endings, rarer collections.

Linux and macOS. Only the standard library, as runners and their guard start with it.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NAME = 15

_YOUNG = 20_000
"""So many new objects that may be part of cycles before the youngest are looked at; Python's own number is 700."""


def _prctl(option: int, value: int) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.prctl(option, value, 0, 0, 0) == 0)


def die_with_parent(signum: int, parent: int) -> None:
    """Ask the kernel for this signal when our parent dies; at once where it is dead already.

    The request is tied to the thread that started us and is lost on set-uid; it is a second line, not the only one.
    """
    _prctl(_PR_SET_PDEATHSIG, signum)
    if os.getppid() != parent:
        os.kill(os.getpid(), signum)


def collect_less() -> None:
    """Leave what was made so far alone, and look for cycles less often: for a process that has started and stays.

    What a turn makes dies without being looked for. A thousand rows in one go made the collector walk through all
    that was imported, again and again, which was a third of the time that it took to write them.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])


def has_terminal() -> bool:
    """Whether a terminal belongs to this process, so that SIGHUP tells of its end; elsewhere it asks for a reload."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def adopt_orphans() -> bool:
    """Become the parent of descendants whose own parent dies (Linux). Says whether the kernel agreed."""
    return _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def children(of: int) -> list[int]:
    """The direct children of a process, as the kernel sees them now."""
    found = []
    with suppress(OSError):
        for task in os.listdir(f"/proc/{of}/task"):
            with suppress(OSError):
                found += [int(pid) for pid in Path(f"/proc/{of}/task/{task}/children").read_text().split()]
    return found


def descendants(of: int) -> list[int]:
    """All descendants, parents before their children."""
    found, to_look = [], [of]
    while to_look:
        for pid in children(to_look.pop()):
            found.append(pid)
            to_look.append(pid)
    return found


def send(pid: int, signum: int) -> None:
    """Signal a process that may be gone."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signum)


def send_group(group: int, signum: int) -> None:
    """Signal a process group that may be gone."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signum)


def kill_tree(root: int, *, rounds: int = 20) -> None:
    """SIGKILL a process and all its descendants; repeated, as a fork bomb forks while it is walked."""
    for _ in range(rounds):
        pids = descendants(root)
        send(root, signal.SIGKILL)
        for pid in pids:
            send(pid, signal.SIGKILL)
        if not pids:
            return


def kill_groups(pids: list[int]) -> None:
    """SIGKILL these and their process groups, ours excepted: a group goes at one blow, so no fork bomb outruns us."""
    groups = set()
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            groups.add(os.getpgid(pid))
            os.kill(pid, signal.SIGKILL)
    for group in groups - {os.getpgrp()}:
        send_group(group, signal.SIGKILL)


def carriers(variable: str, value: str) -> list[int]:
    """The processes, we excepted, that were started with this in their environment (Linux)."""
    wanted, found = f"{variable}={value}".encode(), []
    for name in os.listdir("/proc") if sys.platform.startswith("linux") else []:
        if name.isdigit() and int(name) != os.getpid():
            with suppress(OSError):
                if wanted in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                    found.append(int(name))
    return found


def out_of_memory_kills() -> int:
    """How many processes the kernel has killed for want of memory, on this machine and in our memory group."""
    count = 0
    for place in ("/proc/vmstat", _memory_events()):
        with suppress(OSError, ValueError):
            lines = Path(place).read_text().splitlines() if place else []
            count += sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))
    return count


def _memory_events() -> str:
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            number, _, path = line.split(":", 2)
            if number == "0":
                return f"/sys/fs/cgroup{path}/memory.events"
    return ""


def exit_report(status: int, peak: int, *, out_of_memory: bool) -> dict[str, Any]:
    """What ``os.wait4`` said, as guards and minders report it; ``peak`` is ``ru_maxrss``."""
    report: dict[str, Any] = {"peak_memory": peak * (1024 if sys.platform.startswith("linux") else 1)}
    if os.WIFSIGNALED(status):
        report |= {"signal": os.WTERMSIG(status), "core": os.WCOREDUMP(status)}
        report["out_of_memory"] = out_of_memory and report["signal"] == signal.SIGKILL
    else:
        report["exit_code"] = os.WEXITSTATUS(status)
    return report


def exit_evidence(report: dict[str, Any]) -> dict[str, Any]:
    """A report as the evidence of a Failure: ``exit_code`` or ``signal`` by name, and only what is so."""
    evidence: dict[str, Any] = {}
    if "signal" in report:
        evidence["signal"] = signal_name(int(report["signal"]))
    elif "exit_code" in report:
        evidence["exit_code"] = int(report["exit_code"])
    if report.get("peak_memory"):
        evidence["peak_memory"] = int(report["peak_memory"])
    for fact in ("out_of_memory", "core"):
        if report.get(fact):
            evidence[fact] = True
    return evidence


def exit_text(evidence: dict[str, Any]) -> str:
    """The evidence as the end of a sentence: ``was killed by SIGKILL``, ``exited with code 3``."""
    if "signal" in evidence:
        cause = " (the machine or its memory group was out of memory)" if evidence.get("out_of_memory") else ""
        return f"was killed by {evidence['signal']}{cause}"
    if "exit_code" in evidence:
        return f"exited with code {evidence['exit_code']}"
    return "could not be started"


def signal_name(number: int) -> str:
    """``SIGKILL`` for 9; ``signal 77`` for one without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
