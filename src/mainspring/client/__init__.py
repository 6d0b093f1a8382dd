"""Client: the verbs, as the SDK and the CLI see them. One seam for both.

Implementations: ``client/direct.py`` on a store, ``runner/client.py`` inside a job (as frames to the coordinator);
REST comes with the server's own client. One suite runs on all. Every method may raise the errors of mainspring.errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mainspring.clock import Duration
from mainspring.domain.attempt import Attempt
from mainspring.domain.borrowed import Borrowed
from mainspring.domain.bulk import Bulk, BulkDone
from mainspring.domain.event import Event
from mainspring.domain.job import Job, JobFilter, JobPage, JobRequest, Receipt
from mainspring.domain.logline import LogLine
from mainspring.domain.queue import Queue, QueueChange
from mainspring.domain.reason import Explanation
from mainspring.domain.task import Catalog, Task
from mainspring.domain.worker import Worker


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

    def await_news(self, timeout: Duration) -> None:
        """Block until something may have happened, at most this long. A hint, never a promise."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...
