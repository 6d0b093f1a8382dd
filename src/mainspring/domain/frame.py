"""The messages between a coordinator and its runners, as values. docs/architecture/runner-protocol.md explains them.

Each frame is one line of JSON with a ``type``. Control carries what is small and urgent, bulk what may be large.
"""

from __future__ import annotations

import msgspec

from mainspring.domain.attempt import Failure
from mainspring.domain.ids import ClaimId, JobId
from mainspring.domain.logline import LogChunk
from mainspring.domain.states import Outcome
from mainspring.domain.task import Catalog
from mainspring.domain.timetable import MadeBy

PROTOCOL = 1
INLINE_LIMIT = 16_384
"""Parameters up to this many bytes travel inside ``start``; larger ones follow on bulk."""
LOG_CREDIT = 4 * 1_048_576
"""Bytes of logs (the texts in UTF-8) that a runner may send before its first ``credit``."""

NO_DETAILS = msgspec.Raw(b"")
"""Left out on the wire. Only this very object is: a Raw that is merely equal would be written, as nothing at all."""


class Frame(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower, omit_defaults=True):
    """One message."""


# --- runner to coordinator, control -------------------------------------------------------------------------------


class Hello(Frame, frozen=True):
    """First frame of a runner: who it is and which tasks it can run. ``traced``: whether its jobs want their trace."""

    protocol: int
    pid: int
    language: str
    catalog: Catalog
    traced: bool = False


class Unusable(Frame, frozen=True):
    """The app can't be loaded; ``message`` holds the traceback of the user's lines. The runner exits afterwards."""

    message: str


class Pong(Frame, frozen=True):
    """Answer to ``ping``: the runner's loop turns."""

    number: int


class Stuck(Frame, frozen=True):
    """A job in a thread did not heed the cancel within its grace; it can only end with the runner."""

    job: JobId
    claim: ClaimId


class Progress(Frame, frozen=True):
    """What ``ctx.progress`` or ``ctx.details`` said last, as JSON."""

    job: JobId
    claim: ClaimId
    details: msgspec.Raw


# --- runner to coordinator, bulk ----------------------------------------------------------------------------------


class Log(Frame, frozen=True):
    """Output of a job, in order. Costs byte credit."""

    job: JobId
    claim: ClaimId
    chunks: list[LogChunk]


class Ended(Frame, frozen=True):
    """An attempt is over. Travels on bulk behind the job's last ``log``.

    ``unfit``: it did not begin, as its parameters don't fit the task's code.
    """

    job: JobId
    claim: ClaimId
    outcome: Outcome
    result: msgspec.Raw = msgspec.Raw(b"null")
    failure: Failure | None = None
    retry_after: str | float | None = None
    final: bool = False
    unfit: bool = False
    sandbox: str = "S0"
    details: msgspec.Raw = NO_DETAILS


class Request(Frame, frozen=True):
    """An SDK call of a job; answered by ``answer`` with the same number. ``verb`` is a method of Client."""

    number: int
    job: JobId
    claim: ClaimId
    verb: str
    body: msgspec.Raw


# --- coordinator to runner, control -------------------------------------------------------------------------------


class Start(Frame, frozen=True):
    """Run this attempt. ``bulk``: the parameters follow in a ``params`` frame on bulk.

    ``tick``: which tick of a schedule made the job (a MadeBy), null for most; ``trace``: the attempt's place in a trace
    as W3C writes it, for runners that said that they are ``traced``.
    """

    job: JobId
    claim: ClaimId
    attempt: int
    task: str
    params: msgspec.Raw = msgspec.Raw(b"{}")
    bulk: bool = False
    log_room: int = 0
    grace: float = 5.0
    details: msgspec.Raw = msgspec.Raw(b"null")
    tick: MadeBy | None = None
    trace: str = ""


class Cancel(Frame, frozen=True):
    """End this attempt: ask, and after ``grace`` seconds kill where that is possible. The runner answers ``ended``.

    ``outcome``: what the attempt shall be recorded as: cancelled, timed_out or released.
    """

    job: JobId
    claim: ClaimId
    outcome: Outcome
    grace: float


class Credit(Frame, frozen=True):
    """The runner may send this many more bytes of logs."""

    bytes: int


class Ping(Frame, frozen=True):
    """Answer with ``pong``."""

    number: int


class Stop(Frame, frozen=True):
    """No more starts will come: exit when the running jobs have ended."""


# --- coordinator to runner, bulk ----------------------------------------------------------------------------------


class Params(Frame, frozen=True):
    """The parameters of a started attempt."""

    job: JobId
    claim: ClaimId
    params: msgspec.Raw


class Answer(Frame, frozen=True):
    """Reply to ``request``: a body, or the code and message of an error."""

    number: int
    body: msgspec.Raw = msgspec.Raw(b"null")
    code: str = ""
    message: str = ""


FromRunner = Hello | Unusable | Pong | Stuck | Progress | Log | Ended | Request
ToRunner = Start | Cancel | Credit | Ping | Stop | Params | Answer
BULK = (Log, Ended, Request, Params, Answer)
