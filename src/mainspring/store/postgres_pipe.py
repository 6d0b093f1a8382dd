"""Pipe: the statements of one transaction, sent together and answered in their order, below the driver's cursors.

A statement costs the driver's cursor about a hundred calls; here it costs a handful, as all that we ask is known
beforehand and prepared once on each session. Nothing goes before an answer is waited for: then everything at once, with
one sync behind it. The driver would send each statement by itself, and each wakes the server. And the server counts the
time that a client idles in a transaction only behind a sync: whoever is stopped between two statements that were sent
without one would keep its locks for as long as it is stopped.
"""

from __future__ import annotations

import select
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import abc
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus

from mainspring.clock import Duration, seconds

_LOST = "the connection to the server was lost"
_ANSWERED = frozenset({ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK, ExecStatus.EMPTY_QUERY})


class NoAnswer(psycopg.OperationalError):
    """The server, or what stands before it, took what we sent and said nothing for longer than it may."""


class Asked:
    """A statement that was asked. ``command``: what the server says that it did; None as long as it has not."""

    __slots__ = ("_result", "_transformer")

    def __init__(self, transformer: abc.Transformer) -> None:
        self._transformer = transformer
        self._result: Any = None

    @property
    def command(self) -> str | None:
        """The server's word for what was done: COMMIT, ROLLBACK ..."""
        return None if self._result is None else (self._result.command_status or b"").decode()

    def rows(self) -> list[tuple[Any, ...]]:
        """What was answered, once it was heard."""
        self._transformer.set_pgresult(self._result)
        return self._transformer.load_rows(0, self._result.ntuples, tuple)

    def heard(self, result: Any) -> None:
        """The server has answered."""
        self._result = result


class _Preparing(Asked):
    """A statement that is being prepared; when that fails it is not."""

    __slots__ = ("name",)

    def __init__(self, transformer: abc.Transformer, name: bytes) -> None:
        super().__init__(transformer)
        self.name = name


class Pipe:
    """One transaction's line to the server. ``patience``: the longest silence while we wait; None for any.

    ``prepared``: the names of what the session has prepared; None where nothing may stay on it.
    """

    def __init__(
        self, connection: psycopg.Connection[Any], prepared: set[bytes] | None, patience: Duration | None
    ) -> None:
        self._connection = connection
        self._server = connection.pgconn
        self._prepared = prepared
        self._patience = None if patience is None else max(1, round(seconds(patience) * 1000))
        self._transformer: abc.Transformer = Transformer(connection)
        self._kept: list[tuple[bytes, bytes, list[bytes | None], Asked]] = []
        self._due: deque[Asked | None] = deque()  # None: a sync
        self._failure: psycopg.Error | None = None
        self._poller = select.poll()
        self._server.enter_pipeline_mode()

    # --- asking -----------------------------------------------------------------------------------------------

    def ask(self, text: bytes, values: Iterable[object] = (), name: bytes = b"") -> Asked:
        """Ask something with the next answer that is waited for. ``name``: prepare it under this one."""
        one = Asked(self._transformer)
        self._kept.append((name, text, [None if value is None else written(value) for value in values], one))
        return one

    def part(self) -> None:
        """Send what has gathered, and wait for nothing."""
        kept, self._kept = self._kept, []
        for name, text, values, one in kept:
            self._send(name, text, values)
            self._due.append(one)
        if kept:
            self._server.pipeline_sync()
            self._due.append(None)

    def _send(self, name: bytes, text: bytes, values: Sequence[bytes | None]) -> None:
        if not name or self._prepared is None:
            self._server.send_query_params(text, values)
            return
        if name not in self._prepared:
            self._server.send_prepare(name, text)
            self._prepared.add(name)
            self._due.append(_Preparing(self._transformer, name))
        self._server.send_query_prepared(name, values)

    # --- hearing ----------------------------------------------------------------------------------------------

    def hear(self) -> None:
        """Send what has gathered, and wait for all answers. The first error of all is raised, and again if asked."""
        self.part()
        try:
            while self._due:
                self._hear_next()
        except psycopg.Error as error:
            raise self._failure or error from None
        if self._failure is not None:
            raise self._failure

    def _hear_next(self) -> None:
        while self._server.is_busy():
            self._wait()
        result = self._server.get_result()
        if result is None:
            if self._server.status != ConnStatus.OK:
                raise psycopg.OperationalError(_LOST)
            return  # what stands between two answers
        if result.status == ExecStatus.PIPELINE_SYNC:
            self._due.popleft()
            return
        one = self._due.popleft()
        if one is None:
            raise psycopg.OperationalError(_LOST if self._failure is None else str(self._failure))
        if result.status in _ANSWERED:
            one.heard(result)
            return
        if isinstance(one, _Preparing) and self._prepared is not None:
            self._prepared.discard(one.name)
        if result.status != ExecStatus.PIPELINE_ABORTED and self._failure is None:
            self._failure = error_from_result(result, encoding="utf-8")

    def _wait(self) -> None:
        """Until something has come; what is still to be sent goes meanwhile, or its answer would never come."""
        events = select.POLLIN | select.POLLOUT if self._server.flush() else select.POLLIN
        self._poller.register(self._server.socket, events)
        ready = self._poller.poll(self._patience)
        if not ready:
            self._connection.close()
            raise NoAnswer(f"no answer within {(self._patience or 0) / 1000:g} s")
        if ready[0][1] & ~select.POLLOUT:
            self._server.consume_input()

    # --- the end ----------------------------------------------------------------------------------------------

    def leave(self, *, calm: bool) -> None:
        """The connection is an ordinary one again, or closed. ``calm``: what is under way is heard to its end.

        What was not sent never is.
        """
        self._kept.clear()
        if not calm:
            self._connection.close()
        with suppress(psycopg.Error):
            while self._due and self._server.status == ConnStatus.OK:
                self._hear_next()
        try:
            self._server.exit_pipeline_mode()
        except psycopg.Error:
            self._connection.close()


def written(value: object) -> bytes:
    """A value as PostgreSQL reads it. Raises psycopg.DataError for what it can't be."""
    if value is True or value is False:
        return b"t" if value else b"f"
    if isinstance(value, (str, int, float)):
        text = value if type(value) is str else str(value)
        if "\0" in text:
            raise psycopg.DataError("PostgreSQL text can't contain NUL (0x00)")
        return text.encode()
    raise psycopg.DataError(f"a {type(value).__name__} can't be sent: {value!r:.80}")
