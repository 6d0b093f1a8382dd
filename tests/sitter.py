"""Sees to it that nothing of a run of tests lives on when the run itself is killed: servers, workers, databases.

    python -m tests.sitter PARENT RUN

All that a run starts inherits its name in the environment. The sitter is a process in a session of its own, which no
Ctrl-C reaches; when the run has gone, it asks whoever still carries the name to end, and kills who does not. Where the
kernel shows no environments (not Linux) it finds nobody.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

from mainspring.clock import MILLISECOND, SECOND, Duration, SystemClock
from mainspring.process import carriers, send

NAME = "RUN_OF_TESTS"
_LOOK = Duration(500 * MILLISECOND)
_PATIENCE = Duration(3 * SECOND)
"""With those that were asked."""


def begin() -> Callable[[], None]:
    """From now on all that this process starts goes with it. What is returned is to be called last."""
    os.environ[NAME] = uuid.uuid4().hex
    root = Path(__file__).parents[1]
    path = os.pathsep.join([str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")])
    one = subprocess.Popen(
        [sys.executable, "-m", "tests.sitter", str(os.getpid()), os.environ[NAME]],
        env=os.environ | {"PYTHONPATH": path},
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )

    def end() -> None:
        one.terminate()
        one.wait()

    return end


def sit(parent: int, run: str) -> None:
    """Wait for the end of the parent, then for that of its run."""
    clock = SystemClock()
    while os.getppid() == parent:
        clock.wait(_LOOK)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in carriers(NAME, run):
            send(pid, number)
            send(pid, signal.SIGCONT)
        until = clock.monotonic() + _PATIENCE
        while carriers(NAME, run) and clock.monotonic() < until:
            clock.wait(_LOOK)


if __name__ == "__main__":
    sit(int(sys.argv[1]), sys.argv[2])
