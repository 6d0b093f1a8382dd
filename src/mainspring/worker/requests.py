"""The desk for SDK calls of jobs: a request frame becomes a client call with that job as parent, and an answer frame.

A job sees the platform through this desk only; runners hold no database URL.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from contextlib import AbstractContextManager
from typing import Any, Protocol

import msgspec

from mainspring.client import Client
from mainspring.clock import MILLISECOND, SECOND, Clock, Duration, SystemClock
from mainspring.domain.backfill import BackfillRequest
from mainspring.domain.bulk import Bulk
from mainspring.domain.frame import Answer, Frame, Request
from mainspring.domain.ids import JobId
from mainspring.domain.job import Job, JobFilter, JobRequest
from mainspring.domain.plan import Plan
from mainspring.domain.queue import QueueChange
from mainspring.domain.run import RunFilter, RunRequest
from mainspring.domain.states import FINAL
from mainspring.domain.task import Catalog
from mainspring.domain.timetable import Origin
from mainspring.domain.topic import SubscriptionWanted
from mainspring.domain.workflow import Workflow
from mainspring.errors import InvalidInput, MainspringError, OutcomeUnknown

_MOVING = frozenset({"submit", "cancel", "retry", "bulk", "start_run", "restart_run", "resume_run", "cancel_run"})

Put = Callable[[int, Frame], None]
_LONGEST_WAIT = Duration(30 * SECOND)
_LOOK_AGAIN = Duration(200 * MILLISECOND)
_NEVER = Duration(3600 * SECOND)
_MOST_AWAITED = 20


class _Job(msgspec.Struct):
    job: int


class _Submit(msgspec.Struct):
    requests: list[JobRequest]
    idempotency_key: str | None = None


class _Wanted(msgspec.Struct):
    wanted: JobFilter


class _Bulk(msgspec.Struct):
    asked: Bulk


class _Declare(msgspec.Struct):
    catalog: Catalog


class _Events(msgspec.Struct):
    after: int = 0
    job: int | None = None
    kinds: list[str] = []
    limit: int = 1000


class _Logs(msgspec.Struct):
    job: int
    attempt: int | None = None
    after: int = 0
    limit: int = 10_000


class _Nothing(msgspec.Struct):
    pass


class _Worker(msgspec.Struct):
    worker: int


class _Queue(msgspec.Struct):
    name: str
    change: QueueChange = QueueChange()


class _Schedule(msgspec.Struct):
    name: str
    plan: Plan = Plan({})
    origin: Origin = Origin.API
    fields: dict[str, Any] = {}
    note: str | None = None
    cursor: str | None = None
    limit: int = 50


class _Backfill(msgspec.Struct):
    name: str
    wanted: BackfillRequest


class _Document(msgspec.Struct):
    document: Workflow


class _Name(msgspec.Struct):
    name: str


class _Start(msgspec.Struct):
    request: RunRequest


class _Run(msgspec.Struct):
    run: int


class _Restart(msgspec.Struct):
    run: int
    newest: bool = False


class _Resume(msgspec.Struct):
    run: int
    since: str | None = None
    as_it_was: bool = False


class _Runs(msgspec.Struct):
    wanted: RunFilter


class _Nodes(msgspec.Struct):
    run: int
    after: int = 0
    limit: int = 1000
    jobs: int = 20


class _Publish(msgspec.Struct):
    topic: str
    data: list[Any]


class _Subscribe(msgspec.Struct):
    wanted: SubscriptionWanted


class _News(msgspec.Struct):
    timeout: int


def _verbs() -> dict[str, tuple[Any, Callable[[Client, Any], object]]]:
    """What a job may ask, by name: the form of the body, and the call."""
    return {
        "declare": (_Declare, lambda client, body: client.declare(body.catalog)),
        "submit": (_Submit, lambda client, body: client.submit(body.requests, idempotency_key=body.idempotency_key)),
        "job": (_Job, lambda client, body: client.job(body.job)),
        "jobs": (_Wanted, lambda client, body: client.jobs(body.wanted)),
        "count": (_Wanted, lambda client, body: client.count(body.wanted)),
        "explain": (_Job, lambda client, body: client.explain(body.job)),
        "attempts": (_Job, lambda client, body: client.attempts(body.job)),
        "events": (
            _Events,
            lambda client, body: client.events(after=body.after, job=body.job, kinds=body.kinds, limit=body.limit),
        ),
        "last_event": (_Nothing, lambda client, _: client.last_event()),
        "logs": (
            _Logs,
            lambda client, body: client.logs(body.job, attempt=body.attempt, after=body.after, limit=body.limit),
        ),
        "cancel": (_Job, lambda client, body: client.cancel(body.job)),
        "retry": (_Job, lambda client, body: client.retry(body.job)),
        "bulk": (_Bulk, lambda client, body: client.bulk(body.asked)),
        "put_workflow": (_Document, lambda client, body: client.put_workflow(body.document)),
        "workflow": (_Name, lambda client, body: client.workflow(body.name)),
        "workflows": (_Nothing, lambda client, _: client.workflows()),
        "start_run": (_Start, lambda client, body: client.start_run(body.request)),
        "run": (_Run, lambda client, body: client.run(body.run)),
        "runs": (_Runs, lambda client, body: client.runs(body.wanted)),
        "run_nodes": (
            _Nodes,
            lambda client, body: client.run_nodes(body.run, after=body.after, limit=body.limit, jobs=body.jobs),
        ),
        "run_events": (
            _Nodes,
            lambda client, body: client.run_events(body.run, after=body.after, limit=body.limit),
        ),
        "run_document": (_Run, lambda client, body: client.run_document(body.run)),
        "restart_run": (_Restart, lambda client, body: client.restart_run(body.run, newest=body.newest)),
        "resume_run": (
            _Resume,
            lambda client, body: client.resume_run(body.run, since=body.since, as_it_was=body.as_it_was),
        ),
        "cancel_run": (_Run, lambda client, body: client.cancel_run(body.run)),
        "tasks": (_Nothing, lambda client, _: client.tasks()),
        "workers": (_Nothing, lambda client, _: client.workers()),
        "worker": (_Worker, lambda client, body: client.worker(body.worker)),
        "drain": (_Worker, lambda client, body: client.drain(body.worker)),
        "queues": (_Nothing, lambda client, _: client.queues()),
        "queue": (_Queue, lambda client, body: client.queue(body.name)),
        "change_queue": (_Queue, lambda client, body: client.change_queue(body.name, body.change)),
        "schedules": (_Nothing, lambda client, _: client.schedules()),
        "schedule": (_Schedule, lambda client, body: client.schedule(body.name)),
        "put_schedule": (_Schedule, lambda client, body: client.put_schedule(body.name, body.plan, body.origin)),
        "change_schedule": (_Schedule, lambda client, body: client.change_schedule(body.name, body.fields)),
        "reset_schedule": (_Schedule, lambda client, body: client.reset_schedule(body.name)),
        "pause_schedule": (_Schedule, lambda client, body: client.pause_schedule(body.name, body.note)),
        "resume_schedule": (_Schedule, lambda client, body: client.resume_schedule(body.name, body.note)),
        "remove_schedule": (_Schedule, lambda client, body: client.remove_schedule(body.name)),
        "trigger_schedule": (_Schedule, lambda client, body: client.trigger_schedule(body.name)),
        "backfill": (_Backfill, lambda client, body: client.backfill(body.name, body.wanted)),
        "backfills": (_Schedule, lambda client, body: client.backfills(body.name)),
        "publish": (_Publish, lambda client, body: client.publish(body.topic, body.data)),
        "subscribe": (_Subscribe, lambda client, body: client.subscribe(body.wanted)),
        "ticks": (_Schedule, lambda client, body: client.ticks(body.name, cursor=body.cursor, limit=body.limit)),
    }


class Debt(Protocol):
    """What of the store the disk has still to get."""

    def put_off(self) -> AbstractContextManager[None]:
        """Inside, a submit does not wait for the disk."""
        ...

    def settle(self) -> None:
        """Wait for the disk now. Raises OutcomeUnknown."""
        ...


class RequestDesk:
    """Answers the requests of all runners of a worker.

    What jobs submit is claimed in the same breath, and one wait for the disk has both: ``debt`` is what has to be
    settled before the answers are given.
    """

    def __init__(self, client_of: Callable[[JobId], Client], debt: Debt, clock: Clock | None = None) -> None:
        self._client_of = client_of
        self._debt = debt
        self._clock = clock or SystemClock()
        self._verbs = _verbs()
        self._inbox: list[tuple[int, Request]] = []
        self._waiting: list[tuple[int, Request, Duration]] = []
        self._asked: dict[JobId, dict[JobId, None]] = {}
        self._answers: list[tuple[int, Answer]] = []
        self._news = False

    def receive(self, runner: int, request: Request) -> None:
        """A request came in; ``turn`` answers it."""
        self._inbox.append((runner, request))

    def heard(self, listener: Any, _: int) -> None:
        """The news bell rang."""
        listener.drain()
        self._news = True

    def tell(self) -> None:
        """This worker has just recorded something itself."""
        self._news = bool(self._waiting)

    def forget(self, runner: int) -> None:
        """A runner is gone; nobody waits for its answers."""
        self._inbox = [one for one in self._inbox if one[0] != runner]
        self._waiting = [one for one in self._waiting if one[0] != runner]

    def waits(self, running: Container[JobId]) -> dict[JobId, list[JobId]]:
        """By running job that waits for news: the unended jobs that it has asked about, the latest first."""
        if not self._asked:
            return {}
        self._asked = {job: asked for job, asked in self._asked.items() if job in running}
        waiting = {request.job for _, request, _ in self._waiting}
        return {job: list(reversed(asked)) for job, asked in self._asked.items() if job in waiting and asked}

    def _note(self, asking: JobId, about: Job) -> None:
        asked = self._asked.setdefault(asking, {})
        asked.pop(about.id, None)
        if about.state not in FINAL:
            asked[about.id] = None
            if len(asked) > _MOST_AWAITED:
                del asked[next(iter(asked))]

    @property
    def curious(self) -> bool:
        """Whether a running job waits for news."""
        return bool(self._waiting)

    @property
    def wait(self) -> Duration:
        """How soon a waiting request must be looked at again."""
        if self._news and self._waiting:
            return Duration(0)
        return _LOOK_AGAIN if self._waiting else _NEVER

    def turn(self) -> bool:
        """Find the answers that there are now. True when the jobs of this worker may have changed by that."""
        inbox, self._inbox = self._inbox, []
        for runner, request in inbox:
            if request.verb == "await_news":
                self._await(runner, request)
            else:
                with self._debt.put_off():
                    self._answers.append((runner, self._answer(request)))
        self._tell_news()
        return any(request.verb in _MOVING for _, request in inbox)

    def give(self, put: Put) -> None:
        """Send the answers, once the disk has what they tell of."""
        answers, self._answers = self._answers, []
        try:
            self._debt.settle()
        except OutcomeUnknown as error:
            answers = [(runner, Answer(one.number, code=error.code, message=str(error))) for runner, one in answers]
        for runner, answer in answers:
            put(runner, answer)

    def _answer(self, request: Request) -> Answer:
        form, call = self._verbs.get(request.verb, (None, None))
        try:
            if form is None or call is None:
                raise InvalidInput(f"There is no verb {request.verb!r}.", remedy="docs/architecture/runner-protocol.md")
            body = msgspec.json.decode(request.body, type=form)
            answer = call(self._client_of(request.job), body)
            if isinstance(answer, Job):
                self._note(request.job, answer)
            return Answer(request.number, msgspec.Raw(msgspec.json.encode(answer)))
        except msgspec.MsgspecError as error:
            return Answer(
                request.number, code=InvalidInput.code, message=f"The body of {request.verb} is wrong: {error}"
            )
        except MainspringError as error:
            return Answer(request.number, code=error.code, message=str(error))

    def _await(self, runner: int, request: Request) -> None:
        try:
            timeout = msgspec.json.decode(request.body, type=_News).timeout
        except msgspec.MsgspecError as error:
            self._answers.append((runner, Answer(request.number, code=InvalidInput.code, message=str(error))))
            return
        until = Duration(self._clock.monotonic() + max(0, min(timeout, _LONGEST_WAIT)))
        self._waiting.append((runner, request, until))

    def _tell_news(self) -> None:
        now = self._clock.monotonic()
        staying = []
        for runner, request, until in self._waiting:
            if self._news or until <= now:
                self._answers.append((runner, Answer(request.number)))
            else:
                staying.append((runner, request, until))
        self._waiting = staying
        self._news = False
