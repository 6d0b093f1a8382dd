"""The SQLite engine: WAL with synchronous=FULL, one writer with group commit, short readers.

Rules (docs/decisions): every write transaction starts with BEGIN IMMEDIATE; an answer is given after the durable
commit only; no connection is used across a fork; the library must be free of the WAL corruption race.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import threading
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import apsw

from mainspring.chance import Chance
from mainspring.clock import MILLISECOND, SECOND, Clock, Duration, Instant
from mainspring.domain.borrowed import Borrowed
from mainspring.errors import InvalidOption, OutcomeUnknown, StoreError, StoreUnreachable
from mainspring.store.bell import Behind
from mainspring.store.debt import Debt
from mainspring.store.sqlite_checkpoint import Checkpoints
from mainspring.store.sqlite_errors import not_text, translated
from mainspring.store.sqlite_place import check_engine, check_place, make_durable
from mainspring.store.sqlite_place import filesystem as filesystem  # noqa: PLC0414 - benchmarks ask it here
from mainspring.store.sqlite_writer import Item, Writer, nested
from mainspring.store.statements import statement
from mainspring.store.transaction import Sent, Told, Wanted

T = TypeVar("T")
Work = Callable[["SqliteTransaction"], T]

_LOCK_PATIENCE = Duration(10 * SECOND)
_LOCK_PAUSE_FIRST = Duration(50)
"""Most waits are for one commit of another process, about a millisecond, and somebody may have been woken for it."""
_LOCK_PAUSE_LONGEST = Duration(2 * MILLISECOND)
_IDLE_READERS = 8
_PAGE = 4096
_CHECKPOINT = 4000
"""Pages in the write-ahead log before they are copied into the database and the log begins anew."""
_ROOM = 20
"""The log gets its full size where this many of it would fit."""
_CACHE = -16_000
"""Kilobytes, as SQLite counts them."""
_WAL_KEPT = 64 * 1_048_576
_RUINOUS = (apsw.FullError, apsw.IOError, apsw.CorruptError, apsw.ReadOnlyError, apsw.NoMemError)
"""After these nothing of the transaction can be kept."""


class SqliteTransaction:
    """One transaction, or one look. ``now`` is its time; all statements inside see the same."""

    at_once = one_writer = True

    __slots__ = ("_connection", "chance", "now")

    def __init__(self, connection: apsw.Connection, now: Instant, chance: Chance) -> None:
        self._connection = connection
        self.now = now
        self.chance = chance

    def rows(self, name: str, /, **values: Any) -> list[tuple[Any, ...]]:
        """Run a statement by name and return all rows; ``:now`` is bound by itself."""
        values["now"] = self.now
        try:
            return list(self._connection.execute(statement(name, "sqlite").text, values))
        except UnicodeDecodeError as error:
            raise not_text(name, error) from error

    def row(self, name: str, /, **values: Any) -> tuple[Any, ...] | None:
        """The first row, if there is one."""
        found = self.rows(name, **values)
        return found[0] if found else None

    def many(self, name: str, batch: Sequence[tuple[Any, ...]] | Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Run a statement for each tuple (values in the order of its parameters' first appearance); all rows."""
        return list(self._connection.executemany(statement(name, "sqlite").text, batch))

    def changing(self, name: str, batch: Sequence[tuple[Any, ...]]) -> Told:
        """Run a statement that answers nothing for each tuple; how many rows that changed.

        To have each of them tell costs a temporary table, as much as the change itself.
        """
        before = self._connection.total_changes()
        self._connection.executemany(statement(name, "sqlite").text, batch)
        count = self._connection.total_changes() - before
        return lambda: count

    def together(self, *asked: Wanted) -> list[list[tuple[Any, ...]]]:
        """Run statements that don't need each other's answers, in this order; the rows of each."""
        return [
            self.rows(name, **values) if isinstance(values, dict) else self.many(name, values) for name, values in asked
        ]

    def ask(self, name: str, batch: Sequence[tuple[Any, ...]], /, **values: Any) -> Callable[[], list[tuple[Any, ...]]]:
        """Never: nothing is made at once."""
        raise AssertionError(f"{name}: asked where moves are not made at once: {len(batch)} rows, {sorted(values)}")

    def expect_ids(self, count: int) -> None:
        """Nothing: they are taken when they are wanted."""

    def remember(self, what: Hashable, value: Any) -> None:
        """Nothing: to look again costs little, and this one does not know whether it is committed."""

    def recall(self, what: Hashable) -> Any:
        """Nothing."""

    def job_ids(self, count: int) -> Sequence[int]:
        """So many new job ids, rising."""
        first = self.rows("counter/take", name="job", count=count)[0][0]
        return range(first, first + count)


class SqliteEngine:
    """One database file (or ``:memory:``).

    ``inline``: writes run on the caller's thread, for a process with a single loop (coordinator, simulated world).
    Otherwise one writer thread takes all writes that wait into one transaction.
    """

    one_writer = True
    sends = False

    def __init__(  # noqa: PLR0913 - composition
        self, path: str, *, clock: Clock, chance: Chance, inline: bool, durable: bool = True, read_only: bool = False
    ) -> None:
        self.path = path
        self.clock = clock
        self.chance = chance
        self.memory = path == ":memory:"
        self._durable = durable
        self._read_only = read_only
        self._local = threading.local()
        self._connections: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._idle: deque[apsw.Connection] = deque()
        self._lock = threading.RLock()
        self._closed = False
        self._inherited = False
        check_engine()
        if not self.memory:
            check_place(Path(path))
        self._connection = self._open()
        self._early = False  # how the connection commits
        self.debt = Debt(path, partial(make_durable, f"{path}-wal"))
        self._writer = None if inline or self.memory else Writer(self._commit)
        self._checkpoints = None if self._writer is None else Checkpoints(self._open, _CHECKPOINT // 2)
        if self._checkpoints is not None:
            self._checkpoints.watch(self._connection)
        _engines.add(self)

    # --- transactions -----------------------------------------------------------------------------------------

    def write(
        self,
        work: Work[T],
        *,
        before_commit: Callable[[], None] | None = None,
        durable: bool = True,
        early: bool = False,
        behind: Behind | None = None,
    ) -> T:
        """Run ``work`` in a write transaction and return its value once the commit is durable.

        ``durable`` is settled when the file is opened. ``early``: the lock is given away before the wait for the disk.

        Raises what ``work`` raised, with nothing changed; StoreBusy when the lock or the disk was not available.
        """
        self._check_usable()
        early = early and self._durable and not self.memory
        item = Item(work, before_commit, early=early, put_off=self.debt.taken_on)
        value: T
        if self._writer is not None:
            value = self._writer.run(item)
            return value
        with self._lock:
            if self._connection.in_transaction:
                raise nested()
            self._commit([item])()
            value = item.result()
            return value

    def send(self, work: Work[T], *, before_commit: Callable[[], None] | None = None) -> Sent[T]:
        """Never: nobody else does the work here."""
        raise AssertionError(f"{self.path}: {work} and {before_commit} were sent, which is only written here")

    def read(self, work: Work[T], *, latest: bool = False) -> T:
        """Run ``work`` on a snapshot that sees every commit so far; ``latest`` makes no difference here."""
        self._check_usable()
        if self._writer is None:
            with self._lock:
                # In memory there is nobody else, and inside a transaction of ours the snapshot is there already.
                alone = self.memory or self._connection.in_transaction
                return self._look(self._connection, work) if alone else self._read_on(self._connection, work)
        connection = self._borrow()
        try:
            return self._read_on(connection, work)
        finally:
            self._give_back(connection)

    def within(self, borrowed: Borrowed, work: Work[T], committed: Callable[[], None]) -> T:
        """There is nobody else's transaction that it could be in."""
        raise InvalidOption(
            f"connection was given, but the jobs are in the SQLite file {self.path}.",
            remedy="Leave it out, or keep the jobs in the PostgreSQL database that it is to.",
            field="connection",
        )

    def _read_on(self, connection: apsw.Connection, work: Work[T]) -> T:
        with translated(self.path):
            connection.execute("begin")
            try:
                return self._look(connection, work)
            finally:
                if connection.in_transaction:
                    connection.execute("commit")

    def _look(self, connection: apsw.Connection, work: Work[T]) -> T:
        with translated(self.path):
            return work(SqliteTransaction(connection, self.clock.now(), self.chance))

    def _commit(self, items: list[Item]) -> Callable[[], None]:
        """All items in one commit, each in a savepoint of its own; what is returned answers them when all is durable.

        Where all are early, the commit does not wait for the disk. The next commit of whatever process can be made
        meanwhile, and what it makes durable includes this one, as the log is one file.
        """
        connection = self._connection
        early = all(item.early for item in items)
        before = connection.total_changes()
        outcomes: list[tuple[bool, Any]]
        try:
            with translated(self.path):
                self._commit_early(early)
                connection.execute("begin immediate")
                try:
                    transaction = SqliteTransaction(connection, self.clock.now(), self.chance)
                    alone = len(items) == 1
                    outcomes = [self._attempt(transaction, item, alone=alone) for item in items]
                    if not alone or outcomes[0][0]:
                        connection.execute("commit")
                        if not early and connection.total_changes() != before:
                            self.debt.paid()
                    elif connection.in_transaction:
                        connection.execute("rollback")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("rollback")
                    raise
        except BaseException as error:  # noqa: BLE001 - every waiting caller must hear of it
            self.debt.spoil()
            outcomes = [(False, error)] * len(items)
        return partial(self._answer, items, outcomes, early=early)

    def _answer(self, items: list[Item], outcomes: list[tuple[bool, Any]], *, early: bool) -> None:
        """Resolve the futures; of early items, once the disk has them."""
        if early and all(item.put_off for item in items):
            self.debt.open = True
        elif early and any(fine for fine, _ in outcomes):
            try:
                make_durable(f"{self.path}-wal")
            except OSError as error:
                unknown = OutcomeUnknown(self.path)
                unknown.__cause__ = error
                outcomes = [(False, unknown if fine else value) for fine, value in outcomes]
        for item, (fine, value) in zip(items, outcomes, strict=True):
            item.answer(value, fine=fine)

    def _commit_early(self, early: bool) -> None:  # noqa: FBT001
        """From now on commits wait for the disk, or leave that to us."""
        if early is not self._early:
            self._connection.pragma("synchronous", "normal" if early else "full")
            self._early = early

    def _attempt(self, transaction: SqliteTransaction, item: Item, *, alone: bool) -> tuple[bool, Any]:
        """Run one item; what it changed is undone when it raises, what the others did stays."""
        connection = self._connection
        if not alone:
            connection.execute("savepoint item")
        try:
            with translated(self.path):
                value = item.work(transaction)
                if item.before_commit is not None:
                    item.before_commit()
        except BaseException as error:
            if not alone:
                if isinstance(error.__cause__, _RUINOUS):
                    raise
                connection.execute("rollback to item")
                connection.execute("release item")
            return False, error
        if not alone:
            connection.execute("release item")
        return True, value

    def settle_in(self) -> None:
        """Let the write-ahead log have its full size from now on, for a process that stays.

        To append to a file the disk must write where its end is, too, which makes a commit a third slower than one that
        overwrites. Pages that spill from a transaction which is then rolled back leave the log as long as they were.
        Where there is little room, nothing is done.
        """
        log = Path(f"{self.path}-wal")
        missing = 0 if self.memory or not log.exists() else _CHECKPOINT * _PAGE - log.stat().st_size
        if missing <= 0 or shutil.disk_usage(log).free < _ROOM * missing:
            return
        connection = self._connection
        with suppress(StoreError), self._lock, translated(self.path):
            connection.execute("begin immediate")
            try:
                connection.pragma("cache_size", 10)
                connection.execute(statement("schema/spill", "sqlite").text, {"bytes": missing})
            finally:
                if connection.in_transaction:
                    connection.execute("rollback")
                connection.pragma("cache_size", _CACHE)

    def script(self, text: str) -> None:
        """Run a migration script; the caller holds the transaction."""
        self._connection.execute(text)

    @property
    def raw(self) -> apsw.Connection:
        """The writing connection, for migration and backup only."""
        return self._connection

    # --- connections ------------------------------------------------------------------------------------------

    def _borrow(self) -> apsw.Connection:
        """A reading connection that nobody uses. As many exist as threads ever read at once."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._open()

    def _give_back(self, connection: apsw.Connection) -> None:
        if self._closed or connection.in_transaction or len(self._idle) >= _IDLE_READERS:
            connection.close()
        else:
            self._idle.append(connection)

    def _open(self) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READONLY if self._read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        with translated(self.path):
            connection = apsw.Connection(self.path, flags=flags, statementcachesize=512)
            # Else statements are compiled anew whenever a bound value could make another plan better: a worker's poll
            # took 840 us instead of 25. Plans are ours to choose, by indexes (tests/contract/test_plans.py).
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            connection.set_busy_handler(self._wait_for_lock)
            connection.execute("pragma trusted_schema = off; pragma mmap_size = 0")
            connection.pragma("cache_size", _CACHE)
            if not self.memory:
                self._refuse_foreign(connection)
                self._make_durable(connection)
        self._connections.add(connection)
        return connection

    def _refuse_foreign(self, connection: apsw.Connection) -> None:
        """Leave another program's database as it is, its journal mode included."""
        tables = next(connection.execute(statement("schema/foreign", "sqlite").text))[0]
        if tables:
            connection.close()
            raise StoreUnreachable(
                f"{self.path} holds {tables} tables of another program; it was left as it is.",
                remedy="Name a file of its own: --db sqlite:///.mainspring/mainspring.db",
            )

    def _make_durable(self, connection: apsw.Connection) -> None:
        """Set WAL and FULL and read them back: builds and file systems differ in what they take."""
        mode = self._enter_wal(connection)
        level = 2 if self._durable else 1
        connection.pragma("synchronous", "full" if self._durable else "normal")
        connection.pragma("fullfsync", 1)
        connection.pragma("wal_autocheckpoint", _CHECKPOINT)
        connection.pragma("journal_size_limit", _WAL_KEPT)
        if mode != "wal" or connection.pragma("synchronous") != level:
            raise StoreUnreachable(
                f"{self.path} can't be made durable: it answers journal_mode={mode} and "
                f"synchronous={connection.pragma('synchronous')}.",
                remedy="Put the database on a local file system that supports SQLite's WAL mode.",
            )

    def _enter_wal(self, connection: apsw.Connection) -> str:
        """The journal mode after asking for WAL. SQLite does not call the busy handler for this switch, so we wait."""
        tries = 0
        while True:
            try:
                return str(connection.pragma("journal_mode", "wal")).lower()
            except apsw.BusyError:
                if not self._wait_for_lock(tries):
                    raise
                tries += 1

    def _wait_for_lock(self, tries: int) -> bool:
        started = getattr(self._local, "waiting_since", None)
        if tries == 0 or started is None:
            started = self._local.waiting_since = self.clock.monotonic()
        if self.clock.monotonic() - started > _LOCK_PATIENCE:
            return False
        pause = min(_LOCK_PAUSE_LONGEST, _LOCK_PAUSE_FIRST * 1.2 ** min(tries, 50))
        self.clock.wait(Duration(round(pause * (0.5 + self.chance.fraction()))))
        return True

    def _check_usable(self) -> None:
        if self._inherited:
            raise StoreError(
                f"{self.path} was opened before this process was forked off; its connections can't be shared.",
                remedy="Open it again in the new process.",
            )
        if self._closed:
            raise StoreError("The store is closed.", remedy="Open it again.")

    def pause(self) -> list[threading.Lock]:
        """Hold back writes while this process forks; what is to be released behind it."""
        if self._writer is None or self._inherited:
            return []
        return self._writer.pause() + ([] if self._checkpoints is None else self._checkpoints.pause())

    def disown(self) -> None:
        """In a forked child: never touch, nor even close, what belongs to the parent.

        To close a connection in the middle of a write would clean up the parent's shared index under its feet, so the
        connections get a reference that nothing takes away, not even the end of the interpreter.
        """
        self._inherited = True
        for connection in list(self._connections):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))

    def close(self) -> None:
        """Finish what is queued and close every connection that is not in use; the others close when given back."""
        if self._closed or self._inherited:
            return
        self._closed = True
        if self._writer is not None:
            self._writer.stop()
        if self._checkpoints is not None:
            self._checkpoints.stop()
        for connection in [*self._idle, self._connection]:
            with suppress(apsw.Error):
                connection.close()


_engines: weakref.WeakSet[SqliteEngine] = weakref.WeakSet()


def _after_fork() -> None:
    _go_on()
    for engine in list(_engines):
        engine.disown()


_paused: list[threading.Lock] = []


def _before_fork() -> None:
    """Let the commit at hand end: a child of the middle of one would inherit locks of SQLite that nobody opens."""
    for engine in list(_engines):
        _paused.extend(engine.pause())


def _go_on() -> None:
    while _paused:
        _paused.pop().release()


os.register_at_fork(before=_before_fork, after_in_parent=_go_on, after_in_child=_after_fork)
