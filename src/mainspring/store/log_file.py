"""The file beside a SQLite store that takes the output of jobs, kept an eye on while it is open."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from mainspring.chance import Chance
from mainspring.clock import SECOND, Clock, Duration
from mainspring.store.logs import LogBook
from mainspring.store.migrate import upgrade
from mainspring.store.sqlite import SqliteEngine

LOOK = SECOND
"""How often it is looked whether the file is still the one that is open."""

_LOG = logging.getLogger("mainspring.logs")


def log_place(path: str) -> str:
    """The log file that belongs to a database file: ``x.db`` -> ``x.logs.db``."""
    return path if path == ":memory:" else f"{path.removesuffix('.db')}.logs.db"


def log_book(path: str, *, clock: Clock, chance: Chance, binary: str) -> LogBook:
    """Open the log file that belongs to a database file."""
    file = _LogFile(log_place(path), clock=clock, chance=chance, binary=binary)
    return LogBook(file.present, file.close)


class _LogFile:
    """One that is removed or moved away under our hands would take in everything and show nothing.

    So it is made anew, and the system log says so.
    """

    def __init__(self, place: str, *, clock: Clock, chance: Chance, binary: str) -> None:
        self._place = place
        self._clock = clock
        self._chance = chance
        self._binary = binary
        self._lock = threading.Lock()
        self._engine = self._open()
        self._file = _identity(place)
        self._look_at = Duration(clock.monotonic() + LOOK)

    def _open(self) -> SqliteEngine:
        engine = SqliteEngine(self._place, clock=self._clock, chance=self._chance, inline=True, durable=False)
        try:
            upgrade(engine, "logs", binary=self._binary)
        except BaseException:
            engine.close()
            raise
        return engine

    def present(self) -> SqliteEngine:
        """The engine on the file that is there now."""
        if not self._lock.acquire(blocking=False):  # somebody looks right now
            return self._engine
        try:
            engine, now = self._engine, self._clock.monotonic()
            if engine.memory or now < self._look_at:
                return engine
            self._look_at = Duration(now + LOOK)
            if _identity(self._place) == self._file:
                return engine
            # The old one is closed when the last who reads in it lets go of it.
            self._engine = self._open()
            self._file = _identity(self._place)
            _LOG.warning(
                "%s was removed or replaced while it was open: output of jobs in the old file is no longer shown; "
                "new output goes into the file that is there now",
                self._place,
            )
            return self._engine
        finally:
            self._lock.release()

    def close(self) -> None:
        """Close what is open, without a look: a file that is gone by then is not wanted anew."""
        self._engine.close()


def _identity(path: str) -> tuple[int, int] | None:
    """Which file is there, if any."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
