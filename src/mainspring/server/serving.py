"""Uvicorn as we have it: our connections, and a bounded number of them; it says when it takes requests."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Protocol

import uvicorn
from starlette.types import Receive, Scope, Send

from mainspring.clock import Duration, seconds
from mainspring.server.connection import HEAD_TIME, MOST, Patient
from mainspring.server.listen import Terms

_PATIENCE_AT_END = 2
"""Seconds that requests at hand may still take."""

_LOOK_AROUND = 1
"""Seconds between two looks of uvicorn at its date header; a signal wakes it at once."""

_FILES = 4 * MOST
"""Open files that the server asks the system for."""


class Served(Protocol):
    """What answers requests, some of which go on until they are ended."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""

    def end_streams(self) -> None:
        """End those that go on."""


class Serving(uvicorn.Server):
    """A server at sockets that listen. ``listening`` is told when it takes requests.

    ``most``: connections that may be open at once. ``greeting``: how long TLS may take to come about, of a connection
    that has just been opened; it is not counted before.
    """

    greeting: Duration = HEAD_TIME

    def __init__(self, web: Served, terms: Terms, listening: Callable[[], None], most: int | None = None) -> None:
        class Bounded(Patient):
            """One of so many."""

        Bounded.most = room_for_connections() if most is None else most
        super().__init__(
            uvicorn.Config(
                web,
                http=Bounded,
                loop="uvloop",
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level="error",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=_PATIENCE_AT_END,
                ssl_certfile=terms.tls_cert if terms.encrypted else None,
                ssl_keyfile=terms.tls_key if terms.encrypted else None,
            )
        )
        self._protocol = Bounded
        self._web = web
        self._listening = listening
        self._told = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """What uvicorn does for sockets that it is given; but TLS might take a minute then."""
        self._loop = asyncio.get_running_loop()
        await self.lifespan.startup()
        self.servers = [
            await self._loop.create_server(
                self._connection,
                sock=listener,
                ssl=self.config.ssl,
                ssl_handshake_timeout=None if self.config.ssl is None else seconds(self.greeting),
                backlog=self.config.backlog,
            )
            for listener in sockets or ()
        ]
        self.started = True
        self._listening()

    def _connection(self) -> Patient:
        return self._protocol(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    async def main_loop(self) -> None:
        """Until it is told to end."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_AROUND):
                    await self._told.wait()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal: it is to end."""
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._told.set)
            self._loop.call_soon_threadsafe(self._web.end_streams)


def room_for_connections() -> int:
    """How many connections leave the store half of the files that this process may open, which are made more first."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < _FILES:
        wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
        with suppress(OSError, ValueError):  # then with those that there are
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST if soft == resource.RLIM_INFINITY else max(1, min(MOST, soft // 2))
