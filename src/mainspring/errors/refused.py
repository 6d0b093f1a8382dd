"""Requests that are right in themselves, but not for what is there: unknown, in the way, forbidden, too many."""

from __future__ import annotations

from collections.abc import Iterable

from mainspring.errors.root import MainspringError, near


class NotFound(MainspringError):
    """The thing named in the path or argument does not exist."""

    code = "not_found"
    http_status = 404
    exit_status = 3


class UnknownJob(NotFound):
    """No job has this id."""

    code = "unknown_job"

    def __init__(self, job: object, *, run: bool = False) -> None:
        """``run``: a run has it."""
        what = f"unknown job {job}" + (": this is the number of a run" if run else "")
        of_run = f"Show it with: mainspring run-show {job}; cancel it with: mainspring run-cancel {job}"
        super().__init__(what, remedy=of_run if run else "List them with: mainspring jobs", field="id")


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
        remedy = near(name, known) or (f"There are: {', '.join(known[:10])}." if known else "")
        made = "A task, a job, or a limit or note names a new one: mainspring queue set NAME --limit N"
        super().__init__(f"unknown queue {name!r}.", remedy=f"{remedy} {made}".strip(), field="name")


class UnknownSchedule(NotFound):
    """No schedule has this name."""

    code = "unknown_schedule"

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        known = sorted(known)
        listed = f"There are: {', '.join(known[:10])}." if known else "Declare one: app.schedule(...) or schedule add."
        super().__init__(f"unknown schedule {name!r}", remedy=near(name, known) or listed, field="name")


class UnknownToken(NotFound):
    """No token has this number, and none that is valid has this name."""

    code = "unknown_token"

    def __init__(self, wanted: str, known: Iterable[str] = ()) -> None:
        remedy = near(wanted, known) or "List them with: mainspring token list"
        super().__init__(f"unknown token {wanted[:80]!r}", remedy=remedy, field="id")


class UnknownEdit(NotFound):
    """No change of the configuration has this number."""

    code = "unknown_edit"

    def __init__(self, seq: object) -> None:
        super().__init__(
            f"unknown change of the configuration {seq}", remedy="List them with: mainspring config history", field="id"
        )


class UnknownSubscription(NotFound):
    """No subscription has this name."""

    code = "unknown_subscription"

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        remedy = near(name, known) or "List them with: mainspring subscriptions"
        super().__init__(f"unknown subscription {name[:80]!r}", remedy=remedy, field="name")


class UnknownUser(NotFound):
    """No user has this name now."""

    code = "unknown_user"

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        remedy = near(name, known) or "List them with: mainspring users list"
        super().__init__(f"unknown user {name[:80]!r}", remedy=remedy, field="name")


class UnknownWebhook(NotFound):
    """No webhook has this name."""

    code = "unknown_webhook"

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        remedy = near(name, known) or "List them with: mainspring webhooks"
        super().__init__(f"unknown webhook {name[:80]!r}", remedy=remedy, field="name")


class UnknownDelivery(NotFound):
    """The webhook has no delivery of this number, or has it no more."""

    code = "unknown_delivery"

    def __init__(self, webhook: str, number: object) -> None:
        super().__init__(
            f"unknown delivery {number} of webhook {webhook!r}",
            remedy=f"List them with: mainspring webhook deliveries {webhook}",
            field="id",
        )


class NoSuchTask(NotFound):
    """The address names a task that no app has reported, or a short name that several have."""

    code = "no_such_task"

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        shown = name[:200]
        known = sorted(known)
        listed = f"There are: {', '.join(known[:10])}." if known else "No app has reported its tasks yet."
        super().__init__(f"unknown task {shown!r}.", remedy=near(shown, known) or listed, field="name")


class UnknownRun(NotFound):
    """No run has this id."""

    code = "unknown_run"

    def __init__(self, run: object, *, job: bool = False) -> None:
        """``job``: a job has it."""
        what = f"unknown run {run}" + (": this is the number of a job" if job else "")
        of_job = f"Show it with: mainspring job {run}; cancel it with: mainspring cancel {run}"
        super().__init__(what, remedy=of_job if job else "List them with: mainspring runs", field="id")


class UnknownWorkflow(NotFound):
    """No workflow has this name."""

    code = "unknown_workflow"

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        known = sorted(known)
        none = "None is known yet. Workers report those of their app: mainspring up --app app.py"
        listed = f"There are: {', '.join(known[:10])}." if known else none
        super().__init__(f"unknown workflow {name!r}", remedy=near(name, known) or listed, field="name")


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
    """Another job holds the unique key, and the submit wanted none then.

    ``job``: its id; 0 where it is not known, and for whoever is kept to queues that the job is not in.
    """

    code = "key_held"
    job = 0

    def __init__(self, message: str, *, job: int, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy, field="unique")
        self.job = job


class WebhookExists(Conflict):
    """A webhook has this name."""

    code = "webhook_exists"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is a webhook {name!r} already.",
            remedy="Give this one another name, or change that one.",
            field="name",
        )


class NotEnded(Conflict):
    """A delivery that still waits, or is just being tried, can't be made once more."""

    code = "not_ended"

    def __init__(self, delivery: object) -> None:
        super().__init__(f"Delivery {delivery} has not ended yet.", remedy="It is tried again by itself.", field="id")


class TokenExists(Conflict):
    """A token that is still valid has this name."""

    code = "token_exists"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is a token {name!r} already.",
            remedy=f"Give this one another name, or take that one back: mainspring token revoke {name}",
            field="name",
        )


class UserExists(Conflict):
    """A user has this name."""

    code = "user_exists"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is a user {name!r} already.",
            remedy=f"Give this one another name, or change that one: mainspring users change {name}",
            field="name",
        )


class AlreadyUp(Conflict):
    """Another supervisor runs on the same directory."""

    code = "already_up"


class BackupRefused(Conflict):
    """A backup is not made there, or not by us; nothing was written."""

    code = "backup_refused"


class MoveRefused(Conflict):
    """A move that can't begin or go on as things are; nothing was changed."""

    code = "move_refused"


class Unauthenticated(MainspringError):
    """The server asks who is there, and got no token, or none that is valid. REST only."""

    code = "unauthenticated"
    http_status = 401
    exit_status = 4

    def __init__(self, message: str) -> None:
        remedy = "Send the header Authorization: Bearer TOKEN; make one with: mainspring token create NAME --role ROLE"
        super().__init__(message, remedy=remedy, field="Authorization")


class WrongPassword(Unauthenticated):
    """There is no user of this name with this password; which of the two is wrong is not told. REST only."""

    code = "wrong_password"

    def __init__(self) -> None:
        super().__init__("The name or the password is wrong.")
        self.remedy = "An admin gives you another: mainspring users change NAME"
        self.field = "password"


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


class RoleTooLow(Forbidden):
    """The token is valid, and its role does not cover this."""

    code = "role_too_low"


class OutOfReach(Forbidden):
    """The token or the user is kept to some queues, and this concerns another one, or all. REST only."""

    code = "out_of_reach"


class ProofMissing(Forbidden):
    """A change that comes with the cookie of a session alone, as pages of other sites can send it. REST only."""

    code = "proof_missing"


class TooBusy(MainspringError):
    """More requests wait than the server holds; nothing was changed and it may be tried again."""

    code = "too_busy"
    http_status = 429
    exit_status = 5
    retry_after = 1
    """Seconds after which it is worth trying again."""


class TooManyFailures(TooBusy):
    """Too many wrong tokens came from one address; for a while it is not listened to. REST only."""

    code = "too_many_failures"
    retry_after = 60


class TooManyRequests(TooBusy):
    """One asker makes more requests than the server takes of one (``request_rate``). REST only."""

    code = "too_many_requests"

    def __init__(self, message: str, *, remedy: str, retry_after: int) -> None:
        super().__init__(message, remedy=remedy)
        self.retry_after = retry_after


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
