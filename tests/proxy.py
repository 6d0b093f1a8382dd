"""A way to a PostgreSQL server that misbehaves on demand: a TCP proxy with one thread, on a port of its own.

It can reset what is open, refuse what comes, swallow what is said (both ways or the answers alone), be slow, and act at
a COMMIT: lose it, or pass it on and lose its answer. To find COMMITs it reads the client's messages, as statements are
prepared and only named later.
"""

from __future__ import annotations

import selectors
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from mainspring.clock import Duration, SystemClock, seconds

_STARTUP = 196_608
"""Protocols from this number on are real; those above are requests for encryption, which come first."""
_REQUESTS = 80_000_000


class _Reader:
    """Reads what a client says: whether a chunk of it has a COMMIT."""

    def __init__(self) -> None:
        self._kept = b""
        self._started = False
        self._statements: dict[bytes, bytes] = {}

    def commits(self, chunk: bytes) -> bool:
        """Whether a COMMIT ends in this chunk."""
        self._kept += chunk
        found = False
        while message := self._next():
            kind, body = message
            if kind == b"P":
                name, text = body.split(b"\0")[:2]
                self._statements[name] = text
            elif kind == b"B":
                found = found or _is_commit(self._statements.get(body.split(b"\0")[1], b""))
            elif kind == b"Q":
                found = found or _is_commit(body.rstrip(b"\0"))
        return found

    def _next(self) -> tuple[bytes, bytes] | None:
        head = 1 if self._started else 0
        if len(self._kept) < head + 4:
            return None
        end = head + struct.unpack("!i", self._kept[head : head + 4])[0]
        if len(self._kept) < end:
            return None
        kind, body = self._kept[:head], self._kept[head + 4 : end]
        self._kept = self._kept[end:]
        if not self._started:
            self._started = _STARTUP <= struct.unpack("!i", body[:4])[0] < _REQUESTS
            return b"?", b""
        return kind, body


def _is_commit(text: bytes) -> bool:
    return text.strip().lower() == b"commit"


class _Way:
    """One connection and its continuation."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self.server = server
        self.reader = _Reader()
        self.losing = False
        """A COMMIT was passed on; nothing goes back any more, and its answer cuts the way."""
        self.answer = b""
        self.held = False
        """A COMMIT was not passed on, and the server does not hear that its client has gone."""

    def reset(self) -> None:
        """End both with a reset, as a router that forgot them does."""
        for end in (self.client, self.server):
            with suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.close()


class Proxy:
    """Forwards to ``port`` of this machine. What it does wrong is said by attributes, from any thread.

    ``refuse``: so many new connections are closed at once. ``swallow``: ``both`` or ``answers``: what is said is taken
    and not passed on. ``delay``: each chunk comes so much later. ``at_commit``: ``lose`` the next COMMIT or its
    ``answer``, and cut (``before_cut`` is called between the two), or ``hold`` it for ever, the server's end open;
    once, or as often as ``commits`` says (None: always).
    """

    def __init__(self, port: int) -> None:
        self._to = port
        self.refuse = 0
        self.swallow = ""
        self.delay = Duration(0)
        self.at_commit = ""
        self.commits: int | None = 1
        self.before_cut: Callable[[], object] = lambda: None
        self.lost = 0
        """COMMITs that were lost, or whose answer was."""
        self.accepted = 0
        """Connections that ever came."""
        self._clock = SystemClock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.port: int = self._listener.getsockname()[1]
        self._selector = selectors.DefaultSelector()
        self._ways: dict[socket.socket, _Way] = {}
        self._later: deque[tuple[Duration, socket.socket, bytes]] = deque()
        self._orders: deque[threading.Event] = deque()
        self._woken, self._waker = socket.socketpair()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        self._ended = True
        self._waker.send(b"!")
        self._thread.join()

    @property
    def open(self) -> int:
        """How many connections go through it."""
        return len(set(self._ways.values()))

    def cut(self) -> None:
        """Reset every connection that is open; they are cut when this returns."""
        done = threading.Event()
        self._orders.append(done)
        self._waker.send(b"!")
        assert done.wait(60)

    # --- the thread -------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._ended:
            for key, _ in self._selector.select(self._patience()):
                if key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj is self._woken:
                    self._woken.recv(100)
                else:
                    self._pass_on(key.fileobj)  # type: ignore[arg-type]
            self._send_due()
            while self._orders:
                for way in set(self._ways.values()):
                    self._end(way)
                self._orders.popleft().set()
        for way in set(self._ways.values()):
            self._end(way)
        for one in (self._listener, self._woken, self._waker):
            one.close()
        self._selector.close()

    def _patience(self) -> float | None:
        return max(0.0, seconds(Duration(self._later[0][0] - self._clock.monotonic()))) if self._later else None

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        self.accepted += 1
        try:
            if self.refuse:
                self.refuse -= 1
                raise ConnectionRefusedError
            server = socket.create_connection(("127.0.0.1", self._to), 5)
        except OSError:
            client.close()
            return
        way = _Way(client, server)
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._ways[end] = way
            self._selector.register(end, selectors.EVENT_READ)

    def _pass_on(self, source: socket.socket) -> None:
        way = self._ways.get(source)
        if way is None:
            return  # cut in this round
        try:
            chunk = source.recv(65_536)
        except OSError:
            chunk = b""
        if not chunk and way.held and source is way.client:
            self._ways.pop(source)
            self._selector.unregister(source)
        elif not chunk:
            self._end(way)
        elif source is way.client:
            self._say(way, chunk)
        else:
            self._answer(way, chunk)

    def _say(self, way: _Way, chunk: bytes) -> None:
        commits = way.reader.commits(chunk)
        if self.swallow == "both" or way.held:
            return
        if commits and self.at_commit and self.commits != 0:
            self.commits = None if self.commits is None else self.commits - 1
            if self.at_commit == "lose":
                self._cut_at_commit(way)
                return
            way.losing, way.held = self.at_commit == "answer", self.at_commit == "hold"
            if way.held:
                return
        self._send(way.server, chunk)

    def _answer(self, way: _Way, chunk: bytes) -> None:
        if self.swallow:
            return
        if way.losing:
            way.answer += chunk
            if b"COMMIT\0" in way.answer:
                self._cut_at_commit(way)
            return
        self._send(way.client, chunk)

    def _cut_at_commit(self, way: _Way) -> None:
        self.lost += 1
        self.before_cut()
        self._end(way)

    def _send(self, to: socket.socket, chunk: bytes) -> None:
        self._later.append((Duration(self._clock.monotonic() + self.delay), to, chunk))

    def _send_due(self) -> None:
        while self._later and self._later[0][0] <= self._clock.monotonic():
            _, to, chunk = self._later.popleft()
            way = self._ways.get(to)
            if way is not None:
                try:
                    to.sendall(chunk)
                except OSError:
                    self._end(way)

    def _end(self, way: _Way) -> None:
        for end in (way.client, way.server):
            if self._ways.pop(end, None) is not None:
                self._selector.unregister(end)
        way.reset()
