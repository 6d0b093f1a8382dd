"""Handle: one job, as the code that submitted it sees it.

Every call asks the platform; nothing is cached but the last record. Names with ``a`` in front are the same for async
code and never block the loop.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import msgspec

from mainspring.clock import duration_text
from mainspring.domain.attempt import Attempt
from mainspring.domain.event import Event
from mainspring.domain.job import Job
from mainspring.domain.logline import LogLine
from mainspring.domain.states import FINAL, State
from mainspring.errors import JobCancelled, JobDead, WaitTimeout
from mainspring.sdk.waiting import AT_ONCE, SLICE, Deadline, in_thread, news

if TYPE_CHECKING:
    from mainspring.client import Client

R_co = TypeVar("R_co", covariant=True)

_PAGE = 1000


class Handle(Generic[R_co]):
    """A submitted job, whose result is an ``R``. ``id`` is its number; it can be made again with ``app.job(id)``.

    ``new`` is False where the submit found another job with its unique key: this is that one.
    """

    def __init__(
        self,
        client: Callable[[], Client],
        job: int,
        *,
        read: Callable[[Any], Any] | None = None,
        record: Job | None = None,
        new: bool = True,
    ) -> None:
        """For the SDK. ``client`` gives the client of the moment; ``read`` turns plain JSON into the result's type."""
        self.id = job
        self.new = new
        self._client = client
        self._read = read
        self._record = record

    def __repr__(self) -> str:
        known = f" {self._record.task} {self._record.state}" if self._record is not None else ""
        return f"<job {self.id}{known}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Handle) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def record(self) -> Job:
        """All that is known of the job, as of the last look (the first use looks)."""
        return self._record if self._record is not None else self._look()

    @property
    def state(self) -> State:
        """Its state as of the last look; ``job.refresh().state`` is the present one."""
        return self.record.state

    @property
    def done(self) -> bool:
        """Whether it had ended as of the last look."""
        return self.record.state in FINAL

    def refresh(self) -> Handle[R_co]:
        """Look again. Raises UnknownJob."""
        self._look()
        return self

    def result(self, timeout: str | float | None = None) -> R_co:
        """Wait for the end and return what the code returned.

        ``timeout``: wait at most this long (``"30s"``, or seconds; default: for ever). The value has the
        task's return annotation where that is known here, else it is plain JSON. Raises JobDead, JobCancelled, or
        WaitTimeout; the job goes on after that.
        """
        deadline = Deadline(timeout)
        wait = AT_ONCE
        while self._look().state not in FINAL:
            if deadline.passed:
                raise self._too_late(deadline)
            self._client().await_news(wait)
            wait = deadline.slice()
        return self._value()

    async def aresult(self, timeout: str | float | None = None) -> R_co:  # noqa: ASYNC109 - the same as ``result``
        """``result`` for async code."""
        deadline = Deadline(timeout)
        wait = AT_ONCE
        while (await in_thread(self._look)).state not in FINAL:
            if deadline.passed:
                raise self._too_late(deadline)
            await news(self._client(), wait)
            wait = deadline.slice()
        return self._value()

    def cancel(self) -> Handle[R_co]:
        """Cancel it: at once while it waits; a running attempt is asked to stop and ends soon. Raises IllegalState."""
        self._record = self._client().cancel(self.id)
        return self

    def retry(self) -> Handle[R_co]:
        """Run the ended job again, as a new job that points to this one. Raises IllegalState or ReplayLive."""
        record = self._client().retry(self.id)
        return Handle(self._client, record.id, read=self._read, record=record)

    def attempts(self) -> list[Attempt]:
        """Its attempts in order, the running one last."""
        return self._client().attempts(self.id)

    def logs(self, *, attempt: int | None = None, after: int = 0) -> list[LogLine]:
        """Its output so far, or that of one attempt. ``after``: the ``seq`` of the last line already seen."""
        lines: list[LogLine] = []
        while True:
            page = self._client().logs(self.id, attempt=attempt, after=after, limit=_PAGE)
            lines += page
            if len(page) < _PAGE:
                return lines
            after = page[-1].seq

    def watch(self, after: int = 0) -> Iterator[Event]:
        """Its events in order, those to come too, until it has ended.

        ``after``: the ``seq`` of the last event seen, to go on from there.
        """
        wait, ended = AT_ONCE, False
        while not ended:
            page, ended = self._news(after)
            for event in page:
                after = event.seq
                yield event
            if not page and not ended:
                self._client().await_news(wait)
                wait = SLICE

    async def awatch(self, after: int = 0) -> AsyncIterator[Event]:
        """``watch`` for async code."""
        wait, ended = AT_ONCE, False
        while not ended:
            page, ended = await in_thread(self._news, after)
            for event in page:
                after = event.seq
                yield event
            if not page and not ended:
                await news(self._client(), wait)
                wait = SLICE

    async def arefresh(self) -> Handle[R_co]:
        """``refresh`` for async code."""
        return await in_thread(self.refresh)

    async def acancel(self) -> Handle[R_co]:
        """``cancel`` for async code."""
        return await in_thread(self.cancel)

    async def aretry(self) -> Handle[R_co]:
        """``retry`` for async code."""
        return await in_thread(self.retry)

    async def aattempts(self) -> list[Attempt]:
        """``attempts`` for async code."""
        return await in_thread(self.attempts)

    async def alogs(self, *, attempt: int | None = None, after: int = 0) -> list[LogLine]:
        """``logs`` for async code."""
        return await in_thread(self.logs, attempt=attempt, after=after)

    def _look(self) -> Job:
        self._record = self._client().job(self.id)
        return self._record

    def _news(self, after: int) -> tuple[list[Event], bool]:
        """The next events, and whether none can follow them."""
        page = self._client().events(after=after, job=self.id, limit=_PAGE)
        if not page and self._look().state in FINAL:
            # The end may have come between the two looks; or the cursor stands behind it.
            page = self._client().events(after=after, job=self.id, limit=_PAGE)
            return page, not page or page[-1].target in FINAL
        return page, bool(page) and page[-1].target in FINAL

    def _too_late(self, deadline: Deadline) -> WaitTimeout:
        waited = "" if deadline.length is None else f" within {duration_text(deadline.length)}"
        return WaitTimeout(
            f"job {self.id} is {self.state} and did not end{waited}.",
            remedy=f"It goes on; wait again, or cancel it: mainspring cancel {self.id}",
        )

    def _value(self) -> R_co:
        job = self.record
        if job.state is State.SUCCEEDED:
            return cast("R_co", self._typed(job.result))
        failure = job.error
        said = f": {failure.type}: {failure.message}" if failure is not None else "."
        error: JobDead | JobCancelled
        if job.state is State.CANCELLED:
            error = JobCancelled(f"job {job.id} ({job.task}) was cancelled.")
        else:
            attempts = f"{job.attempt} attempt{'' if job.attempt == 1 else 's'}"
            error = JobDead(
                f"job {job.id} ({job.task}) is dead after {attempts}{said}", remedy=f"See: mainspring logs {job.id}"
            )
        if failure is not None and failure.traceback:
            error.add_note(failure.traceback)
        raise error

    def _typed(self, value: Any) -> Any:
        if self._read is None:
            return value
        try:
            return self._read(value)
        except (msgspec.ValidationError, TypeError, ValueError):
            return value  # written by another version of the task: plain JSON is what there is
