"""When jobs of a peer ran, and in which process: a file for each process, mapped into memory, 8 bytes a job.

A mark costs well under a microsecond, so that it takes nothing from a peer's figure. Standard library only: it is
imported by the peers' interpreter, which writes, and by ours, which reads.
"""

from __future__ import annotations

import itertools
import mmap
import os
import threading
import time
from array import array
from pathlib import Path

_BYTES = 8


class Ledger:
    """Marks of this process, in the folder BENCH_LEDGER, with room for BENCH_JOBS; a fork begins a file of its own."""

    def __init__(self) -> None:
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._marks: memoryview | None = None
        self._numbers = itertools.count()
        self._opening = threading.Lock()

    def note(self) -> None:
        """A job runs now, on the clock that all processes of a machine share."""
        marks = self._marks
        if marks is None:
            marks = self._open()
        marks[next(self._numbers)] = time.monotonic_ns()

    def _open(self) -> memoryview:
        with self._opening:
            if self._marks is None:
                size = int(os.environ["BENCH_JOBS"]) * _BYTES
                with (Path(os.environ["BENCH_LEDGER"]) / str(os.getpid())).open("w+b") as file:
                    file.truncate(size)
                    self._marks = memoryview(mmap.mmap(file.fileno(), size)).cast("q")
            return self._marks


def marks(folder: Path) -> list[list[int]]:
    """The marks of each process that ran a job, in nanoseconds, sorted."""
    found = [array("q", path.read_bytes()) for path in folder.iterdir()]
    return [sorted(filter(None, each)) for each in found if any(each)]
