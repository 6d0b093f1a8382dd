"""The outlet: logs, reports and ends of attempts on their way to the coordinator, in order and within the credit.

An attempt's ``ended`` leaves behind its last line. User code on any thread may write; all sending is the loop's.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from msgspec import Raw

from mainspring.clock import Clock
from mainspring.domain.frame import LOG_CREDIT, Ended, Log, Progress
from mainspring.runner.link import Link
from mainspring.runner.output import PIECE, JobLog
from mainspring.runner.running import Running

FLUSH_EVERY = 0.1
"""Seconds between two flushes of logs, unless a frame's worth has gathered."""
REPORT_EVERY = 0.2


class Outlet:
    """One per runner."""

    def __init__(self, link: Link, clock: Clock) -> None:
        self._link = link
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._credit = LOG_CREDIT
        self._dirty: dict[Running, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._flushed = 0.0

    @property
    def idle(self) -> bool:
        """Whether no log waits."""
        return not self._dirty

    # --- in any thread ----------------------------------------------------------------------------------------

    def open_log(self, running: Running) -> JobLog:
        with self._lock:
            if running.log is None:
                running.log = JobLog(running.start.log_room, self._clock, lambda: self._on_loop(self._note, running))
            return running.log

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

    def _note(self, running: Running) -> None:
        """Its log has news: send at once if the last flush is long ago, so that a job that dies has said its last."""
        if running.ended is not None:
            return  # news from a thread that outran its own end
        self._dirty[running] = None
        if self._loop.time() - self._flushed >= FLUSH_EVERY or (running.log and running.log.waiting >= PIECE):
            self._flush()
            self._link.flush()
        elif self._timer is None:
            self._timer = self._loop.call_at(self._flushed + FLUSH_EVERY, self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._flushed = self._loop.time()
        for running in list(self._dirty):
            self._serve(running)
        if self._dirty and self._credit > 0:  # unfinished lines, which wait a little for their rest
            self._timer = self._loop.call_at(self._flushed + FLUSH_EVERY, self._flush)

    def _serve(self, running: Running) -> None:
        """Send of one log what the credit allows, and its end behind it."""
        log = running.log
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
        self._loop.call_later(REPORT_EVERY, self._tell_again, running, told)

    def _tell_again(self, running: Running, told: bytes) -> None:
        if running.ended is None and running.details is not told:
            self._tell(running)
        else:
            running.telling = False
