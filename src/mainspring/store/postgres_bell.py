"""Doorbells over LISTEN and NOTIFY: the same hints as doorbell.py, for processes on any machines.

A ring is a NOTIFY in a transaction of its own behind the commit that it tells of: at once for the first, then at most
every 50 ms. One thread of a process listens, and rings the listeners inside it. A lost hint costs at most the polling
interval; where no notification can come (behind a pooler, without ``listen_url``), polling does it all.
"""

from __future__ import annotations

import os
import select
import threading
from contextlib import suppress

import psycopg

from mainspring.chance import Chance
from mainspring.clock import MILLISECOND, SECOND, Duration, SystemClock, seconds
from mainspring.store.postgres import PostgresEngine
from mainspring.store.postgres_session import Session
from mainspring.store.statements import formatted

APART = Duration(50 * MILLISECOND)
_LONGEST_PAUSE = Duration(5 * SECOND)
_LOOK_AROUND = 0.5
"""Seconds between two looks at whether the end has come."""


class Notices:
    """The bells of one engine: ``work`` and ``news``, one connection for both."""

    def __init__(self, engine: PostgresEngine, chance: Chance) -> None:
        self._engine = engine
        self._chance = chance
        self._clock = SystemClock()
        self._ears: dict[str, dict[str, Ear]] = {"work": {}, "news": {}}
        self._events: dict[str, set[threading.Event]] = {"work": set(), "news": set()}
        self._bells: list[NoticeBell] = []
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._pid = os.getpid()

    def bell(self, kind: str) -> NoticeBell:
        """One kind of bell."""
        bell = NoticeBell(self, kind)
        self._bells.append(bell)
        return bell

    # --- listening --------------------------------------------------------------------------------------------

    def enroll(self, kind: str, name: str) -> Ear:
        """A new listener of this process."""
        with self._lock:
            ear = self._ears[kind][name] = Ear(self._ears[kind], name)
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._listen, name="mainspring-notices", daemon=True)
                self._thread.start()
        return ear

    def wake(self, kind: str, event: threading.Event) -> None:
        """Set this event too from now on."""
        self._events[kind].add(event)

    def hear(self, kind: str, besides: str) -> None:
        """Ring the listeners of this process, but for the one of this name."""
        for event in list(self._events[kind]):
            event.set()
        for name, ear in list(self._ears[kind].items()):
            if name != besides:
                ear.ring()

    def _listen(self) -> None:
        pause = Duration(100 * MILLISECOND)
        while not self._closed.is_set():
            with suppress(psycopg.Error):
                session = Session(self._engine.place.listen)
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
        """Until the connection is lost, which the kernel tells by its probes, or the end has come."""
        connection.execute(formatted("session/listen"))
        for kind in self._ears:
            self.hear(kind, "")  # what was missed in the meantime
        while not self._closed.is_set():
            for notice in connection.notifies(timeout=_LOOK_AROUND):
                schema, _, told = notice.payload.partition(" ")
                kind, _, besides = told.partition(" ")
                if schema == self._engine.place.schema and kind in self._ears:
                    self.hear(kind, besides)

    # --- ringing ----------------------------------------------------------------------------------------------

    def notify(self, kind: str, besides: str) -> None:
        """Tell all processes. Never fails; what can't be told now, polling finds."""
        told = f"{self._engine.place.schema} {kind} {besides}"
        with suppress(psycopg.Error), self._engine.lent() as session:
            session.connection.execute(formatted("session/notify"), {"told": told})

    def close(self) -> None:
        """Tell what was to be told later, and listen no more."""
        for bell in self._bells:
            bell.close()
        self._closed.set()
        if self._thread is not None and self._pid == os.getpid():
            self._thread.join()
            self._thread = None


class NoticeBell:
    """One kind of bell, as doorbell.Doorbell is for SQLite."""

    def __init__(self, notices: Notices, kind: str) -> None:
        self._notices = notices
        self._kind = kind
        self._clock = SystemClock()
        self._lock = threading.Lock()
        self._free_at = Duration(0)
        self._besides: str | None = None  # None: nothing waits to be told
        self._waiting = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def ring(self, *, besides: str = "") -> None:
        """Wake all listeners, but for the one of this name. Never fails."""
        self._notices.hear(self._kind, besides)
        with self._lock:
            now = self._clock.monotonic()
            if now < self._free_at or self._besides is not None:
                self._besides = besides if self._besides in {None, besides} else ""
                self._waiting.set()
                if self._thread is None and not self._closed.is_set():
                    self._thread = threading.Thread(target=self._ring_later, name="mainspring-bell", daemon=True)
                    self._thread.start()
                return
            self._free_at = Duration(now + APART)
        self._notices.notify(self._kind, besides)

    def _ring_later(self) -> None:
        """The thread that rings for those that came too soon behind one another."""
        while not self._closed.is_set():
            self._waiting.wait()
            self._closed.wait(max(0.0, seconds(Duration(self._free_at - self._clock.monotonic()))))
            self._flush()

    def _flush(self) -> None:
        with self._lock:
            besides, self._besides = self._besides, None
            self._waiting.clear()
            self._free_at = Duration(self._clock.monotonic() + APART)
        if besides is not None:
            self._notices.notify(self._kind, besides)

    def close(self) -> None:
        """Tell now what was to be told later, and nothing more."""
        self._closed.set()
        self._waiting.set()
        self._flush()

    def listen(self, name: str) -> Ear:
        """A new listener; ``name`` is unique (an incarnation)."""
        return self._notices.enroll(self._kind, name)

    def enroll(self, event: threading.Event) -> None:
        """Set this event too, for rings that this process hears."""
        self._notices.wake(self._kind, event)


class Ear:
    """One listener: a pipe, so that a selector can wait for it among other things."""

    def __init__(self, among: dict[str, Ear], name: str) -> None:
        self._among = among
        self._name = name
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._reading, False)
        os.set_blocking(self._writing, False)

    def ring(self) -> None:
        """Wake it. A full pipe has rung already, a closed one wakes nobody."""
        with suppress(OSError):
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
        if self._among.pop(self._name, None) is not None:
            os.close(self._reading)
            os.close(self._writing)
