"""Checkpoints beside the commits: a thread of a process that stays copies the write-ahead log into the database.

SQLite has whoever commits at the wrong moment do it: some tens of milliseconds in which nobody of that process commits.
Here the log is copied while others commit, until little is left; the rest goes while they wait for a moment, so that
the log begins anew. A process that is killed meanwhile leaves a log that is copied by whoever comes next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

import apsw

from mainspring.errors import StoreError

_LITTLE = 100
"""Pages whose copying nobody notices: about a millisecond."""

_PATIENCE = 5
"""Milliseconds for which others may be held up by what is left, or we by them."""

_PASSES = 4
"""While others commit; each has to copy what came during the one before."""


class Checkpoints:
    """Copies when a commit of this process leaves so many ``pages`` in the log. ``open_``: a connection of its own.

    The thread begins when that happens first: most processes that write are over by then.
    """

    def __init__(self, open_: Callable[[], apsw.Connection], pages: int) -> None:
        self._open = open_
        self._pages = pages
        self._grown = threading.Event()
        self._ended = False
        self._turn = threading.Lock()
        self._thread: threading.Thread | None = None

    def watch(self, connection: apsw.Connection) -> None:
        """Commits of this connection copy nothing themselves any more, and tell how long the log is."""
        connection.set_wal_hook(self._committed)

    def _committed(self, _connection: apsw.Connection, _schema: str, pages: int) -> int:
        if pages >= self._pages:
            self._grown.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="mainspring-checkpoint", daemon=True)
                self._thread.start()
        return apsw.SQLITE_OK

    def _run(self) -> None:
        connection: apsw.Connection | None = None
        while not self._ended:
            self._grown.wait()
            self._grown.clear()
            # Busy, or a bad disk: who commits hears of that, and the next commit asks again.
            with self._turn, suppress(apsw.Error, StoreError):
                if not self._ended:
                    connection = connection or self._own()
                    copy(connection)
        if connection is not None:
            with suppress(apsw.Error):
                connection.close()

    def _own(self) -> apsw.Connection:
        connection = self._open()
        connection.set_busy_timeout(_PATIENCE)
        return connection

    def pause(self) -> list[threading.Lock]:
        """Let what is under way end, and begin nothing more until the lock is released."""
        self._turn.acquire()
        return [self._turn]

    def stop(self) -> None:
        """Begin nothing more; wait for what is under way. Nobody commits any more."""
        self._ended = True
        self._grown.set()
        if self._thread is not None:
            self._thread.join()


def copy(connection: apsw.Connection) -> None:
    """Copy the log into the database, nearly all of it while others commit.

    Where somebody reads an old snapshot much must stay, and nobody is made to wait for it.
    """
    left = _LITTLE + 1
    for _ in range(_PASSES):
        pages, copied = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        left = pages - copied
        if left <= _LITTLE:
            break
    if 0 < left <= _LITTLE:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_FULL)
