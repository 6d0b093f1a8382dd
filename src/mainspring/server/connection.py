"""A connection of the server: uvicorn's, with an end to its patience, and to what it keeps of half a request.

The parser joins the pieces of a header again and again, so what it holds is counted before it is given more.
"""

from __future__ import annotations

import asyncio
import sys
from http import HTTPStatus

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from mainspring.clock import SECOND, Duration, seconds
from mainspring.errors import HeadTooLarge, MainspringError, MalformedRequest, RequestTimeout, TooBusy
from mainspring.server.problems import problem

PATIENCE = Duration(30 * SECOND)
"""So long a full buffer may stand still before its client is cut off; it comes back and goes on where it was."""

HEAD_LIMIT = 65_536
"""Bytes that the parser may hold of a request line and headers, of trailers, or of the size of a chunk."""

HEAD_TIME = Duration(10 * SECOND)
"""So long a new connection, or a head that has begun, may take until the head is whole."""

MOST = 1_000
"""Connections that are open at once. At this many, the one that has said nothing for longest makes room for another."""

_LINGER = Duration(SECOND // 2)
"""So long what still comes is dropped after a refusal: to hang up at once would reset the connection unread."""


class Patient(HttpToolsProtocol):
    """One connection. What a slow client has not taken yet is at most one buffer and one piece of its answer."""

    patience = PATIENCE
    head_time = HEAD_TIME
    most = MOST
    _cut: asyncio.TimerHandle | None = None
    _late: asyncio.TimerHandle | None = None
    _held = 0  # bytes that the parser was given since it last told of something whole
    _in_head = True
    _refused = False
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody is there, and should soon say what they want."""
        crowded = len(self.connections) >= self.most and not self._make_room()
        super().connection_made(transport)
        if crowded:
            said = f"{len(self.connections) - 1} connections are open, and every one is being answered."
            self._refuse(TooBusy(said, remedy="Try again in a second."))
            return
        self._since = self.loop.time()
        self._late = self.loop.call_later(seconds(self.head_time), self._too_late)

    def data_received(self, data: bytes) -> None:
        """Give it to the parser, in bites that can't be more than it may hold."""
        while data and not self._refused and not self.transport.is_closing():
            bite = data[: HEAD_LIMIT - self._held]
            if not bite:
                self._refuse(HeadTooLarge(HEAD_LIMIT))
                return
            data = data[len(bite) :]
            self._held += len(bite)
            super().data_received(bite)
        self._time_head()

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._held, self._in_head = 0, False
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of the body is here."""
        self._held = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole; what comes next is the head of another."""
        self._held, self._in_head = 0, True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """It is answered; a head that came meanwhile was not read, and has its time from now on."""
        super().on_response_complete()
        self._since = self.loop.time()
        if self._late is not None:
            self._let_be()
            self._time_head()

    def send_400_response(self, msg: str) -> None:
        """The parser can't read it."""
        self._refuse(MalformedRequest(str(sys.exception() or msg)))

    def pause_writing(self) -> None:
        """The buffer is full."""
        super().pause_writing()
        if self._cut is None:
            self._cut = self.loop.call_later(seconds(self.patience), self.transport.abort)

    def resume_writing(self) -> None:
        """The client has taken enough of it."""
        super().resume_writing()
        self._still_there()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._still_there()
        self._let_be()
        super().connection_lost(exc)

    @property
    def silent_since(self) -> float | None:
        """From when on it has said nothing, or no more than half a head; None while it is answered."""
        return None if self._answering or self._refused else self._since

    def _make_room(self) -> bool:
        """Hang up on whoever has been silent for longest; False where all are being answered."""
        others = [one for one in self.connections if isinstance(one, Patient)]
        silent = [(since, place) for place, one in enumerate(others) if (since := one.silent_since) is not None]
        if not silent:
            return False
        longest = others[min(silent)[1]]
        self.connections.discard(longest)
        longest.transport.abort()
        return True

    def _still_there(self) -> None:
        if self._cut is not None:
            self._cut.cancel()
            self._cut = None

    def _time_head(self) -> None:
        """A timer runs exactly while a head has begun and is not whole, which most heads are at once."""
        if self._refused:
            return
        if not (self._held and self._in_head):
            self._let_be()
        elif self._late is None and not self.transport.is_closing():
            self._late = self.loop.call_later(seconds(self.head_time), self._too_late)

    def _let_be(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _too_late(self) -> None:
        self._late = None
        if self._answering:
            self._time_head()
        elif self._held:
            waited = f"The head of the request was not here after {seconds(self.head_time):g} s."
            self._refuse(RequestTimeout(waited, remedy="Send it at once."))
        else:
            self.transport.close()

    @property
    def _answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _refuse(self, error: MainspringError) -> None:
        """Say why, take nothing more, and hang up; in the midst of another answer only hang up."""
        self._refused = True
        self._let_be()
        if self._answering:
            self.transport.close()
            return
        answer = problem(error)
        body = msgspec.json.encode(answer.value)
        headers = dict(answer.headers) | {
            "content-length": str(len(body)),
            "cache-control": "no-store",
            "x-content-type-options": "nosniff",
            "connection": "close",
        }
        lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
        self._late = self.loop.call_later(seconds(_LINGER), self.transport.close)
