"""The SQLite engine: WAL with synchronous=FULL, one writer with group commit, short readers.

Rules (docs/decisions): every write transaction starts with BEGIN IMMEDIATE; an answer is given after the durable
commit only; no connection is used across a fork; the library must be free of the WAL corruption race.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import apsw

from mainspring.chance import Chance
from mainspring.clock import MILLISECOND, SECOND, Clock, Duration, Instant
from mainspring.errors import (
    EngineTooOld,
    NetworkFilesystem,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreReadOnly,
    StoreUnreachable,
)
from mainspring.store.statements import statement

T = TypeVar("T")
Work = Callable[["Transaction"], T]

_SOUND_ENGINE = (3, 51, 3)
_LOCK_PATIENCE = Duration(10 * SECOND)
_GROUP = 500
_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "fuse.sshfs", "ncpfs", "glusterfs", "lustre"}


class Transaction:
    """One transaction, or one look. ``now`` is its time; all statements inside see the same."""

    __slots__ = ("_connection", "chance", "now")

    def __init__(self, connection: apsw.Connection, now: Instant, chance: Chance) -> None:
        self._connection = connection
        self.now = now
        self.chance = chance

    def rows(self, name: str, /, **values: Any) -> list[tuple[Any, ...]]:
        """Run a statement by name and return all rows; ``:now`` is bound by itself."""
        values["now"] = self.now
        return list(self._connection.execute(statement(name, "sqlite").text, values))

    def row(self, name: str, /, **values: Any) -> tuple[Any, ...] | None:
        """The first row, if there is one."""
        found = self.rows(name, **values)
        return found[0] if found else None

    def many(self, name: str, batch: Sequence[tuple[Any, ...]] | Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Run a statement for each tuple (values in the order of its parameters' first appearance); all rows."""
        return list(self._connection.executemany(statement(name, "sqlite").text, batch))


class SqliteEngine:
    """One database file (or ``:memory:``).

    ``inline``: writes run on the caller's thread, for a process with a single loop (coordinator, simulated world).
    Otherwise one writer thread takes all writes that wait into one transaction.
    """

    def __init__(
        self, path: str, *, clock: Clock, chance: Chance, inline: bool, durable: bool = True, read_only: bool = False
    ) -> None:
        self.path = path
        self.clock = clock
        self.chance = chance
        self.memory = path == ":memory:"
        self._durable = durable
        self._read_only = read_only
        self._local = threading.local()
        self._readers: list[apsw.Connection] = []
        self._lock = threading.RLock()
        self._closed = False
        check_engine()
        if not self.memory:
            check_place(Path(path))
        self._connection = self._open()
        self._writer = None if inline or self.memory else _Writer(self)

    # --- transactions -----------------------------------------------------------------------------------------

    def write(self, work: Work[T], *, before_commit: Callable[[], None] | None = None) -> T:
        """Run ``work`` in a write transaction and return its value once the commit is durable.

        Raises what ``work`` raised, with nothing changed; StoreBusy when the lock or the disk was not available.
        """
        if self._writer is not None:
            return self._writer.run(work, before_commit)
        with self._lock:
            value: T = self.run_group([_Item(work, before_commit)])[0].result()
            return value

    def read(self, work: Work[T]) -> T:
        """Run ``work`` on a snapshot that sees every commit so far."""
        if self._writer is None:
            with self._lock, translated(self.path):
                return work(Transaction(self._connection, self.clock.now(), self.chance))
        connection = self._reader()
        with translated(self.path):
            connection.execute("begin")
            try:
                return work(Transaction(connection, self.clock.now(), self.chance))
            finally:
                connection.execute("commit")

    def run_group(self, items: list[_Item]) -> list[Future[Any]]:
        """All items in one commit, each in a savepoint of its own; the futures are resolved after the commit."""
        connection = self._connection
        outcomes: list[tuple[bool, Any]] = []
        try:
            with translated(self.path):
                connection.execute("begin immediate")
                try:
                    transaction = Transaction(connection, self.clock.now(), self.chance)
                    for item in items:
                        outcomes.append(_attempt(connection, transaction, item, alone=len(items) == 1))
                    if len(items) == 1 and not outcomes[0][0]:
                        connection.execute("rollback")
                    else:
                        connection.execute("commit")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("rollback")
                    raise
        except BaseException as error:  # noqa: BLE001 - every waiting caller must hear of it
            for item in items:
                item.future.set_exception(error)
            return [item.future for item in items]
        for item, (fine, value) in zip(items, outcomes, strict=True):
            if fine:
                item.future.set_result(value)
            else:
                item.future.set_exception(value)
        return [item.future for item in items]

    def script(self, text: str) -> None:
        """Run a migration script; the caller holds the transaction."""
        self._connection.execute(text)

    @property
    def raw(self) -> apsw.Connection:
        """The writing connection, for migration and backup only."""
        return self._connection

    # --- connections ------------------------------------------------------------------------------------------

    def _reader(self) -> apsw.Connection:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._open()
            self._local.connection = connection
            with self._lock:
                self._readers.append(connection)
        return connection

    def _open(self) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READONLY if self._read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        with translated(self.path):
            connection = apsw.Connection(self.path, flags=flags, statementcachesize=200)
            connection.set_busy_handler(self._wait_for_lock)
            connection.execute("pragma trusted_schema = off; pragma mmap_size = 0; pragma cache_size = -16000")
            if not self.memory:
                self._make_durable(connection)
        return connection

    def _make_durable(self, connection: apsw.Connection) -> None:
        """Set WAL and FULL and read them back: builds and file systems differ in what they take."""
        mode = str(connection.pragma("journal_mode", "wal"))
        level = 2 if self._durable else 1
        connection.pragma("synchronous", "full" if self._durable else "normal")
        connection.pragma("fullfsync", 1)
        connection.pragma("wal_autocheckpoint", 4000)
        if mode.lower() != "wal" or connection.pragma("synchronous") != level:
            raise StoreUnreachable(
                f"{self.path} can't be made durable: it answers journal_mode={mode} and "
                f"synchronous={connection.pragma('synchronous')}.",
                remedy="Put the database on a local file system that supports SQLite's WAL mode.",
            )

    def _wait_for_lock(self, tries: int) -> bool:
        started = getattr(self._local, "waiting_since", None)
        if tries == 0 or started is None:
            started = self._local.waiting_since = self.clock.monotonic()
        if self.clock.monotonic() - started > _LOCK_PATIENCE:
            return False
        self.clock.wait(Duration(round(MILLISECOND * (0.2 + 2 * self.chance.fraction()))))
        return True

    def close(self) -> None:
        """Finish what is queued and close every connection."""
        if self._closed:
            return
        self._closed = True
        if self._writer is not None:
            self._writer.stop()
        for connection in [*self._readers, self._connection]:
            with suppress(apsw.Error):
                connection.close()


class _Item:
    """One piece of work that waits for a commit."""

    __slots__ = ("before_commit", "future", "work")

    def __init__(self, work: Work[Any], before_commit: Callable[[], None] | None) -> None:
        self.work = work
        self.before_commit = before_commit
        self.future: Future[Any] = Future()


def _attempt(connection: apsw.Connection, transaction: Transaction, item: _Item, *, alone: bool) -> tuple[bool, Any]:
    """Run one item; what it changed is undone when it raises, what the others did stays."""
    if alone:
        try:
            value = item.work(transaction)
            if item.before_commit is not None:
                item.before_commit()
        except apsw.Error:
            raise
        except BaseException as error:  # noqa: BLE001 - handed to the caller
            return False, error
        return True, value
    connection.execute("savepoint item")
    try:
        value = item.work(transaction)
        if item.before_commit is not None:
            item.before_commit()
    except (apsw.FullError, apsw.IOError, apsw.CorruptError, apsw.ReadOnlyError):
        raise
    except BaseException as error:  # noqa: BLE001 - handed to the caller
        connection.execute("rollback to item")
        connection.execute("release item")
        return False, error
    connection.execute("release item")
    return True, value


class _Writer:
    """The one writing thread of a process: takes whatever waits, commits once, answers all."""

    def __init__(self, engine: SqliteEngine) -> None:
        self._engine = engine
        self._queue: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._loop, name="mainspring-writer", daemon=True)
        self._thread.start()

    def run(self, work: Work[T], before_commit: Callable[[], None] | None) -> T:
        if not self._thread.is_alive():
            raise StoreError("The store is closed.", remedy="Open it again.")
        item = _Item(work, before_commit)
        self._queue.put(item)
        value: T = item.future.result()
        return value

    def _loop(self) -> None:
        while True:
            first = self._queue.get()
            if first is None:
                return
            group, last = [first], False
            while len(group) < _GROUP:
                try:
                    item = self._queue.get_nowait()
                except queue.Empty:
                    break
                if item is None:
                    last = True
                    break
                group.append(item)
            self._engine.run_group(group)
            if last:
                return

    def stop(self) -> None:
        self._queue.put(None)
        self._thread.join()


class translated:  # noqa: N801 - reads as a phrase: with translated(path)
    """Turns SQLite's errors into ours, so that nobody above knows the driver."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, apsw.Error):
            return
        place = self._path
        if isinstance(error, apsw.BusyError | apsw.LockedError):
            raise StoreBusy(f"{place} was locked for 10 s.", remedy="Another process holds a long write.") from error
        if isinstance(error, apsw.FullError):
            raise StoreBusy(
                f"The disk under {place} is full.", remedy="Free some space; work goes on by itself."
            ) from error
        if isinstance(error, apsw.CorruptError | apsw.NotADBError):
            raise StoreCorrupt(
                f"{place} is not a sound SQLite database: {error}.",
                remedy="It was left as it is. Restore a backup, or move the file away to start anew.",
            ) from error
        if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError):
            raise _read_only(place) from error
        if isinstance(error, apsw.CantOpenError):
            parent = Path(place).parent
            if parent.is_dir() and not os.access(parent, os.W_OK):
                raise _read_only(place) from error
            raise StoreUnreachable(
                f"{place} can't be opened: {error}.", remedy="Check the path and its permissions."
            ) from error
        if isinstance(error, apsw.IOError):
            raise StoreBusy(f"Reading or writing {place} failed: {error}.", remedy="Check the disk.") from error
        raise StoreError(f"SQLite refused a statement on {place}: {error}.") from error


def _read_only(place: str) -> StoreReadOnly:
    return StoreReadOnly(f"{place} or its directory can't be written.", remedy="Choose another place with --db.")


def check_engine() -> None:
    """Refuse a SQLite library with the WAL corruption race (fixed in 3.51.3). Raises EngineTooOld."""
    version = apsw.sqlite_lib_version()
    if tuple(int(part) for part in version.split(".")[:3]) < _SOUND_ENGINE:
        raise EngineTooOld(
            f"SQLite {version} can corrupt a database in WAL mode; 3.51.3 or newer is needed.",
            remedy="pip install --upgrade apsw",
        )


def check_place(path: Path) -> None:
    """Make the directory and refuse network file systems. Raises StoreReadOnly, StoreUnreachable, NetworkFilesystem."""
    parent = path.parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except PermissionError as error:
        raise _read_only(str(path)) from error
    except OSError as error:
        if error.errno == 30:
            raise _read_only(str(path)) from error
        raise StoreUnreachable(
            f"The directory {parent} can't be made: {error.strerror}.", remedy="Choose another place with --db."
        ) from error
    if path.is_dir():
        raise StoreUnreachable(f"{path} is a directory.", remedy=f"Name a file: sqlite:///{path}/mainspring.db")
    kind = filesystem(parent)
    if kind in _NETWORK:
        raise NetworkFilesystem(
            f"{parent} is on a network file system ({kind}), where SQLite can't lock safely.",
            remedy="Use a local disk, or PostgreSQL.",
        )


def filesystem(directory: Path) -> str:
    """The type of file system under a directory, or an empty text where it can't be told."""
    place, best, kind = str(directory.resolve()), "", ""
    with suppress(OSError):
        for line in Path("/proc/self/mounts").read_text().splitlines():
            _, mount, name, *_ = line.split(" ")
            point = mount.replace("\\040", " ")
            inside = place == point or place.startswith(point.rstrip("/") + "/")
            if inside and len(point) >= len(best):
                best, kind = point, name
    return kind
