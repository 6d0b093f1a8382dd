"""The outlet: logs, reports and ends of attempts on their way to the coordinator, in order and within the credit.

An attempt's ``ended`` leaves behind its last line. User code on any thread may write; all sending is the loop's.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from msgspec import Raw

from mainspring.clock import MILLISECOND, Clock, Duration, seconds
from mainspring.domain.frame import LOG_CREDIT, Ended, Log, Progress
from mainspring.domain.secrecy import Mask
from mainspring.runner.link import Link
from mainspring.runner.output import PIECE, JobLog
from mainspring.runner.running import Running

_FLUSH_EVERY = Duration(100 * MILLISECOND)
"""Between two flushes of a log, unless a frame's worth has gathered."""
_REPORT_EVERY = Duration(200 * MILLISECOND)
_YIELD = 0.005
"""Seconds that a thread lets the loop go first."""


class Outlet:
    """One per runner. ``mask``: what hides the secrets of an attempt."""

    def __init__(self, link: Link, clock: Clock, mask: Callable[[Running], Mask]) -> None:
        self._link = link
        self._clock = clock
        self._mask = mask
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._credit = LOG_CREDIT
        self._dirty: dict[Running, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    @property
    def idle(self) -> bool:
        """Whether no log waits."""
        return not self._dirty

    # --- in any thread ----------------------------------------------------------------------------------------

    def open_log(self, running: Running) -> JobLog:
        with self._lock:
            if running.log is None:
                room, mask = running.start.log_room, self._mask(running)
                running.log = JobLog(room, self._clock, lambda: self._heard(running), mask)
            return running.log

    def _heard(self, running: Running) -> None:
        """Its log has news. A job's line is sent at once if its last flush is long ago, as it may be its last.

        A thread that goes on to hold the interpreter lock would keep the loop from ever sending it, so it lets the loop
        go first, for a moment.
        """
        soon = self._clock.monotonic() - running.flushed >= _FLUSH_EVERY
        if threading.get_ident() == self._thread:
            self._note(running, soon=soon)
        elif soon:
            sent = threading.Event()
            self._loop.call_soon_threadsafe(self._note_and_tell, running, sent)
            sent.wait(_YIELD)
        else:
            self._loop.call_soon_threadsafe(self._note, running)

    def report(self, running: Running, details: bytes) -> None:
        running.details = details
        if not running.telling:
            running.telling = True
            self._on_loop(self._tell, running)

    def _on_loop(self, function: Callable[..., None], *arguments: Any) -> None:
        if threading.get_ident() == self._thread:
            function(*arguments)
        else:
            self._loop.call_soon_threadsafe(function, *arguments)

    # --- on the loop ------------------------------------------------------------------------------------------

    def credit(self, amount: int) -> None:
        """The coordinator has room for this many more bytes."""
        self._credit += amount
        self._flush()

    def finish(self, running: Running, ended: Ended) -> None:
        """Send how it ended, behind all its output."""
        running.ended = ended
        if running.log is None:
            self._link.send(ended)
            return
        running.log.close()
        self._dirty[running] = None
        self._serve(running)

    def _note_and_tell(self, running: Running, sent: threading.Event) -> None:
        self._note(running, soon=True)
        sent.set()

    def _note(self, running: Running, *, soon: bool = False) -> None:
        """Send its news now, or with the next flush."""
        if running.ended is not None:
            return  # news from a thread that outran its own end
        self._dirty[running] = None
        ready = running.log.waiting if running.log else 0
        if ready >= PIECE or (soon and ready):
            self._serve(running)
            self._link.flush()
        if self._dirty and self._timer is None:
            self._timer = self._loop.call_later(seconds(_FLUSH_EVERY), self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for running in list(self._dirty):
            self._serve(running)
        if self._dirty and self._credit > 0:  # unfinished lines, which wait a little for their rest
            self._timer = self._loop.call_later(seconds(_FLUSH_EVERY), self._flush)

    def _serve(self, running: Running) -> None:
        """Send of one log what the credit allows, and its end behind it."""
        log = running.log
        running.flushed = self._clock.monotonic()
        while log is not None and self._credit > 0:
            chunks = log.take()
            if not chunks:
                break
            self._credit -= sum(len(chunk.text.encode()) for chunk in chunks)
            self._link.send(Log(running.job, running.claim, chunks))
        if log is not None and log.unsettled:
            return
        del self._dirty[running]
        if running.ended is not None:
            self._link.send(running.ended)

    def _tell(self, running: Running) -> None:
        """Pass on the newest report, then wait a little before the next."""
        told = running.details
        self._link.urgent(Progress(running.job, running.claim, Raw(told)))
        self._loop.call_later(seconds(_REPORT_EVERY), self._tell_again, running, told)

    def _tell_again(self, running: Running, told: bytes) -> None:
        if running.ended is None and running.details is not told:
            self._tell(running)
        else:
            running.telling = False
