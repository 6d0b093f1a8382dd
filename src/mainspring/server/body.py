"""The body of one request as it arrives: counted while it comes, or dropped. Nothing is parsed here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from starlette.types import Receive

from mainspring.clock import Duration, seconds
from mainspring.errors import PayloadTooLarge, RequestTimeout


class Gone(Exception):
    """The client hung up; there is nobody to answer."""


class Body:
    """Reads at most ``limit`` bytes. ``announced``: whether the headers said that there is a body."""

    def __init__(self, receive: Receive, limit: int, *, announced: bool) -> None:
        self._receive = receive
        self._limit = limit
        self._more = announced

    @property
    def unread(self) -> bool:
        """Whether something may still be on its way."""
        return self._more

    async def read(self, time: Duration, count: Callable[[int], None]) -> bytes:
        """All of it. ``count`` is told of every piece, and may raise.

        Raises PayloadTooLarge, RequestTimeout after ``time``, and Gone.
        """
        body = bytearray()
        try:
            async with asyncio.timeout(seconds(time)):
                while self._more:
                    piece = await self._next()
                    count(len(piece))
                    body += piece
                    if len(body) > self._limit:
                        raise PayloadTooLarge("body", len(body), self._limit)
        except TimeoutError as error:
            raise RequestTimeout(
                f"The body was not here after {seconds(time):g} s; {len(body)} bytes came.",
                remedy="Send it faster, or less of it.",
            ) from error
        return bytes(body)

    async def discard(self, time: Duration) -> None:
        """Take what is still being sent for a while, up to the limit, and drop it."""
        dropped = 0
        with suppress(TimeoutError, Gone):
            async with asyncio.timeout(seconds(time)):
                while self._more and dropped <= self._limit:
                    dropped += len(await self._next())

    async def _next(self) -> bytes:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._more = False
            raise Gone
        self._more = message.get("more_body", False)
        piece: bytes = message.get("body", b"")
        return piece
