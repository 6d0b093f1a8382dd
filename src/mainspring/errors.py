"""The error tree. Each error says what was wrong, with which value, where, and what would be right.

MainspringError
├─ InvalidInput            422  exit 4   the request itself is wrong; nothing was changed
│  ├─ UnknownTask  InvalidParameters  InvalidOption  InvalidDuration  InvalidInstant
│  ├─ InvalidText  InvalidJson  InvalidSetting  InvalidTask  InvalidCursor  NotYetSupported
│  ├─ IdempotencyKeyReused  PayloadTooLarge 413
│  └─ MalformedJson 400  MethodNotAllowed 405  RequestTimeout 408  UnsupportedMediaType 415: REST only
├─ WrongUse                     exit 2   the command line itself is wrong; CLI only
├─ NotFound                404  exit 3   UnknownJob  UnknownWorker  UnknownQueue
├─ Conflict                409  exit 4   IllegalState  ReplayLive  KeyHeld  AlreadyUp  BackupRefused  MoveRefused
├─ Forbidden               403  exit 4   ForeignOrigin  AddressRefused
├─ TooBusy                 429  exit 5   back-pressure: nothing was changed
├─ AnswerTimeout           504  exit 5   REST only: not known whether the change was made
├─ AddressUnavailable      503  exit 5   the server can't listen there
├─ StoreError              503  exit 5   StoreUnreachable  StoreReadOnly  StoreCorrupt  StoreBusy  StoreMoved
│                                        OutcomeUnknown 504: not known whether the change was made
│                                        NoDatabase  SchemaTooNew  SchemaTooOld  EngineTooOld  NetworkFilesystem
├─ OutputFailed                 exit 74  an answer could not be written where it was wanted; CLI only
├─ AppNotLoadable          422  exit 4   the user's module could not be imported; carries its traceback
├─ ProtocolViolation       500  exit 1   a runner said what the protocol does not allow
├─ JobNotSucceeded         409  exit 1   JobDead  JobCancelled: what ``job.result()`` raises
└─ WaitTimeout             504  exit 1   the job is not done yet; it goes on
``code`` is stable; docs/reference/errors.md lists every one
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class MainspringError(Exception):
    """Base of every error of this package.

    ``code``: stable name; ``http_status`` and ``exit_status``: what REST and the CLI answer; ``remedy``: what to do,
    or an empty text; ``field``: the part of the request that was wrong, or an empty text.
    """

    code = "mainspring_error"
    http_status = 500
    exit_status = 1

    def __init__(self, message: str, *, remedy: str = "", field: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.field = field

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


def near(name: str, among: Iterable[str]) -> str:
    """A sentence that names the closest known names, or an empty text."""
    close = difflib.get_close_matches(name, list(among), n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(close)}?" if close else ""


class InvalidInput(MainspringError):
    """The request is wrong in itself; nothing was changed."""

    code = "invalid_input"
    http_status = 422
    exit_status = 4


class UnknownTask(InvalidInput):
    """A submit named a task that no app has ever reported."""

    code = "unknown_task"

    def __init__(self, name: str, known: Iterable[str] = (), *, ambiguous: Iterable[str] = ()) -> None:
        known, several = sorted(known), sorted(ambiguous)
        if several:
            message, remedy = f"Task {name!r} is not unique.", f"Use its full name: {' or '.join(several)}."
        else:
            short = {task.rpartition(".")[2] for task in known}
            listed = f"Known tasks: {', '.join(known[:10])}." if known else "No app has reported its tasks yet."
            message = f"Unknown task {name!r}."
            remedy = near(name, {*known, *short}) or f"{listed} Workers report theirs: mainspring up --app app.py"
        super().__init__(message, remedy=remedy, field="task")
        self.name = name


class InvalidParameters(InvalidInput):
    """The parameters don't fit the task's schema. ``field`` names the first that is wrong."""

    code = "invalid_parameters"


class InvalidOption(InvalidInput):
    """An option of a submit or of a task has a value that it can't have."""

    code = "invalid_option"


class NotYetSupported(InvalidInput):
    """A documented option that this version does not have yet: refused, never ignored."""

    code = "not_yet_supported"

    def __init__(self, option: str) -> None:
        super().__init__(
            f"{option} is not supported by this version of mainspring.",
            remedy="Leave it out; it is refused so that it is never silently ignored.",
            field=option,
        )


class InvalidDuration(InvalidInput):
    """A text that is not a duration."""

    code = "invalid_duration"

    def __init__(self, value: object, *, field: str = "") -> None:
        super().__init__(
            f"{value!r} is not a duration.",
            remedy="Write 250ms, 30s, 10m, 2h or 1d (not negative, at most 100 years).",
            field=field,
        )


class InvalidInstant(InvalidInput):
    """A text that is not a point in time."""

    code = "invalid_instant"

    def __init__(self, value: object, *, field: str = "") -> None:
        super().__init__(
            f"{value!r} is not a time with a zone.",
            remedy="Write ISO 8601 with an offset, for instance 2026-11-29T03:00:00Z.",
            field=field,
        )


class InvalidText(InvalidInput):
    """A text holds a character that can't be stored: NUL or half of a surrogate pair."""

    code = "invalid_text"


class InvalidJson(InvalidInput):
    """A body or value that is not JSON as we take it (NaN, infinite, too deep, doubled keys)."""

    code = "invalid_json"


class InvalidSetting(InvalidInput):
    """A setting has a value that it can't have; says from which layer it came."""

    code = "invalid_setting"


class InvalidTask(InvalidInput):
    """A task can't be declared as written."""

    code = "invalid_task"


class InvalidCursor(InvalidInput):
    """A cursor that this list did not hand out."""

    code = "invalid_cursor"


class PayloadTooLarge(InvalidInput):
    """Parameters, a result or a body above the limit."""

    code = "payload_too_large"
    http_status = 413

    def __init__(self, what: str, size: int, limit: int) -> None:
        super().__init__(
            f"{what} is {size:,} bytes; the limit is {limit:,} bytes.",
            remedy="Put the data in a file or an object store and pass its address.",
            field=what,
        )


class IdempotencyKeyReused(InvalidInput):
    """The key came with another submit before, so one of the two is a mistake."""

    code = "idempotency_key_reused"


class MalformedJson(InvalidJson):
    """A body that can't be read as JSON at all."""

    code = "malformed_json"
    http_status = 400


class MethodNotAllowed(InvalidInput):
    """The address exists and does not take this method. ``allowed`` are those that it takes."""

    code = "method_not_allowed"
    http_status = 405

    def __init__(self, method: str, path: str, allowed: Iterable[str]) -> None:
        self.allowed = sorted(allowed)
        super().__init__(f"{path} does not take {method}.", remedy=f"It takes {', '.join(self.allowed)}.")


class RequestTimeout(InvalidInput):
    """The body did not arrive in time; nothing was changed."""

    code = "request_timeout"
    http_status = 408


class UnsupportedMediaType(InvalidInput):
    """The body is not declared as JSON."""

    code = "unsupported_media_type"
    http_status = 415


class WrongUse(MainspringError):
    """The command line itself is wrong: an unknown command or option, or one without its value. CLI only."""

    code = "wrong_use"
    http_status = 400
    exit_status = 2


class NotFound(MainspringError):
    """The thing named in the path or argument does not exist."""

    code = "not_found"
    http_status = 404
    exit_status = 3


class UnknownJob(NotFound):
    """No job has this id."""

    code = "unknown_job"

    def __init__(self, job: object) -> None:
        super().__init__(f"unknown job {job}", remedy="List them with: mainspring jobs", field="id")


class UnknownWorker(NotFound):
    """No worker has this id."""

    code = "unknown_worker"

    def __init__(self, worker: object) -> None:
        super().__init__(f"unknown worker {worker}", remedy="List them with: mainspring workers", field="id")


class UnknownQueue(NotFound):
    """No job, task, worker or operator has named this queue."""

    code = "unknown_queue"

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        known = sorted(known)
        listed = f"There are: {', '.join(known[:10])}." if known else "A task or a job names one."
        super().__init__(f"unknown queue {name!r}", remedy=near(name, known) or listed, field="name")


class Conflict(MainspringError):
    """The thing exists, and its present state does not allow the change."""

    code = "conflict"
    http_status = 409
    exit_status = 4


class IllegalState(Conflict):
    """The job's state does not allow this. ``state`` is the present one."""

    code = "illegal_state"

    def __init__(self, message: str, *, state: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy, field="state")
        self.state = state


class ReplayLive(Conflict):
    """The last replay of this job has not ended yet."""

    code = "replay_live"


class KeyHeld(Conflict):
    """Another job holds the unique key, and the submit wanted none then. ``job``: its id; 0 where it is not known."""

    code = "key_held"
    job = 0

    def __init__(self, message: str, *, job: int, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy, field="unique")
        self.job = job


class AlreadyUp(Conflict):
    """Another supervisor runs on the same directory."""

    code = "already_up"


class BackupRefused(Conflict):
    """A backup is not made there, or not by us; nothing was written."""

    code = "backup_refused"


class MoveRefused(Conflict):
    """A move that can't begin or go on as things are; nothing was changed."""

    code = "move_refused"


class Forbidden(MainspringError):
    """Refused whatever the content."""

    code = "forbidden"
    http_status = 403
    exit_status = 4


class ForeignOrigin(Forbidden):
    """The Host or Origin header names another site."""

    code = "foreign_origin"


class AddressRefused(Forbidden):
    """The server binds loopback only as long as no authentication is configured."""

    code = "address_refused"


class TooBusy(MainspringError):
    """More requests wait than the server holds; nothing was changed and it may be tried again."""

    code = "too_busy"
    http_status = 429
    exit_status = 5


class AnswerTimeout(MainspringError):
    """The server did not finish in time; whether the change was made is not known."""

    code = "answer_timeout"
    http_status = 504
    exit_status = 5


class AddressUnavailable(MainspringError):
    """The server can't listen at this host and port: taken, not allowed, or not of this machine."""

    code = "address_unavailable"
    http_status = 503
    exit_status = 5


class StoreError(MainspringError):
    """The store can't be used."""

    code = "store_error"
    http_status = 503
    exit_status = 5


class StoreUnreachable(StoreError):
    """The database can't be opened or reached."""

    code = "store_unreachable"


class OutcomeUnknown(StoreUnreachable):
    """The way to the database was lost amid a commit, and whether it was stored could not be found out."""

    code = "outcome_unknown"
    http_status = 504

    def __init__(self, path: object) -> None:
        super().__init__(
            f"The connection to {path} was lost amid a commit; whether it was stored is not known.",
            remedy="Look whether it is there before you do it again.",
        )


class NoDatabase(StoreUnreachable):
    """A question was asked of a place where no database is; none is made for it."""

    code = "no_database"

    def __init__(self, path: object) -> None:
        super().__init__(
            f"There is no database at {path}.",
            remedy="mainspring up, worker, server and submit make one; name another with --db sqlite:///path.",
            field="db",
        )


class StoreReadOnly(StoreError):
    """The database or its directory can't be written."""

    code = "store_read_only"


class StoreCorrupt(StoreError):
    """The file is not a sound database. It is left as it is."""

    code = "store_corrupt"


class StoreBusy(StoreError):
    """The lock was not free within the time-out, or the disk is full; nothing was changed and it may be retried."""

    code = "store_busy"


STORE_AWAY = (StoreBusy, StoreUnreachable, StoreReadOnly, StoreCorrupt)
"""The store as a whole takes nothing now; nothing is said against what was asked of it."""


class SchemaTooNew(StoreError):
    """The database was upgraded by a newer mainspring than this one."""

    code = "schema_too_new"


class SchemaTooOld(StoreError):
    """The tables are of an older mainspring; on PostgreSQL they are only upgraded when somebody says so."""

    code = "schema_too_old"


class StoreMoved(StoreError):
    """The database was moved elsewhere, or is on the move: it can be read, and takes no writes."""

    code = "store_moved"


class EngineTooOld(StoreError):
    """The SQLite library has a known corruption fault."""

    code = "engine_too_old"


class NetworkFilesystem(StoreError):
    """SQLite files on a network file system are refused."""

    code = "network_filesystem"


class OutputFailed(MainspringError):
    """Standard output could not be written: closed, or on a full disk. CLI only."""

    code = "output_failed"
    exit_status = 74

    def __init__(self, reason: str) -> None:
        super().__init__(f"The answer can't be written to standard output: {reason}.")


class AppNotLoadable(MainspringError):
    """The user's app could not be imported; the message carries the traceback of the user's own lines."""

    code = "app_not_loadable"
    http_status = 422
    exit_status = 4


class ProtocolViolation(MainspringError):
    """A runner sent a frame that the protocol does not allow."""

    code = "protocol_violation"


class JobNotSucceeded(MainspringError):
    """What ``job.result()`` raises when the job ended without success."""

    code = "job_not_succeeded"
    http_status = 409


class JobDead(JobNotSucceeded):
    """The job ended dead; the message carries its last error."""

    code = "job_dead"


class JobCancelled(JobNotSucceeded):
    """The job was cancelled."""

    code = "job_cancelled"


class WaitTimeout(MainspringError):
    """The job did not end within the time given; it goes on."""

    code = "wait_timeout"
    http_status = 504
