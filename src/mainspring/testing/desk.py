"""The client of a harness: what a job asks is asked as that job, and waiting means that virtual time goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mainspring.client.direct import DirectClient
from mainspring.clock import Duration
from mainspring.domain.borrowed import Borrowed
from mainspring.domain.job import Job, JobRequest, Receipt
from mainspring.runner.running import here
from mainspring.store import Store


class HarnessClient(DirectClient):
    """A client for the test and for the jobs that run in it. ``wait`` lets virtual time pass, at most so much."""

    def __init__(self, store: Store, wait: Callable[[Duration], None]) -> None:
        super().__init__(store, actor="client")
        self._wait = wait

    def _asking(self) -> DirectClient | None:
        """The client of the job whose code runs now; None for the test itself."""
        running = here.get()
        return None if running is None else DirectClient(self.store, actor=f"job:{running.job}", parent=running.job)

    def submit(
        self,
        requests: Sequence[JobRequest],
        *,
        idempotency_key: str | None = None,
        borrowed: Borrowed | None = None,
    ) -> list[Receipt]:
        """Store the jobs; what a job submits has that job as its parent."""
        asking = self._asking()
        if asking is None:
            return super().submit(requests, idempotency_key=idempotency_key, borrowed=borrowed)
        return asking.submit(requests, idempotency_key=idempotency_key, borrowed=borrowed)

    def cancel(self, job: int) -> Job:
        """Cancel a job; the events name the job that did it."""
        asking = self._asking()
        return super().cancel(job) if asking is None else asking.cancel(job)

    def retry(self, job: int) -> Job:
        """Retry a job; the events name the job that did it."""
        asking = self._asking()
        return super().retry(job) if asking is None else asking.retry(job)

    def await_news(self, timeout: Duration) -> None:
        """Let everything that is due happen; when that is nothing, go on to the next thing that will be."""
        if timeout > 0:
            self._wait(timeout)


def waits_for_news(function: Any) -> bool:
    """Whether a call that async code hands to a thread is a wait for hints."""
    inner = function
    while hasattr(inner, "func"):  # asyncio.to_thread: partial(context.run, call, ...)
        inner = inner.args[0] if inner.args else inner.func
    return isinstance(getattr(inner, "__self__", None), HarnessClient) and inner.__name__ == "await_news"
