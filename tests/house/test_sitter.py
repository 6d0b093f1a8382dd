"""A run of tests that is killed leaves no process behind: tests/sitter.py ends what it has started."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from mainspring.clock import MILLISECOND, Duration, SystemClock
from tests.contract.children import environment
from tests.patience import Limit

_RUN = """
import subprocess, sys
from tests import sitter
sitter.begin()
sleeper = subprocess.Popen(["sleep", "1000"], start_new_session=True)
print(sleeper.pid, flush=True)
sys.stdin.read()
"""


def test_what_a_killed_run_has_started_ends_too() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _RUN], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as run:
        assert run.stdout is not None
        started = int(run.stdout.readline())
        _until(lambda: _lives(started))  # its name is shown a moment behind its start
        run.kill()
    _until(lambda: not _lives(started))


def _until(condition: Callable[[], bool]) -> None:
    clock, limit = SystemClock(), Limit(60)
    while not condition():
        assert not limit.over()
        clock.wait(Duration(20 * MILLISECOND))


def _lives(pid: int) -> bool:
    try:
        return b"sleep" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
