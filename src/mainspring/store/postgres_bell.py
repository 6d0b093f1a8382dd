"""Doorbells over LISTEN and NOTIFY: the same hints as doorbell.py, for processes on any machines.

A ring is a NOTIFY in a transaction of its own behind the commit that it tells of: at once for the first few, then at
most every 50 ms. The writer sends it right behind its COMMIT where it may, else a thread tells it later. One thread of
a process listens, and rings the listeners inside it. A lost hint costs at most the polling interval; where no
notification can come (behind a pooler, without ``listen_url``), polling does it all.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import suppress

import psycopg

from mainspring.chance import Chance
from mainspring.clock import MILLISECOND, SECOND, Duration, seconds
from mainspring.errors import StoreError
from mainspring.store.postgres import PostgresEngine
from mainspring.store.postgres_session import Session, array
from mainspring.store.statements import formatted

APART = Duration(50 * MILLISECOND)
BURST = 5
"""Rings that are told at once after a while without any."""

_LONGEST_PAUSE = Duration(5 * SECOND)
_PATIENCE = 2.0
"""Seconds in which a notification of our own should come back."""

_SILENCE = 10.0
"""Seconds of silence after which we ask whether anybody is there: a dead connection is as silent as a quiet one."""

_ANSWER_PATIENCE = Duration(5 * SECOND)


class Notices:
    """The bells of one engine: ``work`` and ``news``, one connection for both."""

    def __init__(self, engine: PostgresEngine, chance: Chance) -> None:
        self._engine = engine
        self._chance = chance
        self._ears: dict[str, dict[str, Ear]] = {"work": {}, "news": {}}
        self._events: dict[str, set[threading.Event]] = {"work": set(), "news": set()}
        self._name = chance.incarnation()  # so that nobody is woken by its own notification
        self._end = Ear({}, "")
        self._untold: set[str] = set()
        self._pace = Pace(engine.monotonic)
        self._ringing = threading.Event()
        self._listener: threading.Thread | None = None
        self._teller: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._pid = os.getpid()

    def bell(self, kind: str) -> NoticeBell:
        """One kind of bell."""
        return NoticeBell(self, kind)

    # --- listening --------------------------------------------------------------------------------------------

    def enroll(self, kind: str, name: str) -> Ear:
        """A new listener of this process."""
        with self._lock:
            ear = self._ears[kind][name] = Ear(self._ears[kind], name)
            if self._listener is None and not self._closed.is_set():
                self._listener = threading.Thread(target=self._listen, name="mainspring-notices", daemon=True)
                self._listener.start()
        return ear

    def wake(self, kind: str, event: threading.Event) -> None:
        """Set this event too from now on."""
        self._events[kind].add(event)

    def hear(self, kind: str, besides: Container[str] = ()) -> None:
        """Ring the listeners of this process, but for those of these names."""
        for event in list(self._events[kind]):
            event.set()
        for name, ear in list(self._ears[kind].items()):
            if name not in besides:
                ear.ring()

    def _listen(self) -> None:
        pause = Duration(100 * MILLISECOND)
        while not self._closed.is_set():
            with suppress(psycopg.Error):
                session = Session(self._engine.place.listen, _ANSWER_PATIENCE)
                try:
                    if session.pooled:
                        return
                    self._listen_on(session.connection)
                    pause = Duration(100 * MILLISECOND)
                finally:
                    session.close()
            self._closed.wait(seconds(Duration(round(pause * (0.5 + self._chance.fraction())))))
            pause = Duration(min(_LONGEST_PAUSE, 2 * pause))

    def _listen_on(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        """Until the connection is lost or the end has come.

        Notifications are taken below the driver's generator, which makes a hundred calls before the first is heard.
        Those that come with an answer are given to a handler.
        """
        connection.add_notify_handler(lambda notice: self._noticed(notice.payload))
        connection.execute(formatted("session/listen"))
        for kind in self._ears:
            self.hear(kind)  # what was missed in the meantime
        poller = select.poll()
        poller.register(connection, select.POLLIN)
        poller.register(self._end, select.POLLIN)
        while not self._closed.is_set():
            if not poller.poll(_SILENCE * 1000):
                connection.execute(formatted("session/alive"))
            connection.pgconn.consume_input()
            while (notice := connection.pgconn.notifies()) is not None:
                self._noticed(notice.extra.decode())

    def _noticed(self, payload: str) -> None:
        schema, kind, ringer = payload.split(" ")
        if schema == self._engine.place.schema and ringer != self._name and kind in self._ears:
            self.hear(kind)

    def fault(self) -> str:
        """Why notifications don't come in here; an empty text where they do. Tries it on a connection of its own."""
        told = f"{self._engine.place.schema} check {self._name}"
        try:
            session = Session(self._engine.place.listen, _ANSWER_PATIENCE)
            try:
                if session.pooled:
                    return "a pooler stands between. Name the server itself with ?listen_url=."
                session.connection.execute(formatted("session/listen"))
                with self._engine.lent() as ringing:
                    ringing.connection.execute(formatted("session/notify"), {"told": array([told])})
                for notice in session.connection.notifies(timeout=_PATIENCE):
                    if notice.payload == told:
                        return ""
            finally:
                session.close()
        except psycopg.Error as error:
            return " ".join(str(error).split())
        return f"no notification came within {_PATIENCE:.0f} s."

    # --- ringing ----------------------------------------------------------------------------------------------

    def ring(self, kind: str, besides: Container[str], *, told: bool) -> None:
        """Wake the listeners here at once, and those elsewhere from a thread, which holds nobody up."""
        self.hear(kind, besides)
        if told:
            return
        with self._lock:
            self._untold.add(kind)
            if self._teller is None and not self._closed.is_set():
                self._teller = threading.Thread(target=self._tell, name="mainspring-tell", daemon=True)
                self._teller.start()
        self._ringing.set()

    def _tell(self) -> None:
        while not self._closed.is_set():
            self._ringing.wait()
            self._ringing.clear()
            while pause := self._pace.until_next():
                if self._closed.wait(seconds(pause)):
                    return  # whoever closes tells what is left
            self._tell_now()

    def _tell_now(self) -> None:
        """One notification for each kind that was rung since the last one. What can't be told, polling finds."""
        with self._lock:
            untold, self._untold = self._untold, set()
        if untold:
            with suppress(psycopg.Error, StoreError), self._engine.lent() as session:
                session.connection.execute(formatted("session/notify"), {"told": self.told(untold)})

    def told(self, kinds: Iterable[str]) -> str:
        """The payloads of a notification for these kinds."""
        return array([f"{self._engine.place.schema} {kind} {self._name}" for kind in sorted(kinds)])

    def may_tell(self) -> bool:
        """Whether one may be told now; it counts as told."""
        with self._lock:
            return self._pace.take()

    def close(self) -> None:
        """Tell what is left to tell, and listen no more."""
        self._closed.set()
        self._ringing.set()
        self._end.ring()
        if self._pid == os.getpid():
            for thread in (self._teller, self._listener):
                if thread is not None:
                    thread.join()
            self._tell_now()
            self._end.close()


class Pace:
    """How often others are told: BURST times at once, then every APART. Not thread-safe but for ``until_next``."""

    def __init__(self, monotonic: Callable[[], Duration]) -> None:
        self._monotonic = monotonic
        self._full_at = monotonic()  # when nothing was told for so long that BURST rings may be told again

    def _next(self) -> int:
        return self._full_at - (BURST - 1) * APART - self._monotonic()

    def until_next(self) -> Duration:
        """How long to wait; 0 takes the place at once."""
        wait = Duration(max(0, self._next()))
        if not wait:
            self.take()
        return wait

    def take(self) -> bool:
        """Tell now, if that may be."""
        if self._next() > 0:
            return False
        self._full_at = Duration(max(self._full_at, self._monotonic()) + APART)
        return True


class NoticeBehind:
    """Rings for the server to tell, right behind a commit."""

    def __init__(self, notices: Notices, kinds: Sequence[str]) -> None:
        self._notices = notices
        self._kinds = kinds
        self._may: bool | None = None
        self.told = False

    def text(self) -> str | None:
        """The payloads, where others may be told now. A commit that is tried again tells the same."""
        if self._may is None:
            self._may = self._notices.may_tell()
        return self._notices.told(self._kinds) if self._may else None


class NoticeBell:
    """One kind of bell, as doorbell.Doorbell is for SQLite."""

    def __init__(self, notices: Notices, kind: str) -> None:
        self._notices = notices
        self._kind = kind
        self.own = ""

    @property
    def kind(self) -> str:
        """What it rings for."""
        return self._kind

    def behind(self, also: object = None) -> NoticeBehind:
        """A ring for the server to tell, of the other bell as well."""
        return NoticeBehind(self._notices, [self._kind, also.kind] if isinstance(also, NoticeBell) else [self._kind])

    def ring(self, *, besides: str = "", told: bool = False) -> None:
        """Wake all listeners, but for the one of this name. Never fails."""
        self._notices.ring(self._kind, {besides, self.own}, told=told)

    def listen(self, name: str) -> Ear:
        """A new listener; ``name`` is unique (an incarnation)."""
        return self._notices.enroll(self._kind, name)

    def enroll(self, event: threading.Event) -> None:
        """Set this event too, for rings that this process hears."""
        self._notices.wake(self._kind, event)

    def fault(self) -> str:
        """Why rings of other processes don't come in here; an empty text where they do. Tries it."""
        return self._notices.fault()


class Ear:
    """One listener: a pipe, so that a selector can wait for it among other things."""

    def __init__(self, among: dict[str, Ear], name: str) -> None:
        self._among = among
        self._name = name
        self._lock = threading.Lock()  # a number that was closed may be another file's by the time of a ring
        self._open = True
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._reading, False)
        os.set_blocking(self._writing, False)

    def ring(self) -> None:
        """Wake it. A full pipe has rung already, a closed one wakes nobody."""
        with self._lock, suppress(BlockingIOError):
            if self._open:
                os.write(self._writing, b"!")

    def fileno(self) -> int:
        """For selectors."""
        return self._reading

    @property
    def gone(self) -> bool:
        """A pipe of this process can't be taken away."""
        return False

    def make_again(self) -> None:
        """Never needed."""

    def wait(self, timeout: Duration) -> bool:
        """Block until a ring or the time-out. True for a ring."""
        poller = select.poll()
        poller.register(self._reading, select.POLLIN)
        if not poller.poll(max(0.0, seconds(timeout)) * 1000):
            return False
        self.drain()
        return True

    def drain(self) -> None:
        """Forget the rings so far."""
        with suppress(OSError):
            while os.read(self._reading, 4096):
                pass

    def close(self) -> None:
        """Stop listening."""
        self._among.pop(self._name, None)
        with self._lock:
            if self._open:
                self._open = False
                os.close(self._reading)
                os.close(self._writing)
