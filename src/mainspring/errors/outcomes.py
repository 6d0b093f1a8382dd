"""What became of work: of an answer, an app, a runner, a job."""

from __future__ import annotations

from mainspring.errors.root import MainspringError


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


class RunNotSucceeded(MainspringError):
    """What ``run.result()`` raises when the run failed or was cancelled; names nodes that failed."""

    code = "run_not_succeeded"
    http_status = 409


class ConditionFailed(MainspringError):
    """The condition of a node can't be answered with what is there; the node fails."""

    code = "condition_failed"
    http_status = 409

    def __init__(self, condition: str, what: str) -> None:
        super().__init__(f"The condition {condition!r:.200} can't be answered: {what}.", field="when")


class UnresolvedReference(MainspringError):
    """A reference leads to nothing in the value that it names; the node fails. ``field`` is its place."""

    code = "unresolved_reference"
    http_status = 409

    def __init__(self, what: str, *, place: str) -> None:
        super().__init__(f"{place}: {what}.", field=place)
        self.what = what


class WaitTimeout(MainspringError):
    """The job did not end within the time given; it goes on."""

    code = "wait_timeout"
    http_status = 504
