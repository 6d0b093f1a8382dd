"""Answers that go on while there is something to tell: server-sent events, found by short looks in the pool's threads.

A look never waits, so that many listeners need no thread of their own; one whose answer is in memory
needs none at all. An error ends the stream with its problem
document.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

import msgspec
from starlette.types import Receive, Send

from mainspring.clock import MILLISECOND, SECOND, Duration, seconds
from mainspring.errors import MainspringError
from mainspring.server.exchange import Look, Piece, Stream
from mainspring.server.problems import problem

HEADERS = {"content-type": "text/event-stream", "x-accel-buffering": "no"}
"""Of every stream; the second keeps proxies from collecting it."""

_PAUSE = Duration(150 * MILLISECOND)
"""Between two looks that found nothing more."""

_SILENCE = Duration(15 * SECOND)
"""After so long without news a comment is sent, so that a connection that is gone is noticed at both ends."""

_STILL = b": still here\n\n"


def event(name: str, value: object, cursor: int | None = None) -> bytes:
    """One server-sent event; ``cursor``: what a browser sends as ``Last-Event-ID`` when it comes back."""
    lines = [] if cursor is None else [f"id: {cursor}"]
    return "\n".join([*lines, f"event: {name}", f"data: {msgspec.json.encode(value).decode()}", "", ""]).encode()


def place(cursor: int) -> bytes:
    """How far a stream is, where there is nothing to tell: a browser that comes back goes on from there."""
    return f"id: {cursor}\n\n".encode()


async def carry(  # noqa: PLR0913 - both directions of a connection, and what it is about
    stream: Stream,
    call: Callable[[Look], Awaitable[Piece]],
    headers: Mapping[str, str],
    *,
    receive: Receive,
    send: Send,
    ending: asyncio.Event,
) -> None:
    """Send what each look finds until one is the last, the listener has gone, or the server ends."""
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 200, "headers": raw})
    over = [asyncio.ensure_future(_gone(receive)), asyncio.ensure_future(ending.wait())]
    silent = Duration(0)
    try:
        while not any(one.done() for one in over):
            piece = await _looked(stream, call)
            silent = Duration(0) if piece.data else Duration(silent + _PAUSE)
            if silent >= _SILENCE:
                piece, silent = piece._replace(data=_STILL), Duration(0)
            if piece.data:
                await send({"type": "http.response.body", "body": piece.data, "more_body": True})
            if piece.last:
                break
            pause = 0.0 if piece.more else seconds(_PAUSE)  # none at all would keep the loop from everybody else
            await asyncio.wait(over, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
        with suppress(OSError):
            await send({"type": "http.response.body", "body": b""})
    finally:
        for one in over:
            one.cancel()


async def _looked(stream: Stream, call: Callable[[Look], Awaitable[Piece]]) -> Piece:
    try:
        return stream.at_hand() or await call(stream.look)
    except MainspringError as error:
        return Piece(event("error", problem(error).value), last=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
