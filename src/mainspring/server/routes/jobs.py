"""Jobs over REST: decode, one call of the client, encode."""

from __future__ import annotations

import msgspec

from mainspring.client import Client
from mainspring.client.operating import ServingClient
from mainspring.client.wire import attempt_wire, bulk_wire, event_wire, explanation_wire, job_wire, logline_wire
from mainspring.domain.ids import JobId
from mainspring.domain.job import Job, JobRequest, Unique
from mainspring.domain.listing import MOST_ATTEMPTS
from mainspring.domain.span import in_trace
from mainspring.domain.states import FINAL
from mainspring.errors import InvalidInput, MainspringError
from mainspring.server.decode import COUNTING, FILTERS, bulk_request, job_filter, job_request, job_requests, no_fields
from mainspring.server.exchange import Access, Answer, Asked, Entry, Piece, Reach, Stream
from mainspring.server.operation import JSON, STREAM, Operation, Page, gives
from mainspring.server.pages import QUERY, job_page, paged
from mainspring.server.schemas.values import text, whole
from mainspring.server.stream import event

_JOBS = "/api/v1/jobs"
_JOB = "/api/v1/jobs/{id}"
_LONGEST_PAGE = 10_000
_LONG = {"limit": whole(1_000, least=1, most=_LONGEST_PAGE)}
_KINDS = text("dead,cancelled", minLength=1, description="Target states or causes, with commas between them.")
_HISTORY = gives(Page("Event"), values=_LONG | {"kind": _KINDS})
_STREAMED = 500
"""Lines of one look."""


class JobRoutes:
    """The handlers, on one client."""

    def __init__(self, client: ServingClient) -> None:
        self._client = client

    def entries(self) -> list[Entry]:
        """The routes of this noun."""
        return [
            Entry(
                "POST",
                _JOBS,
                Access.CHANGE,
                self.submit,
                Operation({200: "Job", 201: "Job"}, "JobRequest"),
                reach=Reach.ASKED,
            ),
            Entry(
                "POST",
                f"{_JOBS}/batch",
                Access.CHANGE,
                self.submit_batch,
                Operation({200: Page("Receipt"), 201: Page("Receipt")}, "JobRequests"),
                reach=Reach.ASKED,
            ),
            Entry(
                "POST",
                f"{_JOBS}/bulk",
                Access.CHANGE,
                self.bulk,
                gives("BulkDone", body="BulkRequest"),
                reach=Reach.ASKED,
            ),
            Entry("GET", _JOBS, Access.READ, self.listed, gives(Page("Job")), FILTERS, reach=Reach.ASKED),
            Entry("GET", f"{_JOBS}/count", Access.READ, self.count, gives("Count"), COUNTING, reach=Reach.ASKED),
            Entry("GET", f"{_JOBS}/events", Access.READ, self.history, _HISTORY, ("kind", "cursor", "limit")),
            Entry("GET", _JOB, Access.READ, self.one, gives("Job"), reach=Reach.JOB),
            Entry("GET", f"{_JOB}/explain", Access.READ, self.explain, gives("Explanation"), reach=Reach.JOB),
            Entry(
                "GET", f"{_JOB}/attempts", Access.READ, self.attempts, gives(Page("Attempt")), QUERY, reach=Reach.JOB
            ),
            Entry(
                "GET",
                f"{_JOB}/events",
                Access.READ,
                self.events,
                _HISTORY,
                ("kind", "cursor", "limit"),
                reach=Reach.JOB,
            ),
            Entry(
                "GET",
                f"{_JOB}/logs",
                Access.READ,
                self.logs,
                Operation({200: Page("LogLine")}, media=(JSON, STREAM), values=_LONG),
                ("attempt", "cursor", "limit", "follow"),
                reach=Reach.JOB,
            ),
            Entry("POST", f"{_JOB}/cancel", Access.ACT, self.cancel, gives("Job"), reach=Reach.JOB),
            Entry("POST", f"{_JOB}/retry", Access.ACT, self.retry, gives("Job", status=201), reach=Reach.JOB),
        ]

    def submit(self, asked: Asked) -> Answer:
        """A new job, once it is durable; or the one that holds the unique key."""
        try:
            (request,) = self._admitted(asked, [job_request(asked)])
            job, new = self._acting(asked).submit_one(request, idempotency_key=asked.headers.get("idempotency-key"))
        except MainspringError as error:
            error.index = None  # there is no list that it could be in
            raise
        return _created(job) if new else Answer(200, job_wire(job), _location(job))

    def submit_batch(self, asked: Asked) -> Answer:
        """All jobs of a list, once they are durable, or none."""
        requests = self._admitted(asked, job_requests(asked))
        receipts = self._acting(asked).submit(requests, idempotency_key=asked.headers.get("idempotency-key"))
        items = [{"id": one.job, "new": one.new} for one in receipts]
        return Answer(201 if any(one.new for one in receipts) else 200, {"items": items, "next": None})

    def _acting(self, asked: Asked) -> ServingClient:
        return self._client.acting(asked.actor, asked.asker.queues)

    def _admitted(self, asked: Asked, requests: list[JobRequest]) -> list[JobRequest]:
        """The requests, in their trace; of askers who are kept to some queues only what leads to these."""
        if asked.asker.queues is not None:
            own = {name: task.queue for task in self._client.tasks() for name in (task.name, task.short)}
            for request in requests:
                asked.keep(request.queue or own.get(request.task))
                if isinstance(request.unique, Unique) and request.unique.on_conflict == "replace":
                    asked.keep(None)  # the job that would be replaced may be in any queue
        if not asked.traceparent:
            return requests
        return [msgspec.structs.replace(one, tags=in_trace(one.tags, asked.traceparent)) for one in requests]

    def bulk(self, asked: Asked) -> Answer:
        """Cancel or retry what a filter matches; what was done, and where to go on."""
        wanted = bulk_request(asked)
        asked.keep(wanted.filter.queue)
        return Answer(200, bulk_wire(self._acting(asked).bulk(wanted)))

    def listed(self, asked: Asked) -> Answer:
        """A page of jobs, newest first."""
        wanted = job_filter(asked)
        asked.keep(wanted.queue)
        return Answer(200, job_page(self._client, wanted))

    def count(self, asked: Asked) -> Answer:
        """How many jobs match: all, or a part of them and where the next one begins."""
        wanted = job_filter(asked)
        asked.keep(wanted.queue)
        found = self._client.count_part(wanted)
        return Answer(200, {"count": found.count, "next": found.next})

    def one(self, asked: Asked) -> Answer:
        """One job."""
        return Answer(200, job_wire(self._client.job(asked.job)))

    def explain(self, asked: Asked) -> Answer:
        """Why it waits, runs or ended as it did."""
        return Answer(200, explanation_wire(self._client.explain(asked.job)))

    def attempts(self, asked: Asked) -> Answer:
        """All attempts, the running one last."""
        found = self._client.attempts(asked.job)
        return paged(asked, found, attempt_wire, lambda attempt: (attempt.number,))

    def history(self, asked: Asked) -> Answer:
        """Events of all jobs behind the cursor, oldest first."""
        return self._events(asked, None)

    def events(self, asked: Asked) -> Answer:
        """Events behind the cursor, oldest first."""
        return self._events(asked, asked.job)

    def _events(self, asked: Asked, job: JobId | None) -> Answer:
        limit = asked.whole("limit", 1000, 1, _LONGEST_PAGE)
        kinds = asked.query["kind"].split(",") if "kind" in asked.query else ()
        page = self._client.event_page(after=asked.cursor, job=job, kinds=kinds, limit=limit)
        return Answer(200, {"items": [event_wire(event) for event in page.items], "next": _cursor(page.next)})

    def logs(self, asked: Asked) -> Answer:
        """Lines of output behind the cursor, oldest first."""
        follow = asked.query.get("follow", "false")
        if follow not in {"true", "false"}:
            raise InvalidInput(f"follow is {follow[:80]!r}; it must be true or false.", field="follow")
        limit = asked.whole("limit", 1000, 1, _LONGEST_PAGE)
        attempt = asked.whole("attempt", 0, 1, MOST_ATTEMPTS) or None
        if follow == "true":
            self._client.job(asked.job)  # an id that is wrong is told by the status
            return Answer(200, Stream(_Following(self._client, asked.job, attempt, asked.resumed).look))
        found = self._client.logs(asked.job, attempt=attempt, after=asked.cursor, limit=limit)
        more = found[-1].seq if len(found) == limit else None
        return Answer(200, {"items": [logline_wire(line) for line in found], "next": _cursor(more)})

    def cancel(self, asked: Asked) -> Answer:
        """Cancelled now, or running with ``cancel_requested``."""
        no_fields(asked)
        return Answer(200, job_wire(self._acting(asked).cancel(asked.job)))

    def retry(self, asked: Asked) -> Answer:
        """A new job that points to the old one."""
        no_fields(asked)
        return _created(self._acting(asked).retry(asked.job))


class _Following:
    """Lines of a job as they come, until it has ended."""

    def __init__(self, client: Client, job: JobId, attempt: int | None, after: int) -> None:
        self._client = client
        self._job = job
        self._attempt = attempt
        self._after = after

    def look(self) -> Piece:
        """What is new; the end is looked at first, as no line comes after it."""
        job = self._client.job(self._job)
        found = self._client.logs(self._job, attempt=self._attempt, after=self._after, limit=_STREAMED)
        if found:
            self._after = found[-1].seq
        data = b"".join(event("line", logline_wire(line), line.seq) for line in found)
        if len(found) == _STREAMED:
            return Piece(data, more=True)
        if job.state not in FINAL:
            return Piece(data)
        return Piece(data + event("end", {"id": job.id, "state": job.state.value}), last=True)


def _created(job: Job) -> Answer:
    return Answer(201, job_wire(job), _location(job))


def _location(job: Job) -> dict[str, str]:
    return {"location": f"{_JOBS}/{job.id}"}


def _cursor(seq: int | None) -> str | None:
    return None if seq is None else str(seq)
