"""A worker in this process: the real dispatch on a real store; it calls the functions in the place of a runner."""

from __future__ import annotations

import asyncio
import inspect
import threading
from types import TracebackType
from typing import Any, Self

import msgspec

from mainspring import Context, Mainspring
from mainspring.clock import MILLISECOND, SECOND, Duration, SystemClock
from mainspring.domain.attempt import Failure
from mainspring.domain.frame import Ended, Log, Progress, Start
from mainspring.domain.logline import LogChunk
from mainspring.domain.states import Outcome
from mainspring.engine.dispatch import Dispatch
from mainspring.engine.held import Limits
from mainspring.engine.timing import Timing
from mainspring.sdk.context import running
from mainspring.store import Store, workers
from mainspring.store.workers import Hello

_RUNNER = 1


class Working:
    """``with Working(store, app):`` runs the app's jobs, one at a time, until the block ends."""

    def __init__(self, store: Store, app: Mainspring) -> None:
        clock = SystemClock()
        hello = Hello(store.chance.incarnation(), "w", "here", 1, app.name, "1", "0", [], {}, 5, [], {})
        worker = store.write(lambda tx: workers.register(tx, hello))
        timing = Timing(lease=Duration(60 * SECOND), sweep=Duration(60 * SECOND), poll=SECOND, drain=SECOND)
        self._tasks = {task.name: task for task in app.tasks.values()}
        self._store = store
        self._dispatch = Dispatch(
            store,
            clock,
            worker=worker,
            app=app.name,
            queues=(),
            labels={},
            limits=Limits(slots=5, processes=5),
            timing=timing,
        )
        self._dispatch.add_runner(_RUNNER, list(self._tasks))
        self._bell = store.work_bell.listen(f"worker-{worker}")
        self._stopped = False
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped = True
        self._store.work_bell.ring()
        self._thread.join()
        self._bell.close()

    def _work(self) -> None:
        while not self._stopped:
            out = self._dispatch.turn()
            if out.news or out.starts:
                self._store.news_bell.ring()
            for _, frame in out.frames:
                if isinstance(frame, Start):
                    self._run(frame)
            if not out.frames and self._bell.wait(Duration(min(out.wait, 100 * MILLISECOND))):
                self._dispatch.hint()

    def _run(self, start: Start) -> None:
        task = self._tasks[start.task]

        said: list[bytes] = []

        def report(details: bytes) -> None:
            said.append(details)
            self._dispatch.receive(_RUNNER, Progress(start.job, start.claim, msgspec.Raw(details)))

        context = Context(
            job_id=start.job, attempt=start.attempt, task=start.task, earlier=bytes(start.details), report=report
        )
        try:
            arguments = task.bind_stored(bytes(start.params))
            if task.context_parameter is not None:
                arguments[task.context_parameter] = context
            with running(context):
                value: Any = task.function(**arguments) if task.function else None
                if inspect.iscoroutine(value):
                    value = asyncio.run(value)
            chunk = LogChunk(SystemClock().now(), "stdout", f"attempt {start.attempt}\nreturned\n")
            self._dispatch.receive(_RUNNER, Log(start.job, start.claim, [chunk]))
            ended = Ended(start.job, start.claim, Outcome.SUCCEEDED, result=msgspec.Raw(task.encode_result(value)))
        except Exception as error:  # noqa: BLE001 - whatever the task raises is the attempt's failure
            kind = type(error).__name__
            failure = Failure(kind, str(error), traceback=f"Traceback of {kind}", types=(kind,))
            ended = Ended(start.job, start.claim, Outcome.FAILED, failure=failure)
        details = msgspec.Raw(said[-1]) if said else ended.details
        self._dispatch.receive(_RUNNER, msgspec.structs.replace(ended, details=details))
