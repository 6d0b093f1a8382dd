"""The PostgreSQL engine: short transactions, each sent as a pipeline, on sessions that carry nothing over.

Rules (docs/decisions/0015): whatever holds for a transaction is set with its BEGIN, so that a transaction-mode pooler
may stand between; the time is the server's; conflicts and lost connections are tried again, and a commit whose answer
was lost is asked for by its number before anything is repeated.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from mainspring.chance import Chance
from mainspring.clock import MILLISECOND, SECOND, Clock, Duration, Instant
from mainspring.errors import StoreError, StoreUnreachable
from mainspring.store.postgres_errors import CONFLICTS, STALE, is_outage, store_error
from mainspring.store.postgres_place import Place
from mainspring.store.postgres_session import Session, Sessions, array
from mainspring.store.postgres_time import ServerClock
from mainspring.store.statements import formatted, statement

T = TypeVar("T")
Work = Callable[["PostgresTransaction"], T]

_BEGIN_READ = "begin isolation level repeatable read read only"
_MOST_TRIES = 20
_RACES = 2
"""How often a unique key that somebody else took first is looked for again: what finds, then inserts, finds it."""

_FIRST_PAUSE = Duration(5 * MILLISECOND)
_LONGEST_PAUSE = Duration(500 * MILLISECOND)
_OUTAGE_PATIENCE = Duration(5 * SECOND)
_OUTCOME_PATIENCE = Duration(10 * SECOND)


class Limits(NamedTuple):
    """What a transaction may take before the server ends it, in PostgreSQL's words."""

    statement: str = "30s"
    lock: str = "10s"
    idle: str = "30s"


_LIMITS = Limits()


class PostgresTransaction:
    """One transaction, or one look. Statements that answer nothing are sent on and checked with the next that does."""

    __slots__ = ("_begun", "_connection", "_now", "_space", "chance")

    def __init__(self, engine: PostgresEngine, connection: psycopg.Connection[Any], begun: _Begun) -> None:
        self._connection = connection
        self._begun = begun
        self._now = engine.given_now()
        self._space = engine.place.space
        self.chance = engine.chance

    @property
    def now(self) -> Instant:
        """Its time; the answer to BEGIN is only waited for when somebody asks."""
        if self._now is None:
            self._now = self._begun.now()
        return self._now

    def rows(self, name: str, /, **values: Any) -> list[tuple[Any, ...]]:
        """Run a statement by name and return all rows; ``:now`` and ``:space`` are bound by themselves."""
        cursor = self._send(name, values)
        return cursor.fetchall() if statement(name, "postgres").answers else []

    def _send(self, name: str, values: dict[str, Any]) -> psycopg.Cursor[Any]:
        parameters = statement(name, "postgres").parameters
        if "now" in parameters:
            values["now"] = self.now
        if "space" in parameters:
            values["space"] = self._space
        return self._connection.execute(formatted(name), values)

    def row(self, name: str, /, **values: Any) -> tuple[Any, ...] | None:
        """The first row, if there is one."""
        found = self.rows(name, **values)
        return found[0] if found else None

    def many(self, name: str, batch: Sequence[tuple[Any, ...]] | Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Run a statement once for all tuples, which it takes as one array for each of its parameters."""
        found = statement(name, "postgres")
        columns = list(zip(*batch, strict=True))
        if not columns:
            return []
        values = dict(zip(found.parameters, map(array, columns), strict=True))
        cursor = self._connection.execute(formatted(name), values)
        return cursor.fetchall() if found.answers else []

    def together(self, *asked: tuple[str, dict[str, Any]]) -> list[list[tuple[Any, ...]]]:
        """Run statements that don't need each other's answers, in this order, for one wait; the rows of each."""
        return [cursor.fetchall() for cursor in [self._send(name, values) for name, values in asked]]

    def job_ids(self, count: int) -> Sequence[int]:
        """So many new job ids, rising; others may take some in between."""
        return [row[0] for row in self.rows("job/take_ids", count=count)]


class _Begun:
    """The answer to BEGIN, read when needed: the number of the transaction and the time."""

    def __init__(self, cursor: psycopg.Cursor[Any], clock: ServerClock) -> None:
        self._cursor = cursor
        self._clock = clock
        self._row: tuple[Any, ...] = ()

    def _read(self) -> tuple[Any, ...]:
        if not self._row:
            self._row = self._cursor.fetchall()[0]
            self._clock.heard(Instant(self._row[-1]))
        return self._row

    def now(self) -> Instant:
        return Instant(self._read()[-1])

    def number(self) -> str:
        return str(self._read()[-2])


class _OutcomeUnknown(Exception):
    """The connection was lost between COMMIT and its answer. ``value``: what the work had returned."""

    def __init__(self, number: str, started: str, value: object) -> None:
        super().__init__(number)
        self.number = number
        self.started = started
        self.value = value


class PostgresEngine:
    """One schema of one database. ``clock``: instead of the server's time, for tests."""

    dialect = "postgres"
    memory = False
    one_writer = False

    def __init__(  # noqa: PLR0913 - composition
        self,
        place: Place,
        *,
        clock: Clock | None,
        chance: Chance,
        inline: bool,
        limits: Limits = _LIMITS,
        patience: Duration = _OUTAGE_PATIENCE,
    ) -> None:
        self.place = place
        self.path = place.shown
        self.chance = chance
        self._server_clock = ServerClock(self._ask_time)
        self.clock: Clock = clock or self._server_clock
        self._given_clock = clock
        # A process with one loop must serve its pipes: it is told at once, and its loop tries again.
        self._patience = Duration(0) if inline else patience
        self._limits = limits
        self._local = threading.local()
        self._closed = False
        self._inherited = False
        self.sessions = Sessions(place)
        _engines.add(self)

    # --- transactions -----------------------------------------------------------------------------------------

    def write(self, work: Work[T], *, before_commit: Callable[[], None] | None = None, durable: bool = True) -> T:
        """Run ``work`` in a write transaction and return its value once the commit is durable.

        ``work`` may run several times, of which the last counts. ``durable`` false: a crash of the server may lose the
        last moments (job output). Raises what ``work`` raised, with nothing changed.
        """
        if getattr(self._local, "writing", False):
            raise StoreError("A write can't begin inside another transaction.", remedy="Do it in the same one.")
        self._local.writing = True
        try:
            return self._again(lambda: self._write(work, before_commit, durable=durable))
        finally:
            self._local.writing = False

    def read(self, work: Work[T], *, latest: bool = False) -> T:
        """Run ``work`` on a snapshot of every commit so far; ``latest``: each statement sees those up to then."""
        begin = "begin isolation level read committed read only" if latest else _BEGIN_READ
        return self._again(lambda: self._read(work, begin))

    def _write(self, work: Work[T], before_commit: Callable[[], None] | None, *, durable: bool) -> T:
        done: list[tuple[str, T]] = []
        with self.lent() as session:
            connection = session.connection
            try:
                with connection.pipeline():
                    connection.execute("begin")
                    begun = _Begun(self._set_up(connection, "session/begin_write", durable=durable), self._server_clock)
                    if durable:
                        connection.execute(formatted("event/announce"), {"space": self.place.space})
                    value = work(PostgresTransaction(self, connection, begun))
                    if before_commit is not None:
                        before_commit()
                    done.append((begun.number(), value))
                    connection.execute("commit")
            except psycopg.Error as error:
                if done and is_outage(error):
                    raise _OutcomeUnknown(done[0][0], session.started, done[0][1]) from error
                raise
            return value

    def _read(self, work: Work[T], begin: str) -> T:
        with self.lent() as session:
            connection = session.connection
            with connection.pipeline():
                connection.execute(begin)
                begun = _Begun(self._set_up(connection, "session/begin_read"), self._server_clock)
                value = work(PostgresTransaction(self, connection, begun))
                connection.execute("commit")
            return value

    def _set_up(self, connection: psycopg.Connection[Any], name: str, **more: Any) -> psycopg.Cursor[Any]:
        values = {
            "path": self.place.search_path,
            "statement_timeout": self._limits.statement,
            "lock_timeout": self._limits.lock,
            "idle_timeout": self._limits.idle,
        }
        return connection.execute(formatted(name), values | more)

    def given_now(self) -> Instant | None:
        """The time that a test has set, if one has."""
        return None if self._given_clock is None else self._given_clock.now()

    def _ask_time(self) -> Instant:
        return self.read(lambda tx: tx._begun.now())  # noqa: SLF001 - the same module

    @contextmanager
    def lent(self) -> Iterator[Session]:
        """A session for one transaction; whatever went wrong, it leaves nothing open behind."""
        session = self.sessions.take()
        try:
            yield session
        except BaseException as error:
            self._end_open(session)
            if isinstance(error, STALE):
                session.close()
            raise
        finally:
            self.sessions.give_back(session, keep=not self._closed)

    def _end_open(self, session: Session) -> None:
        """Roll back what may be open; a session that can't even do that is closed."""
        try:
            if session.connection.info.transaction_status is not TransactionStatus.IDLE:
                session.connection.execute("rollback")
        except psycopg.Error:
            session.close()

    # --- trying again -----------------------------------------------------------------------------------------

    def _again(self, once: Callable[[], T]) -> T:
        """Do it, and again after a conflict or an outage, within our patience."""
        tries = races = 0
        began = self._server_clock.monotonic()
        while True:
            self._check_usable()
            tries += 1
            try:
                return once()
            except _OutcomeUnknown as unknown:
                self.sessions.forget_idle()
                if self._was_committed(unknown):
                    return unknown.value  # type: ignore[return-value]
            except psycopg.errors.UniqueViolation as error:
                races += 1
                if races > _RACES:
                    raise store_error(self.path, error) from error
                continue
            except psycopg.Error as error:
                waited = self._server_clock.monotonic() - began
                if isinstance(error, (*CONFLICTS, *STALE)):
                    hopeless = tries >= _MOST_TRIES
                else:
                    hopeless = not is_outage(error) or (waited >= self._patience and tries > 1)
                    self.sessions.forget_idle()
                if hopeless:
                    raise store_error(self.path, error) from error
            self._pause(tries)

    def _pause(self, tries: int) -> None:
        """Longer each time, and never the same for two that got in each other's way."""
        longest = min(_LONGEST_PAUSE, _FIRST_PAUSE << min(tries - 1, 10))
        self._server_clock.wait(Duration(round(longest * self.chance.fraction())))

    def _was_committed(self, unknown: _OutcomeUnknown) -> bool:
        """Ask what became of a transaction. Raises StoreUnreachable when that can't be told.

        After a crash of the server a number that had not reached its log may have been given to another transaction; so
        then only "not committed" can be believed.
        """
        began = self._server_clock.monotonic()
        tries = 0
        while self._server_clock.monotonic() - began < _OUTCOME_PATIENCE:
            tries += 1
            with suppress(psycopg.Error), self.lent() as session:
                row = session.connection.execute(formatted("session/outcome"), {"number": unknown.number}).fetchone()
                status, started = row or (None, "")
                same = started == unknown.started
                if status == "committed" and same:
                    return True
                if status == "committed":
                    break
                if status != "in progress" or not same:
                    return False
            self._pause(tries)
        raise StoreUnreachable(
            f"The connection to {self.path} was lost amid a commit, and whether it was stored can't be told.",
            remedy="Look whether it is there before doing it again.",
        ) from unknown.__cause__

    # --- life -------------------------------------------------------------------------------------------------

    def _check_usable(self) -> None:
        if self._inherited:
            raise StoreError(
                f"{self.path} was opened before this process was forked off; its connections can't be shared.",
                remedy="Open it again in the new process.",
            )
        if self._closed:
            raise StoreError("The store is closed.", remedy="Open it again.")

    def disown(self) -> None:
        """In a forked child: never touch, nor even close, what belongs to the parent."""
        self._inherited = True
        for session in self.sessions.all():
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(session.connection))

    def settle_in(self) -> None:
        """Nothing: the server does what there is to do."""

    def close(self) -> None:
        """Close every session that is not in use; the others close when given back."""
        if not self._closed and not self._inherited:
            self._closed = True
            self.sessions.forget_idle()


_engines: weakref.WeakSet[PostgresEngine] = weakref.WeakSet()


def _after_fork() -> None:
    for engine in list(_engines):
        engine.disown()


os.register_at_fork(after_in_child=_after_fork)
