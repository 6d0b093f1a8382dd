"""Debt: early commits of which the disk has not got all yet, where the writer has promised to see to it himself.

A worker stores what its jobs submit and claims it in the same breath: the wait for the disk behind the claim is one for
both. A scheduler that has thousands of ticks to fire goes on with the next while the disk writes. Until the debt is
settled nobody may be told that anything is stored.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mainspring.errors import OutcomeUnknown


class Debt:
    """``open``: something is owed. One for all threads of a process; each takes on only its own."""

    def __init__(self, path: str, wait_for_disk: Callable[[], None]) -> None:
        self._path = path
        self._wait_for_disk = wait_for_disk
        self._spoiled = False
        self.open = False
        self._local = threading.local()

    @property
    def taken_on(self) -> bool:
        """Whether early commits of this thread leave the wait for the disk to ``settle``."""
        return getattr(self._local, "taken_on", False)

    @contextmanager
    def put_off(self) -> Iterator[None]:
        """Inside, early commits are answered at once; whoever does so calls ``settle`` before he tells anybody."""
        self._local.taken_on = True
        try:
            yield
        finally:
            self._local.taken_on = False

    def paid(self) -> None:
        """A later commit has waited for the disk, which has all before it as well."""
        self.open = self.open and self._spoiled

    def spoil(self) -> None:
        """A commit has failed. It may have been the disk, which says so once, and not to whoever asks again."""
        self._spoiled = self.open

    def settle(self) -> None:
        """Wait until the disk has everything. Raises OutcomeUnknown when that can't be told."""
        if not self.open:
            return
        spoiled, self._spoiled, self.open = self._spoiled, False, False
        if spoiled:
            raise OutcomeUnknown(self._path)
        try:
            self._wait_for_disk()
        except OSError as error:
            raise OutcomeUnknown(self._path) from error
