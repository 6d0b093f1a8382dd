"""Sessions with the server: as many as were ever needed at once, each lent to one transaction at a time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import msgspec
import psycopg
from psycopg.types.numeric import Int8BinaryDumper
from psycopg.waiting import Ready, Wait

from mainspring.clock import Duration, SystemClock, seconds
from mainspring.errors import StoreBusy
from mainspring.store.postgres_pipe import NoAnswer, Pipe
from mainspring.store.postgres_place import Place
from mainspring.store.statements import formatted

T = TypeVar("T")

_MOST_IDLE = 8
_PATIENCE = 10.0  # seconds
_MOST = 40
"""Sessions of one process; who comes when all are lent waits."""

_DEFAULTS = {
    "application_name": "mainspring",
    "connect_timeout": "5",
    # A way that went black is noticed by the kernel, however long the server would take.
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}


class Line(psycopg.Connection[Any]):
    """A connection on which nothing may stand still longer than ``patience`` (None: for ever).

    Where something that forwards has died or hangs, the kernel finds nothing wrong with the way to it.
    """

    patience: Duration | None = None
    _moved = Duration(0)

    def wait(self, gen: Generator[Wait, Any, T], *how: Any, **more: Any) -> T:
        """As the driver waits, with an end."""
        return super().wait(self._bounded(gen), *how, **more)

    def _bounded(self, gen: Generator[Wait, Any, T]) -> Generator[Wait, Any, T]:
        clock = SystemClock()
        self._moved = clock.monotonic()
        ready: Ready | int | None = None
        while True:
            try:
                wanted = gen.send(ready)
            except StopIteration as end:
                value: T = end.value
                return value
            ready = yield wanted
            if ready:
                self._moved = clock.monotonic()
            elif self.patience is not None and clock.monotonic() - self._moved > self.patience:
                self.close()
                raise NoAnswer(f"no answer within {seconds(self.patience):g} s")


class Session:
    """One connection. ``pooled``: a pooler stands between, so nothing may be kept on it.

    ``may_flush``: whether ``session/flush`` works there.
    """

    __slots__ = ("_prepared", "connection", "may_flush", "pooled", "server", "version")

    def __init__(self, conninfo: str, patience: Duration | None) -> None:
        wanted = psycopg.conninfo.conninfo_to_dict(conninfo)
        values: dict[str, Any] = _DEFAULTS | {key: value for key, value in wanted.items() if value is not None}
        self.connection = Line.connect(**values, autocommit=True, prepare_threshold=None)
        self.connection.patience = patience
        self.connection.adapters.register_dumper(int, Int8BinaryDumper)
        try:
            pid, self.version, self.server, self.may_flush = self.connection.execute(
                formatted("session/identity")
            ).fetchall()[0]
        except BaseException:
            self.close()
            raise
        # A pooler makes up the number that it tells its clients.
        self.pooled = pid != self.connection.info.backend_pid
        self._prepared: set[bytes] | None = None if self.pooled else set()

    def open_pipe(self) -> Pipe:
        """A pipe that somebody leaves himself."""
        return Pipe(self.connection, self._prepared, self.connection.patience)

    @contextmanager
    def pipe(self) -> Iterator[Pipe]:
        """Ask without waiting for each answer; at the end all are heard. The first error is the one that is raised."""
        pipe = self.open_pipe()
        calm = False
        try:
            yield pipe
            pipe.hear()
            calm = True
        except Exception:
            calm = True
            raise
        finally:
            pipe.leave(calm=calm)

    def close(self) -> None:
        """End it, whatever state it is in."""
        with suppress(psycopg.Error):
            self.connection.close()


class Sessions:
    """All sessions of one engine."""

    def __init__(self, place: Place, patience: Duration) -> None:
        self._place = place
        self._patience = patience
        self._idle: deque[Session] = deque()
        self._lent: set[Session] = set()
        self._room = threading.BoundedSemaphore(_MOST)

    def take(self) -> Session:
        """One that nobody uses; raises psycopg.Error when there is none and none can be opened."""
        if not self._room.acquire(timeout=_PATIENCE):
            raise StoreBusy(f"All {_MOST} connections of this process to {self._place.shown} stayed in use.")
        try:
            try:
                session = self._idle.pop()
            except IndexError:
                session = Session(self._place.conninfo, self._patience)
        except BaseException:
            self._room.release()
            raise
        self._lent.add(session)
        return session

    def give_back(self, session: Session, *, keep: bool) -> None:
        """Its transaction is over."""
        self._lent.discard(session)
        if keep and not session.connection.closed and len(self._idle) < _MOST_IDLE:
            self._idle.append(session)
        else:
            session.close()
        self._room.release()

    def forget_idle(self) -> None:
        """Close those that nobody uses: after an outage they are most likely dead."""
        while self._idle:
            with suppress(IndexError):
                self._idle.pop().close()

    def all(self) -> list[Session]:
        """Every one that is open."""
        return [*self._idle, *self._lent]


def array(values: Sequence[object]) -> str:
    """An array as PostgreSQL reads it, for a parameter that the statement casts to the type of the array."""
    if len(values) == 1:
        value = values[0]
        return f"{{{value}}}" if type(value) is int else f"{{{_element(value)}}}"
    kinds = set(map(type, values))
    if kinds <= _NUMBERS:
        return "{" + msgspec.json.encode(values)[1:-1].decode() + "}"  # JSON writes numbers and null as it does
    if kinds == _TEXTS and (text := "\0".join(values)).count("\0") < len(values):  # type: ignore[arg-type]
        return '{"' + _escaped(text).replace("\0", '","') + '"}'  # all at once: a NUL is in none of them
    elements = {value: _element(value) for value in set(values)}
    return "{" + ",".join([elements[value] for value in values]) + "}"


_NUMBERS = {int, type(None)}
_TEXTS = {str}


def _element(value: object) -> str:
    return "NULL" if value is None else '"' + _escaped(str(value)) + '"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
