"""Client: the verbs, as the SDK and the CLI see them. One seam for both.

Implementations: ``client/direct.py`` on a store, ``runner/client.py`` inside a job (as frames to the coordinator);
REST comes with the server's own client. One suite runs on all. Every method may raise the errors of mainspring.errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from mainspring.clock import Duration
from mainspring.domain.attempt import Attempt
from mainspring.domain.backfill import BackfillRequest
from mainspring.domain.borrowed import Borrowed
from mainspring.domain.bulk import Bulk, BulkDone
from mainspring.domain.event import Event
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


class Client(Protocol):
    """What can be asked of a platform."""

    def declare(self, catalog: Catalog) -> None:
        """Record an app's tasks. Idempotent."""
        ...

    def submit(
        self,
        requests: Sequence[JobRequest],
        *,
        idempotency_key: str | None = None,
        borrowed: Borrowed | None = None,
    ) -> list[Receipt]:
        """Store the jobs and answer, once they are durable, which job each request led to. Up to 2,000: all or none.

        ``idempotency_key``: the same requests with the same key get the same answer for 24 hours; ``borrowed``: a
        connection in whose transaction they are stored, so durable when its owner commits. Raises KeyHeld,
        IdempotencyKeyReused.
        """
        ...

    def job(self, job: int) -> Job:
        """One job. Raises UnknownJob."""
        ...

    def jobs(self, wanted: JobFilter) -> JobPage:
        """A page of jobs, newest first."""
        ...

    def count(self, wanted: JobFilter) -> int:
        """How many jobs the filter matches."""
        ...

    def explain(self, job: int) -> Explanation:
        """Why a job waits, runs or ended as it did. Raises UnknownJob."""
        ...

    def attempts(self, job: int) -> list[Attempt]:
        """The attempts of a job in order, the running one last. Raises UnknownJob."""
        ...

    def events(
        self, *, after: int = 0, job: int | None = None, kinds: Sequence[str] = (), limit: int = 1000
    ) -> list[Event]:
        """Events with ``seq`` above the cursor, oldest first. ``kinds``: names of target states or causes."""
        ...

    def last_event(self) -> int:
        """The newest cursor: pass it to ``events`` to see only what comes."""
        ...

    def logs(self, job: int, *, attempt: int | None = None, after: int = 0, limit: int = 10_000) -> list[LogLine]:
        """Log lines with ``seq`` above the cursor. Raises UnknownJob."""
        ...

    def cancel(self, job: int) -> Job:
        """Cancel a waiting job at once, or ask a running one to stop (``cancel_requested``). Raises IllegalState."""
        ...

    def retry(self, job: int) -> Job:
        """A new job with the same task and parameters (``replay_of``). Raises IllegalState, ReplayLive."""
        ...

    def bulk(self, asked: Bulk) -> BulkDone:
        """Cancel or retry all jobs that a filter matches, up to a limit. Raises InvalidInput and its kinds."""
        ...

    def put_workflow(self, document: Workflow) -> WorkflowShown:
        """Store a definition; its name stands for it from now on. Raises InvalidWorkflow, PayloadTooLarge."""
        ...

    def workflow(self, name: str) -> WorkflowShown:
        """What a name stands for, with its nodes. Raises UnknownWorkflow."""
        ...

    def workflows(self) -> list[WorkflowShown]:
        """All workflows, by name, without their nodes."""
        ...

    def start_run(self, request: RunRequest) -> Run:
        """Begin a run; it is durable when this answers. Raises UnknownWorkflow, InvalidWorkflow, InvalidParameters."""
        ...

    def run(self, run: int) -> Run:
        """One run. Raises UnknownRun."""
        ...

    def runs(self, wanted: RunFilter) -> RunPage:
        """A page of runs, newest first."""
        ...

    def run_nodes(self, run: int, *, after: int = 0, limit: int = 1000, jobs: int = 20) -> list[RunNode]:
        """Nodes of a run in the order of its definition, behind a number. ``jobs``: at most so many of each.

        Raises UnknownRun.
        """
        ...

    def run_events(self, run: int, *, after: int = 0, limit: int = 1000) -> list[RunEvent]:
        """What happened in a run, to its nodes and to their jobs, behind a cursor, oldest first. Raises UnknownRun."""
        ...

    def run_document(self, run: int) -> Workflow:
        """The definition that a run keeps. Raises UnknownRun."""
        ...

    def restart_run(self, run: int, *, newest: bool = False) -> Replay:
        """Run it all again, as a new run. ``newest``: with the definition of now. Raises UnknownRun, IllegalState."""
        ...

    def resume_run(self, run: int, *, since: str | None = None, as_it_was: bool = False) -> Replay:
        """Go on from what failed, as a new run that keeps what is good. Raises UnknownRun, IllegalState, InvalidInput.

        ``since``: a node that is done again anyway; ``as_it_was``: under the definition of then.
        """
        ...

    def cancel_run(self, run: int) -> Run:
        """Tell a run to stop: what waits is cancelled, what runs is asked to. Raises UnknownRun, IllegalState."""
        ...

    def tasks(self) -> list[Task]:
        """The catalog."""
        ...

    def workers(self) -> list[Worker]:
        """All workers that are known, newest first."""
        ...

    def worker(self, worker: int) -> Worker:
        """One worker. Raises UnknownWorker."""
        ...

    def drain(self, worker: int) -> Worker:
        """Let a worker claim nothing more, and end when its jobs have. Raises UnknownWorker, IllegalState."""
        ...

    def queues(self) -> list[Queue]:
        """All queues that are known, by name."""
        ...

    def queue(self, name: str) -> Queue:
        """One queue. Raises UnknownQueue."""
        ...

    def change_queue(self, name: str, change: QueueChange) -> Queue:
        """Pause or resume a queue, set its limit or its note; these two make a queue known that nobody has named.

        Raises UnknownQueue, InvalidOption, InvalidText, InvalidTask.
        """
        ...

    def schedules(self) -> list[Schedule]:
        """All schedules that were not removed, by name."""
        ...

    def schedule(self, name: str) -> Schedule:
        """One schedule, also a removed one. Raises UnknownSchedule."""
        ...

    def put_schedule(self, name: str, plan: Plan, origin: Origin) -> Schedule:
        """Declare a schedule, or say all anew of the one with this name. Raises InvalidInput of some kind."""
        ...

    def change_schedule(self, name: str, fields: Mapping[str, Any]) -> Schedule:
        """Say something else in these fields of its plan. Raises UnknownSchedule, InvalidInput of some kind."""
        ...

    def reset_schedule(self, name: str) -> Schedule:
        """Take back what operators have changed. Raises UnknownSchedule."""
        ...

    def pause_schedule(self, name: str, note: str | None) -> Schedule:
        """Let no tick make a job until it is resumed. Raises UnknownSchedule."""
        ...

    def resume_schedule(self, name: str, note: str | None) -> Schedule:
        """Let its ticks make jobs again. Raises UnknownSchedule."""
        ...

    def remove_schedule(self, name: str) -> Schedule:
        """Take it away. Raises UnknownSchedule; IllegalState where code or a file would bring it back."""
        ...

    def trigger_schedule(self, name: str) -> Tick:
        """Make a job now. Raises UnknownSchedule, InvalidInput of some kind."""
        ...

    def backfill(self, name: str, wanted: BackfillRequest) -> Filling:
        """Make ticks of the past, or only say which they are. Raises UnknownSchedule, InvalidOption."""
        ...

    def backfills(self, name: str) -> list[Backfill]:
        """The backfills of a schedule, newest first. Raises UnknownSchedule."""
        ...

    def ticks(self, name: str, *, cursor: str | None = None, limit: int = 50) -> TickPage:
        """Ticks of a schedule, newest first. Raises UnknownSchedule, InvalidCursor."""
        ...

    def publish(self, topic: str, data: Sequence[Any]) -> int:
        """Add messages to a topic, all or none; the number of the last one. Raises InvalidInput and its kinds."""
        ...

    def subscribe(self, wanted: SubscriptionWanted) -> Subscription:
        """Make a job or a run of each message; one of this name goes on where it was, unless ``after`` says where.

        Raises InvalidInput, UnknownTask, WorkflowNotKnown.
        """
        ...

    def await_news(self, timeout: Duration) -> None:
        """Block until something may have happened, at most this long. A hint, never a promise."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...
