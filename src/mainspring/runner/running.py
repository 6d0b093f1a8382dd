"""Running: one attempt while it is in this runner, and the way from user code to it (a context variable)."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from mainspring.clock import HOUR
from mainspring.domain.frame import Ended, Start
from mainspring.domain.secrecy import Mask
from mainspring.domain.states import Outcome
from mainspring.runner.output import JobLog

if TYPE_CHECKING:
    from mainspring.sdk.context import Context
    from mainspring.sdk.task import RegisteredTask

    Registered = RegisteredTask[..., Any, Any]


class Desk(Protocol):
    """Where an attempt's output and reports go."""

    def open_log(self, running: Running) -> JobLog:
        """A log for its output."""
        ...

    def report(self, running: Running, details: bytes) -> None:
        """Its newest progress and details. Safe in any thread."""
        ...


class Running:
    """One attempt that was started and has not been reported as ended.

    ``asked``: the outcome it was asked to end with; ``began``: its code has begun; ``handle``: what its executor
    needs to end it; ``ended``: how it ended, while its log may still wait for credit; ``details``: the newest report;
    ``flushed``: when its log was last sent (monotonic); ``params``: its parameters as JSON; ``mask``: what hides the
    secrets in what it says, None before it says something.
    """

    __slots__ = (
        "asked",
        "began",
        "claim",
        "context",
        "desk",
        "details",
        "ended",
        "flushed",
        "handle",
        "job",
        "log",
        "mask",
        "params",
        "start",
        "task",
        "telling",
    )

    def __init__(self, start: Start, task: Registered, desk: Desk) -> None:
        self.start = start
        self.job, self.claim = start.job, start.claim
        self.task = task
        self.desk = desk
        self.log: JobLog | None = None
        self.asked: Outcome | None = None
        self.began = False
        self.handle: Any = None
        self.ended: Ended | None = None
        self.details = b""
        self.telling = False
        self.flushed = -HOUR
        self.params = b""
        self.mask: Mask | None = None
        self.context: Context | None = None

    def write(self, stream: str, text: str, level: str = "") -> None:
        """Add to its log. Safe in any thread."""
        log = self.log
        if log is None:
            log = self.desk.open_log(self)
        log.write(stream, text, level)

    def report(self, details: bytes) -> None:
        """What its Context calls with each report."""
        self.desk.report(self, details)


here: ContextVar[Running | None] = ContextVar("mainspring.running", default=None)
"""The attempt whose code runs; None outside any job."""
