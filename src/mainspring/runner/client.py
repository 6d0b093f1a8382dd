"""FrameClient: the platform as code inside a job sees it. Each call is a request frame and its answer.

Works from threads, from async code (which calls it in a thread), and on the event loop's own thread, where it serves
the channels until the answer is there. In a process of its own a job asks by its own socket. Meets client.Client.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from mainspring.clock import Duration
from mainspring.domain.attempt import Attempt
from mainspring.domain.backfill import BackfillRequest
from mainspring.domain.borrowed import Borrowed
from mainspring.domain.bulk import Bulk, BulkDone
from mainspring.domain.event import Event
from mainspring.domain.frame import Answer, Request
from mainspring.domain.job import Job, JobFilter, JobPage, JobRequest, Receipt
from mainspring.domain.logline import LogLine
from mainspring.domain.plan import Plan
from mainspring.domain.queue import Queue, QueueChange
from mainspring.domain.reason import Explanation
from mainspring.domain.run import Replay, Run, RunEvent, RunFilter, RunNode, RunPage, RunRequest, WorkflowShown
from mainspring.domain.task import Catalog, Task
from mainspring.domain.timetable import Backfill, Filling, Origin, Schedule, Tick, TickPage
from mainspring.domain.topic import Subscription, SubscriptionWanted
from mainspring.domain.worker import Worker
from mainspring.domain.workflow import Workflow
from mainspring.errors import InvalidOption, MainspringError, StoreUnreachable
from mainspring.runner.link import Link
from mainspring.runner.running import here

_SLICE = 0.1
Ask = Callable[[str, bytes], Answer]
"""Sends a verb and its body, waits, and gives the answer."""


class FrameClient:
    """The verbs of Client over frames."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def _call(self, verb: str, kind: Any, **arguments: object) -> Any:
        return _read(self._ask(verb, msgspec.json.encode(arguments)), kind)

    def declare(self, catalog: Catalog) -> None:
        self._call("declare", None, catalog=catalog)

    def submit(
        self,
        requests: Sequence[JobRequest],
        *,
        idempotency_key: str | None = None,
        borrowed: Borrowed | None = None,
    ) -> list[Receipt]:
        if borrowed is not None:
            raise InvalidOption(
                "connection was given, but a runner knows no database.",
                remedy="Name it in the app: Mainspring(name, database_url=...).",
                field="connection",
            )
        found: list[Receipt] = self._call(
            "submit", list[Receipt], requests=list(requests), idempotency_key=idempotency_key
        )
        return found

    def job(self, job: int) -> Job:
        found: Job = self._call("job", Job, job=job)
        return found

    def jobs(self, wanted: JobFilter) -> JobPage:
        found: JobPage = self._call("jobs", JobPage, wanted=wanted)
        return found

    def count(self, wanted: JobFilter) -> int:
        found: int = self._call("count", int, wanted=wanted)
        return found

    def explain(self, job: int) -> Explanation:
        found: Explanation = self._call("explain", Explanation, job=job)
        return found

    def attempts(self, job: int) -> list[Attempt]:
        found: list[Attempt] = self._call("attempts", list[Attempt], job=job)
        return found

    def events(
        self, *, after: int = 0, job: int | None = None, kinds: Sequence[str] = (), limit: int = 1000
    ) -> list[Event]:
        found: list[Event] = self._call("events", list[Event], after=after, job=job, kinds=list(kinds), limit=limit)
        return found

    def last_event(self) -> int:
        found: int = self._call("last_event", int)
        return found

    def logs(self, job: int, *, attempt: int | None = None, after: int = 0, limit: int = 10_000) -> list[LogLine]:
        found: list[LogLine] = self._call("logs", list[LogLine], job=job, attempt=attempt, after=after, limit=limit)
        return found

    def cancel(self, job: int) -> Job:
        found: Job = self._call("cancel", Job, job=job)
        return found

    def retry(self, job: int) -> Job:
        found: Job = self._call("retry", Job, job=job)
        return found

    def bulk(self, asked: Bulk) -> BulkDone:
        found: BulkDone = self._call("bulk", BulkDone, asked=asked)
        return found

    def tasks(self) -> list[Task]:
        found: list[Task] = self._call("tasks", list[Task])
        return found

    def workers(self) -> list[Worker]:
        found: list[Worker] = self._call("workers", list[Worker])
        return found

    def worker(self, worker: int) -> Worker:
        found: Worker = self._call("worker", Worker, worker=worker)
        return found

    def drain(self, worker: int) -> Worker:
        found: Worker = self._call("drain", Worker, worker=worker)
        return found

    def queues(self) -> list[Queue]:
        found: list[Queue] = self._call("queues", list[Queue])
        return found

    def queue(self, name: str) -> Queue:
        found: Queue = self._call("queue", Queue, name=name)
        return found

    def change_queue(self, name: str, change: QueueChange) -> Queue:
        found: Queue = self._call("change_queue", Queue, name=name, change=change)
        return found

    def schedules(self) -> list[Schedule]:
        found: list[Schedule] = self._call("schedules", list[Schedule])
        return found

    def schedule(self, name: str) -> Schedule:
        found: Schedule = self._call("schedule", Schedule, name=name)
        return found

    def put_schedule(self, name: str, plan: Plan, origin: Origin) -> Schedule:
        found: Schedule = self._call("put_schedule", Schedule, name=name, plan=plan, origin=origin)
        return found

    def change_schedule(self, name: str, fields: Mapping[str, Any]) -> Schedule:
        found: Schedule = self._call("change_schedule", Schedule, name=name, fields=dict(fields))
        return found

    def reset_schedule(self, name: str) -> Schedule:
        found: Schedule = self._call("reset_schedule", Schedule, name=name)
        return found

    def pause_schedule(self, name: str, note: str | None) -> Schedule:
        found: Schedule = self._call("pause_schedule", Schedule, name=name, note=note)
        return found

    def resume_schedule(self, name: str, note: str | None) -> Schedule:
        found: Schedule = self._call("resume_schedule", Schedule, name=name, note=note)
        return found

    def remove_schedule(self, name: str) -> Schedule:
        found: Schedule = self._call("remove_schedule", Schedule, name=name)
        return found

    def trigger_schedule(self, name: str) -> Tick:
        found: Tick = self._call("trigger_schedule", Tick, name=name)
        return found

    def backfill(self, name: str, wanted: BackfillRequest) -> Filling:
        found: Filling = self._call("backfill", Filling, name=name, wanted=wanted)
        return found

    def backfills(self, name: str) -> list[Backfill]:
        found: list[Backfill] = self._call("backfills", list[Backfill], name=name)
        return found

    def ticks(self, name: str, *, cursor: str | None = None, limit: int = 50) -> TickPage:
        found: TickPage = self._call("ticks", TickPage, name=name, cursor=cursor, limit=limit)
        return found

    def put_workflow(self, document: Workflow) -> WorkflowShown:
        found: WorkflowShown = self._call("put_workflow", WorkflowShown, document=document)
        return found

    def workflow(self, name: str) -> WorkflowShown:
        found: WorkflowShown = self._call("workflow", WorkflowShown, name=name)
        return found

    def workflows(self) -> list[WorkflowShown]:
        found: list[WorkflowShown] = self._call("workflows", list[WorkflowShown])
        return found

    def start_run(self, request: RunRequest) -> Run:
        found: Run = self._call("start_run", Run, request=request)
        return found

    def run(self, run: int) -> Run:
        found: Run = self._call("run", Run, run=run)
        return found

    def runs(self, wanted: RunFilter) -> RunPage:
        found: RunPage = self._call("runs", RunPage, wanted=wanted)
        return found

    def run_nodes(self, run: int, *, after: int = 0, limit: int = 1000, jobs: int = 20) -> list[RunNode]:
        found: list[RunNode] = self._call("run_nodes", list[RunNode], run=run, after=after, limit=limit, jobs=jobs)
        return found

    def run_events(self, run: int, *, after: int = 0, limit: int = 1000) -> list[RunEvent]:
        found: list[RunEvent] = self._call("run_events", list[RunEvent], run=run, after=after, limit=limit)
        return found

    def run_document(self, run: int) -> Workflow:
        found: Workflow = self._call("run_document", Workflow, run=run)
        return found

    def restart_run(self, run: int, *, newest: bool = False) -> Replay:
        found: Replay = self._call("restart_run", Replay, run=run, newest=newest)
        return found

    def resume_run(self, run: int, *, since: str | None = None, as_it_was: bool = False) -> Replay:
        found: Replay = self._call("resume_run", Replay, run=run, since=since, as_it_was=as_it_was)
        return found

    def cancel_run(self, run: int) -> Run:
        found: Run = self._call("cancel_run", Run, run=run)
        return found

    def publish(self, topic: str, data: Sequence[Any]) -> int:
        found: int = self._call("publish", int, topic=topic, data=list(data))
        return found

    def subscribe(self, wanted: SubscriptionWanted) -> Subscription:
        found: Subscription = self._call("subscribe", Subscription, wanted=wanted)
        return found

    def await_news(self, timeout: Duration) -> None:
        self._call("await_news", None, timeout=timeout)

    def close(self) -> None:
        """Nothing is held open."""


def error_of(code: str, message: str) -> MainspringError:
    """The error of the class that has this code."""
    classes: list[type[MainspringError]] = [MainspringError]
    for kind in classes:
        if kind.code == code:
            break
        classes += kind.__subclasses__()
    else:
        kind = MainspringError
    error = kind.__new__(kind)  # the constructors of the classes differ, the base's is enough to carry a text
    MainspringError.__init__(error, message)
    return error


def _read(answer: Answer, kind: Any) -> Any:
    """What was answered; raises what was refused."""
    if answer.code:
        raise error_of(answer.code, answer.message)
    return msgspec.json.decode(answer.body, type=kind)


def refuse_outside(verb: str, _body: bytes) -> Answer:
    """An Ask for code that is not a job's. Raises StoreUnreachable."""
    raise StoreUnreachable(
        f"The platform was asked ({verb}) in a runner, but outside any job.",
        remedy="Ask from a task, or from a program of its own: what a module submits while it is imported belongs "
        'below if __name__ == "__main__". A thread of yours asks in contextvars.copy_context() of its job.',
    )


class Answers:
    """Who waits for which answer. On the loop's thread only."""

    def __init__(self) -> None:
        self._number = 0
        self._waiting: dict[int, Callable[[Answer], None]] = {}

    def expect(self, take: Callable[[Answer], None]) -> int:
        """The number for a request; ``take`` gets its answer."""
        self._number += 1
        self._waiting[self._number] = take
        return self._number

    def receive(self, answer: Answer) -> None:
        """Pass an answer on; one that nobody waits for any more is dropped."""
        take = self._waiting.pop(answer.number, None)
        if take is not None:
            take(answer)


class Inside:
    """Asks from any thread of the runner, for the job whose code asks."""

    def __init__(self, link: Link, answers: Answers) -> None:
        self._link = link
        self._answers = answers
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def ask(self, verb: str, body: bytes) -> Answer:
        """Send and wait. Raises StoreUnreachable outside any job, or when the coordinator is gone."""
        running = here.get()
        if running is None:
            return refuse_outside(verb, body)
        job, claim = running.job, running.claim
        got: list[Answer] = []
        if threading.get_ident() == self._thread:
            number = self._answers.expect(got.append)
            self._link.send(Request(number, job, claim, verb, msgspec.Raw(body)))
            self._link.wait_in_place(lambda: bool(got))
            return got[0]
        arrived = threading.Event()

        def take(answer: Answer) -> None:
            got.append(answer)
            arrived.set()

        def send() -> None:
            self._link.send(Request(self._answers.expect(take), job, claim, verb, msgspec.Raw(body)))

        self._loop.call_soon_threadsafe(send)
        while not arrived.wait(_SLICE):
            pass  # back in Python now and then, so that an interruption of this thread arrives
        return got[0]

    async def ask_soon(self, verb: str, body: bytes) -> Answer:
        """The same for code on the loop, which goes on meanwhile. No thread is handed anything, four switches less."""
        running = here.get()
        if running is None:
            return refuse_outside(verb, body)
        got: asyncio.Future[Answer] = self._loop.create_future()

        def take(answer: Answer) -> None:
            if not got.done():  # it was cancelled, and nobody waits any more
                got.set_result(answer)

        self._link.send(Request(self._answers.expect(take), running.job, running.claim, verb, msgspec.Raw(body)))
        self._link.flush()
        return await got

    @property
    def on_loop(self) -> bool:
        """Whether the caller is on the loop's own thread."""
        return threading.get_ident() == self._thread


class LoopClient(FrameClient):
    """The client of a runner, which code on its event loop can submit by without a thread."""

    def __init__(self, inside: Inside) -> None:
        super().__init__(inside.ask)
        self._inside = inside

    @property
    def on_loop(self) -> bool:
        """Whether the caller may ``submit_soon``."""
        return self._inside.on_loop

    async def submit_soon(self, requests: Sequence[JobRequest]) -> list[Receipt]:
        """``submit`` for code on the loop."""
        body = msgspec.json.encode({"requests": list(requests), "idempotency_key": None})
        found: list[Receipt] = _read(await self._inside.ask_soon("submit", body), list[Receipt])
        return found
