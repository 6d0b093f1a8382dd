"""A connection of the server: uvicorn's, with an end to its patience for a client that takes nothing it is sent."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mainspring.clock import SECOND, Duration, seconds

PATIENCE = Duration(30 * SECOND)
"""So long a full buffer may stand still before its client is cut off; it comes back and goes on where it was."""


class Patient(HttpToolsProtocol):
    """One connection. What a slow client has not taken yet is at most one buffer and one piece of its answer."""

    patience = PATIENCE
    _cut: asyncio.TimerHandle | None = None

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
        super().connection_lost(exc)

    def _still_there(self) -> None:
        if self._cut is not None:
            self._cut.cancel()
            self._cut = None
