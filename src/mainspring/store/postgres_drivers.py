"""Connections of other people's code, as far as a submit needs them: psycopg, asyncpg, SQLAlchemy and Django.

Each is known by the package that its class is from, so that none of them need be installed. Values go as numbers and
texts (an array is a text that the statement casts), which every driver takes. Errors stay the driver's own: whoever
owns the transaction knows how to handle them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, Protocol

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from mainspring.domain.borrowed import Borrowed
from mainspring.errors import InvalidOption
from mainspring.store.statements import PARAMETER, statement

Rows = list[tuple[Any, ...]]
Wait = Callable[[Awaitable[Any]], Any]


class Driver(Protocol):
    """What one kind of connection must know."""

    def autocommits(self) -> bool:
        """Whether the next statement would be a transaction of its own."""
        ...

    def frame(self, text: str) -> None:
        """Begin, keep or end a transaction or savepoint."""
        ...

    def rows(self, name: str, values: dict[str, Any]) -> Rows:
        """Run a statement by its name."""
        ...

    def when_committed(self, call: Callable[[], None]) -> None:
        """Call it once the transaction is committed, where the driver can tell; else never."""
        ...


def driver_of(borrowed: Borrowed) -> Driver:
    """The driver for a connection. Raises InvalidOption for what is none, or is one of the other kind of code."""
    given = borrowed.connection
    kinds = {kind.__module__.partition(".")[0] for kind in type(given).__mro__}
    if "sqlalchemy" in kinds:
        return _sqlalchemy(given, borrowed.wait)
    if isinstance(given, psycopg.AsyncConnection):
        return _AsyncPsycopg(given, _waiting(given, borrowed.wait))
    if "asyncpg" in kinds and hasattr(given, "is_in_transaction"):  # a pool has it not: each call has another one
        return _Asyncpg(given, _waiting(given, borrowed.wait))
    if borrowed.wait is not None and not kinds.isdisjoint({"psycopg", "django"}):
        raise _other_code(given, "submit")
    if isinstance(given, psycopg.Connection):
        return _Psycopg(given)
    if "django" in kinds and hasattr(given, "vendor"):
        if given.vendor != "postgresql":
            raise _no_connection(f"of Django to {given.vendor}")
        return _Django(given)
    raise _no_connection(f"{type(given).__module__}.{type(given).__qualname__}")


def _no_connection(what: str) -> InvalidOption:
    return InvalidOption(
        f"connection is {what}; it must be one to the PostgreSQL database that the jobs are in.",
        remedy="Of psycopg 3, asyncpg, SQLAlchemy (a Connection or Session) or Django.",
        field="connection",
    )


def _other_code(given: object, verb: str) -> InvalidOption:
    kind = f"{type(given).__module__}.{type(given).__qualname__}"
    return InvalidOption(
        f"connection is a {kind}, which this call can't use.", remedy=f"Call {verb}.", field="connection"
    )


def _waiting(given: object, wait: Wait | None) -> Wait:
    if wait is None:
        raise _other_code(given, "asubmit")
    return wait


@cache
def _text(name: str, style: str) -> str:
    """A statement with its parameters as a driver writes them; arrays are cast from text."""
    found = statement(name, "postgres")
    text = re.sub(r"(?<!:):([a-z_]+)(::\w+\[\])", r":\1::text\2", found.text)
    numbers = {parameter: number for number, parameter in enumerate(found.parameters, 1)}
    if style == "number":
        return PARAMETER.sub(lambda match: f"${numbers[match[1]]}" if match[1] else match[0], text)
    if style == "colon":
        return text.replace("::", "\\:\\:")
    return PARAMETER.sub(lambda match: f"%({match[1]})s" if match[1] else match[0], text.replace("%", "%%"))


def _answers(name: str) -> bool:
    return statement(name, "postgres").answers


class _Psycopg:
    """psycopg 3. Cursors of our own, whatever the connection makes of rows; nothing is prepared on the session."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def autocommits(self) -> bool:
        idle = self._connection.info.transaction_status is TransactionStatus.IDLE
        return idle and self._connection.autocommit

    def frame(self, text: str) -> None:
        psycopg.Cursor(self._connection).execute(text.encode(), prepare=False)

    def rows(self, name: str, values: dict[str, Any]) -> Rows:
        cursor = psycopg.Cursor(self._connection, row_factory=tuple_row)
        cursor.execute(_text(name, "percent").encode(), values, prepare=False)
        return cursor.fetchall() if _answers(name) else []

    def when_committed(self, call: Callable[[], None]) -> None:
        """It does not tell."""


class _AsyncPsycopg:
    """The same for async code."""

    def __init__(self, connection: psycopg.AsyncConnection[Any], wait: Wait) -> None:
        self._connection = connection
        self._wait = wait

    def autocommits(self) -> bool:
        idle = self._connection.info.transaction_status is TransactionStatus.IDLE
        return idle and self._connection.autocommit

    def frame(self, text: str) -> None:
        self._wait(psycopg.AsyncCursor(self._connection).execute(text.encode(), prepare=False))

    def rows(self, name: str, values: dict[str, Any]) -> Rows:
        async def asked() -> Rows:
            cursor = psycopg.AsyncCursor(self._connection, row_factory=tuple_row)
            await cursor.execute(_text(name, "percent").encode(), values, prepare=False)
            return await cursor.fetchall() if _answers(name) else []

        found: Rows = self._wait(asked())
        return found

    def when_committed(self, call: Callable[[], None]) -> None:
        """It does not tell."""


class _Asyncpg:
    """asyncpg: a connection, or one that a pool has lent."""

    def __init__(self, connection: Any, wait: Wait) -> None:
        self._connection = connection
        self._wait = wait

    def autocommits(self) -> bool:
        return not self._connection.is_in_transaction()

    def frame(self, text: str) -> None:
        self._wait(self._connection.execute(text))

    def rows(self, name: str, values: dict[str, Any]) -> Rows:
        given = [values[parameter] for parameter in statement(name, "postgres").parameters]
        return [tuple(row) for row in self._wait(self._connection.fetch(_text(name, "number"), *given))]

    def when_committed(self, call: Callable[[], None]) -> None:
        """It does not tell."""


def _sqlalchemy(given: Any, wait: Wait | None) -> Driver:
    """A Connection or Session, or the async form of either."""
    a_session = not hasattr(given, "exec_driver_sql")
    if a_session and not callable(getattr(given, "connection", None)):  # an engine, or what makes sessions
        raise _no_connection(f"{type(given).__module__}.{type(given).__qualname__}")
    asynchronous = hasattr(given, "run_sync")
    if asynchronous:
        wait = _waiting(given, wait)
    elif wait is not None:
        raise _other_code(given, "submit")
    connection = given
    if a_session:
        connection = wait(given.connection()) if wait is not None else given.connection()
    if connection.dialect.name != "postgresql":
        raise _no_connection(f"of SQLAlchemy to {connection.dialect.name}")
    return _Sqlalchemy(connection, wait)


class _Sqlalchemy:
    """SQLAlchemy, whatever its driver. The transaction that it begins by itself is its owner's to commit."""

    def __init__(self, connection: Any, wait: Wait | None) -> None:
        self._connection = connection
        self._wait = wait

    def autocommits(self) -> bool:
        plain = self._connection if self._wait is None else self._connection.sync_connection
        return bool(getattr(plain.connection.dbapi_connection, "autocommit", False))

    def frame(self, text: str) -> None:
        self._run(text, {})

    def rows(self, name: str, values: dict[str, Any]) -> Rows:
        found = self._run(_text(name, "colon"), values)
        return [tuple(row) for row in found] if _answers(name) else []

    def _run(self, text: str, values: dict[str, Any]) -> Any:
        said = self._connection.execute(sys.modules["sqlalchemy"].text(text), values)  # its owner has imported it
        return said if self._wait is None else self._wait(said)

    def when_committed(self, call: Callable[[], None]) -> None:
        """It does not tell of this transaction alone."""


class _Django:
    """Django's connection of this thread, whatever its driver."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def autocommits(self) -> bool:
        self._connection.ensure_connection()
        return bool(self._connection.get_autocommit()) and not self._connection.in_atomic_block

    def frame(self, text: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(text)

    def rows(self, name: str, values: dict[str, Any]) -> Rows:
        with self._connection.cursor() as cursor:
            cursor.execute(_text(name, "percent"), values)
            return [tuple(row) for row in cursor.fetchall()] if _answers(name) else []

    def when_committed(self, call: Callable[[], None]) -> None:
        self._connection.on_commit(call)
