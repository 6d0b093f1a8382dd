"""Jobs over REST: submitted, listed, looked at, cancelled, run again.

A submit always goes with an idempotency key, so that it is sent again when its answer was lost, and nothing is doubled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import to_builtins

from mainspring.chance import SystemChance
from mainspring.client import unwire
from mainspring.client.http import Steps, get, items, pages, send
from mainspring.clock import instant_text
from mainspring.domain.attempt import Attempt
from mainspring.domain.borrowed import Borrowed
from mainspring.domain.bulk import Bulk, BulkDone
from mainspring.domain.event import Event
from mainspring.domain.job import ATOMIC, Job, JobFilter, JobPage, JobRequest, Receipt
from mainspring.domain.kinds import checked_job_kinds
from mainspring.domain.listing import MOST_LINES, checked_limit
from mainspring.domain.logline import LogLine
from mainspring.domain.reason import Explanation
from mainspring.domain.uniqueness import checked_idempotency_key
from mainspring.errors import MainspringError, NotYetSupported


def submit(
    requests: Sequence[JobRequest], *, idempotency_key: str | None = None, borrowed: Borrowed | None = None
) -> Steps[list[Receipt]]:
    """Store the jobs and answer, once they are durable, which job each request led to. Up to 2,000: all or none."""
    if borrowed is not None:
        raise NotYetSupported("connection over --api")
    receipts: list[Receipt] = []
    most = ATOMIC if idempotency_key is None else max(1, len(requests))
    for start in range(0, len(requests), most):
        some = requests[start : start + most]
        key = SystemChance().secret() if idempotency_key is None else checked_idempotency_key(idempotency_key)
        try:
            answer = yield send("POST", "/jobs/batch", {"jobs": to_builtins(some)}, key=key)
        except MainspringError as error:
            if error.index is not None:
                error.index += start
            raise
        receipts += [unwire.receipt_of(one) for one in answer["items"]]
    return receipts


def job(job: int) -> Steps[Job]:
    """One job."""
    return unwire.job_of((yield get(f"/jobs/{job}")))


def jobs(wanted: JobFilter) -> Steps[JobPage]:
    """A page of jobs, newest first."""
    page = yield get("/jobs", **_narrowed(wanted), cursor=wanted.cursor, limit=wanted.limit)
    return JobPage([unwire.job_of(one) for one in page["items"]], page["next"])


def count(wanted: JobFilter) -> Steps[int]:
    """How many jobs the filter matches."""
    cursor: str | None = None
    number = 0
    while True:
        part = yield get("/jobs/count", **_narrowed(wanted), cursor=cursor)
        number += int(part["count"])
        cursor = part["next"]
        if cursor is None:
            return number


def explain(job: int) -> Steps[Explanation]:
    """Why a job waits, runs or ended as it did."""
    return unwire.explanation_of((yield get(f"/jobs/{job}/explain")))


def attempts(job: int) -> Steps[list[Attempt]]:
    """The attempts of a job in order, the running one last."""
    return [unwire.attempt_of(one) for one in (yield from pages(f"/jobs/{job}/attempts"))]


def events(
    *, after: int = 0, job: int | None = None, kinds: Sequence[str] = (), limit: int = 1000
) -> Steps[list[Event]]:
    """Events behind the cursor, oldest first."""
    checked_limit(limit, MOST_LINES)
    checked_job_kinds(kinds)
    place = "/jobs/events" if job is None else f"/jobs/{job}/events"
    found: list[Event] = []
    cursor: int | str | None = after
    while cursor is not None and len(found) < limit:
        page = yield get(place, cursor=cursor, kind=",".join(kinds) or None, limit=limit - len(found))
        found += [unwire.event_of(one) for one in page["items"]]
        cursor = page["next"]
    return found


def last_event() -> Steps[int]:
    """The newest cursor."""
    return int((yield get("/events/newest"))["cursor"])


def logs(job: int, *, attempt: int | None = None, after: int = 0, limit: int = 10_000) -> Steps[list[LogLine]]:
    """Log lines behind the cursor."""
    found = yield from items(f"/jobs/{job}/logs", attempt=attempt, cursor=after, limit=limit)
    return [unwire.logline_of(one) for one in found]


def cancel(job: int) -> Steps[Job]:
    """Cancel a waiting job at once, or ask a running one to stop."""
    return unwire.job_of((yield send("POST", f"/jobs/{job}/cancel")))


def retry(job: int) -> Steps[Job]:
    """A new job with the same task and parameters."""
    return unwire.job_of((yield send("POST", f"/jobs/{job}/retry")))


def bulk(asked: Bulk) -> Steps[BulkDone]:
    """Cancel or retry all jobs that a filter matches, up to a limit."""
    body = to_builtins(asked) | {"filter": _narrowed(asked.filter)}
    found = {name: value for name, value in body.items() if value is not None}
    return unwire.bulk_done_of((yield send("POST", "/jobs/bulk", found)))


def _narrowed(wanted: JobFilter) -> dict[str, Any]:
    """A filter as a query has it."""
    found: dict[str, Any] = {
        "state": None if wanted.state is None else wanted.state.value,
        "task": wanted.task,
        "queue": wanted.queue,
        "tag": wanted.tag,
        "since": None if wanted.since is None else instant_text(wanted.since),
        "until": None if wanted.until is None else instant_text(wanted.until),
    }
    return {name: value for name, value in found.items() if value is not None}
