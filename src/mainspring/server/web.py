"""The web application: admit, read the body, call the handler in a thread, write the answer.

The only asynchronous part of the server, and the only middleware: every request passes ``Web.__call__``, and no handler
decides about access, sizes or times. It knows neither jobs nor the store.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive, Scope, Send

from mainspring.chance import Chance
from mainspring.clock import SECOND, Duration, SystemClock, seconds
from mainspring.domain.access import ANYBODY, Asker
from mainspring.errors import AnswerTimeout, InvalidInput, InvalidText, MainspringError, TooBusy, near
from mainspring.request import current, within
from mainspring.server import fresh, request_id
from mainspring.server.admission import Admission
from mainspring.server.body import Body, Gone
from mainspring.server.exchange import TAKES_BODY, Access, Answer, Asked, Entry, Look, Piece, Stream
from mainspring.server.pace import Pace
from mainspring.server.problems import fault, problem
from mainspring.server.security import BODY_LIMIT, Admitted, Gate, Header, has_body
from mainspring.server.stream import HEADERS, carry

_SAFE = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "no-referrer",
}
"""Headers of every answer, unless it has its own."""

_ENCRYPTED = {"strict-transport-security": "max-age=31536000"}
"""And of every answer that goes by TLS: a browser that has seen it asks in no other way."""

_LOG = logging.getLogger("mainspring.server")


class Limits(NamedTuple):
    """What the server takes on at once, and how long it takes.

    ``waiting``: requests at hand; ``streams``: answers that go on; ``bytes_held``: bytes of their bodies;
    ``threads``: requests that are worked on, each with a reading connection of the store; ``linger``: how long an
    unwanted body is dropped before hanging up.
    """

    body_time: Duration = Duration(15 * SECOND)
    answer_time: Duration = Duration(30 * SECOND)
    linger: Duration = SECOND
    waiting: int = 500
    streams: int = 100
    bytes_held: int = 32 * 1_048_576
    threads: int = 8
    probe_threads: int = 4


class Written(NamedTuple):
    """An answer as bytes."""

    status: int
    headers: Mapping[str, str]
    data: bytes
    stream: Stream | None = None


class Web:
    """An ASGI application over a table of routes. ``close`` lets go of its threads.

    ``admission``: says who is there; None for a server that does not ask. ``encrypted``: whether it speaks TLS;
    ``pace``: how many requests one asker may make; None: as many as they like.
    """

    def __init__(  # noqa: PLR0913 - all that it serves, and how
        self,
        entries: Sequence[Entry],
        port: int,
        chance: Chance,
        limits: Limits | None = None,
        admission: Admission | None = None,
        *,
        encrypted: bool = False,
        pace: Pace | None = None,
    ) -> None:
        self._gate = Gate(entries, port, asks=admission is not None)
        self._admission = admission
        self._safe = _SAFE | (_ENCRYPTED if encrypted else {})
        self._pace = pace or Pace(SystemClock())
        self._chance = chance
        self._limits = limits or Limits()
        self._pool = ThreadPoolExecutor(self._limits.threads, "mainspring-request")
        self._probes = ThreadPoolExecutor(self._limits.probe_threads, "mainspring-probe")
        self._waiting = 0
        self._streaming = 0
        self._ending = asyncio.Event()
        self._bytes_held = 0

    def end_streams(self) -> None:
        """Answers that go on are ended; on the loop's thread."""
        self._ending.set()

    def close(self) -> None:
        """Start nothing more; what runs goes on to its end."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._probes.shutdown(wait=False, cancel_futures=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        request = request_id.begin(headers, self._chance)
        body = Body(receive, BODY_LIMIT, announced=has_body(headers))
        try:
            written = await self._answer(scope, headers, body)
        except Gone:
            return
        except MainspringError as error:
            written = _written(problem(error))
        except Exception:  # noqa: BLE001 - one bad request never ends the server
            _LOG.exception("%s %s failed (%s)", scope["method"], scope["path"], request)
            written = _written(fault(request))
        if written.stream is None:
            await self._send(written, body, send)
        else:
            await self._stream(written.stream, receive, send)

    async def _stream(self, stream: Stream, receive: Receive, send: Send) -> None:
        if self._streaming >= self._limits.streams:
            refused = TooBusy(f"{self._streaming} answers go on already.", remedy="Try again in a second.")
            await self._send(_written(problem(refused)), Body(receive, 0, announced=False), send)
            return
        self._streaming += 1
        try:
            await carry(
                stream,
                self._looked,
                self._safe | HEADERS | {request_id.HEADER: current()},
                receive=receive,
                send=send,
                ending=self._ending,
            )
        finally:
            self._streaming -= 1

    async def _looked(self, look: Look) -> Piece:
        return await asyncio.get_running_loop().run_in_executor(self._pool, within(look))

    async def _answer(self, scope: Scope, headers: list[Header], body: Body) -> Written:
        admitted = self._gate.admit(scope["method"], scope["path"], headers)
        query = _query(scope["query_string"], admitted.entry)
        if self._waiting >= self._limits.waiting and admitted.entry.access is not Access.PROBE:
            raise TooBusy(f"{self._waiting} requests wait already.", remedy="Try again in a second.")
        held = _Held(self)
        self._waiting += 1
        try:
            address = (scope.get("client") or ("",))[0]
            asker = await self._who(admitted, headers, address)
            if admitted.entry.access is not Access.PROBE:
                self._pace.take(asker.name if asker is not ANYBODY else address)
            takes = admitted.entry.access in TAKES_BODY
            data = await body.read(self._limits.body_time, held.add) if takes else b""
            asked = Asked(admitted.path, query, dict(headers), data, asker, address)
            written = await self._call(admitted.entry, asked)
            if written.stream is not None and self._admission is not None:
                kept = self._admission.while_let_in(written.stream, admitted, headers, asker)
                written = written._replace(stream=kept)
            return written
        finally:
            self._waiting -= 1
            held.release()

    async def _who(self, admitted: Admitted, headers: list[Header], address: str) -> Asker:
        """Who asks, once it is known that they may.

        Raises Unauthenticated, ProofMissing, RoleTooLow, OutOfReach, TooManyFailures.
        """
        if self._admission is None or admitted.entry.needs is None:
            return ANYBODY
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, within(self._admission.let_in), admitted, headers, address)

    def hold(self, size: int) -> None:
        """Count bytes of bodies in memory, or take them off. Raises TooBusy above the limit."""
        self._bytes_held += size
        if size > 0 and self._bytes_held > self._limits.bytes_held:
            raise TooBusy("The requests at hand fill the memory set aside for them.", remedy="Try again in a second.")

    async def _call(self, entry: Entry, asked: Asked) -> Written:
        pool = self._probes if entry.access is Access.PROBE else self._pool
        call = asyncio.get_running_loop().run_in_executor(pool, within(_told), entry, asked)
        done, _ = await asyncio.wait({call}, timeout=seconds(self._limits.answer_time))
        if not done:
            call.add_done_callback(_forget)
            raise AnswerTimeout(
                f"There was no answer within {seconds(self._limits.answer_time):g} s.",
                remedy="A change may have been made or may still be made: look before you ask again.",
            )
        return call.result()

    async def _send(self, written: Written, body: Body, send: Send) -> None:
        data = written.data
        headers = self._safe | {request_id.HEADER: current()} | dict(written.headers)
        if written.status == HTTPStatus.NOT_MODIFIED:
            del headers["content-type"]
        else:
            headers["content-length"] = str(len(data))
        unread = body.unread
        if unread:
            headers["connection"] = "close"
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": written.status, "headers": raw})
        if unread:
            # To hang up at once would reset the connection, and the sender might never see why.
            await send({"type": "http.response.body", "body": data, "more_body": True})
            await body.discard(self._limits.linger)
            data = b""
        await send({"type": "http.response.body", "body": data})


class _Held:
    """What one request has put into memory."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._size = 0

    def add(self, size: int) -> None:
        self._size += size
        self._web.hold(size)

    def release(self) -> None:
        self._web.hold(-self._size)


def _query(text: bytes, entry: Entry) -> dict[str, str]:
    """The query, in which only what the route knows may stand, and once."""
    try:
        pairs = parse_qsl(text.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
    except UnicodeDecodeError as error:
        raise InvalidText("The query is not UTF-8.", field="query") from error
    except ValueError as error:
        raise InvalidInput("The query has more than 100 parts.", field="query") from error
    query: dict[str, str] = {}
    for name, value in pairs:
        if name not in entry.query:
            hint = near(name, entry.query) or (f"It may have: {', '.join(entry.query)}." if entry.query else "")
            shown = name[:80]
            raise InvalidInput(f"{entry.path} has no query parameter {shown!r}.", remedy=hint, field=shown)
        if name in query:
            raise InvalidInput(f"The query has {name!r} twice.", remedy="Give it once.", field=name)
        if "\0" in value:
            raise InvalidText(f"The query parameter {name} holds a NUL character.", field=name)
        if not value:
            raise InvalidInput(f"The query parameter {name} is empty.", remedy="Leave it out.", field=name)
        query[name] = value
    return query


def _written(answer: Answer) -> Written:
    value = answer.value
    if isinstance(value, Stream):
        return Written(answer.status, answer.headers, b"", value)
    return Written(answer.status, answer.headers, value if isinstance(value, bytes) else msgspec.json.encode(value))


def _told(entry: Entry, asked: Asked) -> Written:
    """What the handler answers; of a list that the asker has already, no more than that."""
    written = _written(entry.handler(asked))
    if written.status != HTTPStatus.OK or written.stream is not None or not fresh.is_list(entry):
        return written
    tag = fresh.tag(written.data)
    headers = {**written.headers, **fresh.HEADERS, "etag": tag}
    if fresh.has(asked.headers.get("if-none-match"), tag):
        return Written(HTTPStatus.NOT_MODIFIED, headers, b"")
    return written._replace(headers=headers)


def _forget(call: asyncio.Future[Written]) -> None:
    """Nobody waits any more; an error must still be taken, or asyncio complains of it."""
    if not call.cancelled():
        call.exception()
