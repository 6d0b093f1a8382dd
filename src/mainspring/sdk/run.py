"""RunHandle: one run of a workflow, as the code that started it sees it. Every call asks the platform."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from mainspring.clock import duration_text
from mainspring.errors import RunNotSucceeded, WaitTimeout
from mainspring.sdk.waiting import AT_ONCE, Deadline, in_thread, news

if TYPE_CHECKING:
    from mainspring.client import Client
    from mainspring.domain.joins import RunState
    from mainspring.domain.run import Run, RunNode


class RunHandle:
    """A run. ``id`` is its number; it can be made again with ``app.run(id)``. Names with ``a`` are for async code."""

    def __init__(self, client: Callable[[], Client], record: Run) -> None:
        self.id = int(record.id)
        self._client = client
        self._record = record

    def __repr__(self) -> str:
        return f"<run {self.id} {self._record.workflow} {self._record.state}>"

    @property
    def record(self) -> Run:
        """All that is known of it, as of the last look."""
        return self._record

    @property
    def state(self) -> RunState:
        """Its state, as of the last look."""
        return self._record.state

    def refresh(self) -> RunHandle:
        """Look again."""
        self._record = self._client().run(self.id)
        return self

    def nodes(self) -> Iterator[RunNode]:
        """Its nodes in the order of the definition, as they are now."""
        after = -1
        while page := self._client().run_nodes(self.id, after=after):
            yield from page
            after = page[-1].number

    def cancel(self) -> RunHandle:
        """Tell it to stop: what waits is cancelled, what runs is asked to. Raises IllegalState."""
        self._record = self._client().cancel_run(self.id)
        return self

    def wait(self, timeout: str | float | None = None) -> RunHandle:
        """Wait until it has ended, however. Raises WaitTimeout."""
        deadline = Deadline(timeout)
        wait = AT_ONCE
        while not self.refresh().record.done:
            if deadline.passed:
                raise self._too_late(deadline)
            self._client().await_news(wait)
            wait = deadline.slice()
        return self

    async def await_(self, timeout: str | float | None = None) -> RunHandle:  # noqa: ASYNC109 - as for jobs
        """``wait`` for async code."""
        deadline = Deadline(timeout)
        wait = AT_ONCE
        while not (await in_thread(self.refresh)).record.done:
            if deadline.passed:
                raise self._too_late(deadline)
            await news(self._client(), wait)
            wait = deadline.slice()
        return self

    def result(self, timeout: str | float | None = None) -> Any:
        """Wait, and give what the workflow returns. Raises RunNotSucceeded, WaitTimeout."""
        self.wait(timeout)
        return self._value()

    async def aresult(self, timeout: str | float | None = None) -> Any:  # noqa: ASYNC109 - as for jobs
        """``result`` for async code."""
        await self.await_(timeout)
        return self._value()

    def resume(self, *, since: str | None = None, as_it_was: bool = False) -> RunHandle:
        """Go on from what failed, as a new run that keeps the good results of this one.

        ``since``: a node that is done again with all below it, also if it was good; ``as_it_was``: under the definition
        that this run had, where the name stands for another one now. Raises IllegalState, InvalidInput.
        """
        client = self._client()
        return RunHandle(self._client, client.resume_run(self.id, since=since, as_it_was=as_it_was).run)

    def restart(self, *, newest: bool = False) -> RunHandle:
        """Run it all again, as a new run of the same definition and parameters.

        ``newest``: of the definition that the name of the workflow stands for now. Raises IllegalState.
        """
        return RunHandle(self._client, self._client().restart_run(self.id, newest=newest).run)

    def _value(self) -> Any:
        run = self._record
        if run.state != "succeeded":
            bad = [node.name for node in self.nodes() if node.state == "failed"][:5]
            said = f"; failed: {', '.join(bad)}" if bad else ""
            raise RunNotSucceeded(f"run {run.id} ({run.workflow}) is {run.state}{said}.")
        return run.result

    def _too_late(self, deadline: Deadline) -> WaitTimeout:
        waited = "" if deadline.length is None else f" within {duration_text(deadline.length)}"
        return WaitTimeout(f"run {self.id} is {self.state} and did not end{waited}.", remedy="It goes on; wait again.")
