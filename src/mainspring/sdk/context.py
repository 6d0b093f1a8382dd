"""Context: what a running job knows of itself and may say while it runs.

The runner makes one per attempt and enters it with ``running``; user code gets it as the parameter annotated
``Context``, or from ``current()``. It speaks to the runner through one callback and knows no store, pipe or process.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import msgspec

from mainspring.clock import SECOND, Duration, SystemClock, duration, seconds
from mainspring.domain.parameters import checked_json
from mainspring.errors import InvalidOption
from mainspring.sdk import tracing
from mainspring.sdk.codec import encode_other

if TYPE_CHECKING:
    from logging import Logger  # costs 10 ms that a submitting program need not pay

    from mainspring.domain.timetable import MadeBy
    from mainspring.sdk.tick import ScheduledTick

DETAILS_LIMIT = 65_536
"""Bytes of progress and heartbeat details per job."""

_SLICE = Duration(SECOND // 5)
_clock = SystemClock()


class Context:
    """The running attempt, as its code sees it.

    ``job_id``: the job's id (0 when the function was called outside any job); ``attempt``: its number, from 1;
    ``task``: the task's full name; ``traceparent``: the trace and span of this attempt as W3C writes it, for calls of
    other services, empty where the app has not imported OpenTelemetry. Safe to use from several threads.
    """

    def __init__(  # noqa: PLR0913 - the facts of an attempt
        self,
        *,
        job_id: int = 0,
        attempt: int = 0,
        task: str = "",
        earlier: bytes = b"null",
        report: Callable[[bytes], None] | None = None,
        made_by: MadeBy | None = None,
        traceparent: str = "",
    ) -> None:
        """For runners. ``earlier``: what the attempt before last reported; ``report`` takes each new report.

        ``made_by``: the tick of a schedule that the job was made by; ``traceparent``: see there.

        A report replaces the one before it. ``report`` is called on the thread of the user code, as often as that
        code likes, so it must be quick, and may drop all but the last.
        """
        self.job_id = job_id
        self.attempt = attempt
        self.task = task
        self.traceparent = traceparent
        self._report = report
        self._made_by = made_by
        self._said: dict[str, Any] = {}
        self._cancelled = False
        self._asked: threading.Condition | None = None  # made by the first who waits: most never do
        if earlier not in (b"null", b""):
            before = msgspec.json.decode(earlier)
            if isinstance(before, dict) and "details" in before:
                self._said["details"] = before["details"]

    @property
    def detached(self) -> bool:
        """Whether this is a plain call of the function, outside any job."""
        return self.job_id == 0

    @property
    def tick(self) -> ScheduledTick | None:
        """The tick of the schedule that made this job; None for a job that somebody submitted."""
        if self._made_by is None:
            return None
        from mainspring.sdk.tick import ScheduledTick  # zones are for those who ask

        return ScheduledTick(self._made_by)

    @property
    def log(self) -> Logger:
        """A standard logger with the task's name; what it says becomes log lines of the job."""
        import logging

        return logging.getLogger(self.task or "mainspring.task")

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        """Say how far the job is: ``done`` of ``total`` in any unit, and in a few words what it does.

        Shown with the job while it runs and in the attempt afterwards. Raises InvalidOption for what is no number.
        """
        for name, value in (("done", done), ("total", total)):
            fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            if not fits and not (name == "total" and value is None):
                raise InvalidOption(f"progress {name} is {value!r}; it must be a number.", field=name)
        news = {"done": done, "total": total, "note": note or None}
        kept = {key: value for key, value in self._said.items() if key not in news}
        self._say(kept | {key: value for key, value in news.items() if value is not None})

    def heartbeat(self, details: Any = None) -> None:
        """Keep ``details`` (any JSON, at most 64 KiB) for the next attempt of this job, should this one go wrong.

        Raises InvalidJson, InvalidText or PayloadTooLarge.
        """
        self._say(self._said | {"details": details})

    @property
    def details(self) -> Any:
        """What ``heartbeat`` said last: in this attempt, or else in the attempt before it. None at first."""
        return self._said.get("details")

    @property
    def cancelled(self) -> bool:
        """Whether this attempt was asked to stop: cancelled, timed out or released by a draining worker.

        Async code gets CancelledError instead. Code in a thread or process should look now and then and return.
        """
        return self._cancelled

    def wait(self, length: str | float) -> bool:
        """Block for this long (``"10s"``, or seconds), or until the attempt is asked to stop. True if it was.

        For plain functions, instead of sleeping: async code awaits.
        """
        until = _clock.monotonic() + duration(length)
        # A reentrant lock, as a signal handler may ask to stop while this very thread waits.
        asked = self._asked = self._asked or threading.Condition()
        with asked:
            while not self._cancelled and (left := until - _clock.monotonic()) > 0:
                # In slices, as a signal that comes between the check and the wait rings nobody.
                asked.wait(seconds(Duration(min(left, _SLICE))))
        return self._cancelled

    def ask_to_stop(self) -> None:
        """For runners: from now on ``cancelled`` is true. Safe in a signal handler."""
        self._cancelled = True
        asked = self._asked
        if asked is not None:
            with asked:
                asked.notify_all()

    def _say(self, document: dict[str, Any]) -> None:
        data = checked_json(document, "details", limit=DETAILS_LIMIT, enc_hook=encode_other)
        self._said = document
        if self._report is not None:
            self._report(data)


_DETACHED = Context()
_running: ContextVar[Context] = ContextVar("mainspring.context", default=_DETACHED)


def current() -> Context:
    """The context of the running job; outside any job a detached one that reports to nobody.

    It follows async tasks and ``asyncio.to_thread``; a thread started by hand must be handed the Context.
    """
    return _running.get()


def enter(context: Context) -> None:
    """For runners: make it the current one until the asyncio task, or the call under a copied context, is over."""
    _running.set(context)
    if context.traceparent and tracing.is_used():
        tracing.enter(context.traceparent)


@contextmanager
def running(context: Context) -> Iterator[None]:
    """For runners: make it the current one while user code runs."""
    token = _running.set(context)
    try:
        yield
    finally:
        _running.reset(token)
