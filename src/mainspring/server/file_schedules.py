"""Schedules of the configuration file of a running server: read with the rest of it, and taken over when they change.

Must not take anything of a file that is wrong somewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from mainspring.config.schedules import schedules_of
from mainspring.domain.plan import Plan


class FileSchedules:
    """``declare`` records what a file declares and answers what people should be told, which ``say`` is told."""

    def __init__(self, declare: Callable[[Mapping[str, Plan]], list[str]], say: Callable[[str], object]) -> None:
        self._declare = declare
        self._say = say
        self._file = ""
        self._read: dict[str, Plan] | None = None

    def read(self, path: Path) -> None:
        """Read and check them. Raises InvalidSetting."""
        self._read, self._file = None, path.name
        self._read = schedules_of(path)

    def take(self) -> None:
        """Take over what was read last, unless that is done or says nothing of schedules."""
        if self._read is not None:
            for told in self._declare(self._read):
                self._say(f"{self._file}: {told}")
            self._read = None
