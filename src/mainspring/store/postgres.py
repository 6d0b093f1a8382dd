"""The PostgreSQL engine: short transactions, each sent as a pipeline, on sessions that carry nothing over.

Rules (docs/decisions/0018): whatever holds for a transaction is set with its BEGIN, so that a transaction-mode pooler
may stand between; the time is the server's; conflicts and lost connections are tried again, and a commit whose answer
was lost is asked for by its number before anything is repeated.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections import ChainMap
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from mainspring.chance import Chance
from mainspring.clock import MILLISECOND, SECOND, Clock, Duration, Instant
from mainspring.domain.borrowed import Borrowed
from mainspring.errors import OutcomeUnknown, StoreBusy, StoreError
from mainspring.store.bell import Behind
from mainspring.store.debt import Debt
from mainspring.store.postgres_drivers import driver_of
from mainspring.store.postgres_errors import CONFLICTS, STALE, is_outage, store_error
from mainspring.store.postgres_guest import within
from mainspring.store.postgres_pipe import Asked, Pipe
from mainspring.store.postgres_place import Place
from mainspring.store.postgres_sent import OnItsWay
from mainspring.store.postgres_session import Session, Sessions
from mainspring.store.postgres_time import ServerClock
from mainspring.store.postgres_transaction import Begun, PostgresTransaction, asked
from mainspring.store.statements import formatted
from mainspring.store.transaction import Transaction

T = TypeVar("T")
Work = Callable[["PostgresTransaction"], T]

_BEGIN_READ = b"begin isolation level repeatable read read only"
_MOST_TRIES = 20
_RACES = 2
"""How often a unique key that somebody else took first is looked for again: what finds, then inserts, finds it."""

_MOST_REMEMBERED = 10_000
"""Things that one process keeps in mind; then it begins anew."""

_FIRST_PAUSE = Duration(5 * MILLISECOND)
_LONGEST_PAUSE = Duration(500 * MILLISECOND)
_OUTAGE_PATIENCE = Duration(5 * SECOND)
_OUTCOME_PATIENCE = Duration(10 * SECOND)


class Limits(NamedTuple):
    """What a transaction may take before the server ends it, in PostgreSQL's words.

    ``idle``: between two statements of a transaction, where only our own code runs; a process that was stopped there
    must lose its locks before those who wait for them lose patience. ``answer``: how long we wait for one; longer than
    the server may take, so that its own word comes first.
    """

    statement: str = "30s"
    lock: str = "10s"
    idle: str = "5s"
    answer: Duration = Duration(35 * SECOND)


_LIMITS = Limits()


class _Unanswered(Exception):
    """The connection was lost between COMMIT and its answer. ``value``: what the work had returned."""

    def __init__(self, identity: tuple[str, str], value: object, error: psycopg.Error, *, early: bool) -> None:
        super().__init__(*identity)
        self.early = early
        self.started, self.number = identity
        self.value = value
        self.error = error


def _answered(asked: Asked | None) -> bool:
    return asked is not None and asked.command is not None


class PostgresEngine:
    """One schema of one database. ``clock``: instead of the server's time, for tests."""

    dialect = "postgres"
    memory = False
    one_writer = False
    sends = True

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
        self.sessions = Sessions(place, limits.answer)
        self.debt = Debt(self.path, self._flush)
        self._memory: dict[Hashable, Any] = {}  # what never changes once it is committed, and guesses
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

        ``work`` may run several times, of which the last counts. ``durable`` false: a crash of the server may lose the
        last moments (job output). Raises what ``work`` raised, with nothing changed, and the StoreError that fits, also
        with nothing changed but for OutcomeUnknown.
        """
        if getattr(self._local, "writing", False):
            raise StoreError("A write can't begin inside another transaction.", remedy="Do it in the same one.")
        self._local.writing = True
        try:
            return self._again(lambda: self._write(work, before_commit, behind, durable=durable, early=early))
        finally:
            self._local.writing = False

    def read(self, work: Work[T], *, latest: bool = False) -> T:
        """Run ``work`` on a snapshot of every commit so far; ``latest``: each statement sees those up to then."""
        begin = b"begin isolation level read committed read only" if latest else _BEGIN_READ
        return self._again(lambda: self._read(work, begin))

    def _write(
        self,
        work: Work[T],
        before_commit: Callable[[], None] | None,
        behind: Behind | None,
        *,
        durable: bool,
        early: bool,
    ) -> T:
        """One try. ``early``: COMMIT, and then the wait for the disk, as that of a claim meanwhile includes ours."""
        done: list[tuple[tuple[str, str], T]] = []
        ended: Asked | None = None
        last: Asked | None = None
        learned: dict[Hashable, Any] = {}
        with self.lent() as session:
            early = early and durable and session.may_flush and not session.pooled
            try:
                with session.pipe() as pipe:
                    begun, tx = self._begin(pipe, durable=durable, early=early, learned=learned)
                    value = work(tx)
                    if before_commit is not None:
                        before_commit()
                    done.append((begun.identity(), value))
                    ended, last, told = self._end(session, pipe, behind, early=early)
                if behind is not None:
                    behind.told = told
            except psycopg.Error as error:
                if not _answered(last):
                    if done and (is_outage(error) or _answered(ended)):
                        raise _Unanswered(*done[0], error, early=early) from error
                    raise
                # It is committed; only the hint was not told, and a thread tells it later.
            if ended is None or ended.command != "COMMIT":
                raise StoreError(f"{self.path} rolled a transaction back, as a statement in it had failed.")
            self._memory |= learned
            return done[0][1]

    def _end(self, session: Session, pipe: Pipe, behind: Behind | None, *, early: bool) -> tuple[Asked, Asked, bool]:
        """Send COMMIT and what follows; it, the last that must be answered, and whether rings went."""
        last = ended = pipe.ask(b"commit", name=b"commit")
        rings = None if behind is None or session.pooled else behind.text()
        if rings is not None:
            pipe.part()
            asked(pipe, "session/notify", {"told": rings})
        if early and self.debt.taken_on:
            self.debt.open = True
        elif early:
            pipe.part()
            last = asked(pipe, "session/flush", {})
        return ended, last, rings is not None

    def send(self, work: Work[T], *, before_commit: Callable[[], None] | None = None) -> OnItsWay[T]:
        """Send a write transaction with its COMMIT, and don't wait for it. ``work`` had better not ask for answers.

        Raises what ``work`` raised, and the StoreError that fits, with nothing changed.
        """
        self._check_usable()
        try:
            session = self.sessions.take()
        except psycopg.Error as error:
            raise store_error(self.path, error) from error
        try:
            pipe = session.open_pipe()
            value = work(self._begin(pipe)[1])
            if before_commit is not None:
                before_commit()
            committed = pipe.ask(b"commit", name=b"commit")
            pipe.part()
        except BaseException as error:
            session.close()
            self.sessions.give_back(session, keep=False)
            if isinstance(error, psycopg.Error):
                raise store_error(self.path, error) from error
            raise
        again = partial(self.write, work)
        return OnItsWay(self.path, self.sessions, session, pipe, committed, value, again)

    def _begin(
        self, pipe: Pipe, *, durable: bool = True, early: bool = False, learned: dict[Hashable, Any] | None = None
    ) -> tuple[Begun, PostgresTransaction]:
        """Ask for all with which a write transaction begins."""
        pipe.ask(b"begin", name=b"begin")
        first = self._set_up(pipe, "session/begin_write", durable=durable and not early)
        if durable:
            asked(pipe, "event/announce", {"space": self.place.space})
        begun = Begun(first, pipe, self._server_clock)
        return begun, self._transaction(pipe, begun, {} if learned is None else learned)

    def _flush(self) -> None:
        """Wait until all that was committed is on the disk. Raises OutcomeUnknown when that can't be told."""
        try:
            with self.lent() as session:
                session.connection.execute(formatted("session/flush"))
        except (psycopg.Error, StoreBusy) as error:
            raise OutcomeUnknown(self.path) from error

    def _read(self, work: Work[T], begin: bytes) -> T:
        with self.lent() as session:
            with session.pipe() as pipe:
                pipe.ask(begin, name=begin)
                begun = Begun(self._set_up(pipe, "session/begin_read"), pipe, self._server_clock)
                value = work(self._transaction(pipe, begun, {}))
                pipe.ask(b"commit", name=b"commit")
            return value

    def _transaction(self, pipe: Pipe, begun: Begun, learned: dict[Hashable, Any]) -> PostgresTransaction:
        if len(self._memory) > _MOST_REMEMBERED:
            self._memory.clear()
        mind = ChainMap(learned, self._memory)
        return PostgresTransaction(pipe, begun, self.place.space, self.chance, self.given_now(), mind)

    def _set_up(self, pipe: Pipe, name: str, **more: Any) -> Asked:
        values = {
            "path": self.place.search_path,
            "statement_timeout": self._limits.statement,
            "lock_timeout": self._limits.lock,
            "idle_timeout": self._limits.idle,
        }
        return asked(pipe, name, values | more)

    def within(self, borrowed: Borrowed, work: Callable[[Transaction], T], committed: Callable[[], None]) -> T:
        """Run ``work`` in the transaction that the caller's connection is in; what his driver raises stays as it is.

        ``committed`` is called once it is committed, where that can be known.
        """
        self._check_usable()
        driver = driver_of(borrowed)
        with self.lent() as session:
            server = session.server
        value, done = within(driver, self.place, server, work, chance=self.chance, given_now=self.given_now())
        if done:
            committed()
        else:
            driver.when_committed(committed)
        return value

    def monotonic(self) -> Duration:
        """Time that never jumps, of this process."""
        return self._server_clock.monotonic()

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
        began = self._server_clock.monotonic()
        tries = races = 0
        while True:
            self._check_usable()
            tries += 1
            try:
                return once()
            except _Unanswered as lost:
                self.sessions.forget_idle()
                if self._was_committed(lost):
                    if lost.early:
                        self._flush()
                    return lost.value  # type: ignore[return-value]
                error = lost.error
            except psycopg.errors.UniqueViolation as violation:
                races += 1
                if races <= _RACES:
                    continue
                raise store_error(self.path, violation) from violation
            except psycopg.Error as failure:
                error = failure
            if not self._hopeful(error, tries, began):
                raise store_error(self.path, error) from error
            self._pause(tries)

    def _hopeful(self, error: psycopg.Error, tries: int, began: Duration) -> bool:
        """Whether another try may go better."""
        if isinstance(error, (*CONFLICTS, *STALE)):
            return tries < _MOST_TRIES
        if not is_outage(error):
            return False
        self.sessions.forget_idle()  # a session that had died unnoticed is no outage: the next one is a new one
        return tries == 1 or self._server_clock.monotonic() - began < self._patience

    def _pause(self, tries: int) -> None:
        """Longer each time, and never the same for two that got in each other's way."""
        longest = min(_LONGEST_PAUSE, _FIRST_PAUSE << min(tries - 1, 10))
        self._server_clock.wait(Duration(round(longest * self.chance.fraction())))

    def _was_committed(self, lost: _Unanswered) -> bool:
        """Ask what became of a transaction. Raises OutcomeUnknown when that can't be told."""
        began = self._server_clock.monotonic()
        tries = 0
        verdict: bool | None = None
        while verdict is None and self._server_clock.monotonic() - began < _OUTCOME_PATIENCE:
            if tries:
                self._pause(tries)
            tries += 1
            try:
                with self.lent() as session:
                    verdict, final = self._outcome(session, lost, end_it=tries > 1)
            except (psycopg.Error, StoreBusy):
                continue
            if final:
                break
        if verdict is not None:
            return verdict
        raise OutcomeUnknown(self.path) from lost.error

    def _outcome(self, session: Session, lost: _Unanswered, *, end_it: bool) -> tuple[bool | None, bool]:
        """Whether a transaction was committed, None for unknown, and whether it makes no sense to ask again.

        A number that had not reached the log of a server that crashed is given away again. One that was committed had
        reached it, so "not committed" is always true; "committed" only from the server that the transaction was in.
        ``end_it``: a transaction that is still open waits for a COMMIT that will not come, and holds its locks.
        """
        asked = {"number": lost.number}
        try:
            row = session.connection.execute(formatted("session/outcome"), asked).fetchone()
        except psycopg.errors.InvalidParameterValue:
            return False, True  # not given away yet
        status, started = row or (None, "")
        same = started == lost.started
        if status == "aborted" or (status == "in progress" and not same):
            return False, True
        if status == "in progress":
            if end_it:
                session.connection.execute(formatted("session/end_transaction"), asked)
            return None, False
        return (True if status == "committed" and same else None), True

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
