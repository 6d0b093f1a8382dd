"""What we ask the operating system about processes: die with the parent, adopt orphans, walk and kill trees.

Linux and macOS. Only the standard library, as runners and their guard start with it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NAME = 15


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
