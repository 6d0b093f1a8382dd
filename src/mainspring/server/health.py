"""Whether this server is fit for its work, found out by trying, within a bounded time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from mainspring.clock import SECOND, Clock, Duration, seconds
from mainspring.domain.worker import Worker, WorkerState
from mainspring.engine.drive import Drive
from mainspring.errors import MainspringError

LOOP_PATIENCE = Duration(10 * SECOND)
"""A loop whose turn is overdue by so long makes health red."""

STORE_PATIENCE = Duration(2 * SECOND)

WRITE_PAUSE = Duration(2 * SECOND)
"""The store is tried by a durable write at most so often, however many ask; in between the last outcome holds."""

Verdict = dict[str, tuple[bool, str]]
"""Name of a check: whether it is fine, and what there is to say."""

T = TypeVar("T")

_LOG = logging.getLogger("mainspring.health")
_ELSEWHERE = "the server's log says more"


class Health:
    """Looks at every loop of the server, each a check under its own name, and at the store.

    ``write``: a real durable write, which fails where a submit would (a full disk is not seen by less); it raises then.
    A store that hangs must not hang its doctor, so what asks it runs on a thread of its own. ``engine``: what the store
    is, on a server that asks who is there: whoever asks for its health need not say, so texts of errors, which name the
    database and its host, go to the log instead. An empty text: they are told.
    """

    def __init__(
        self,
        loops: Sequence[Drive],
        clock: Clock,
        write: Callable[[], object],
        workers: Callable[[], list[Worker]],
        *,
        engine: str = "",
    ) -> None:
        self._engine = engine
        self._loops = loops
        self._clock = clock
        self._write = write
        self._workers = workers
        self._written_at: Duration | None = None
        self._refusal: MainspringError | None = None
        self.write_took: Duration | None = None
        """How long the last durable write took that was tried; None before the first, and where it failed."""
        self._thread = ThreadPoolExecutor(1, "mainspring-health")

    def fit(self) -> Verdict:
        """The checks of /healthz."""
        store, refusal = self._ask(self._try_write)
        return {"store": self._with(store, refusal)} | self._turning()

    def ready(self) -> Verdict:
        """The checks of /readyz."""
        asked, found = self._ask(lambda: (self._try_write(), self._workers()))
        refusal, known = found or (None, [])
        able = [one for one in known if one.state is WorkerState.ACTIVE and one.tasks]
        if able:
            tasks = {task for one in able for task in one.tasks}
            said = (True, f"live: {len(able)}; tasks that they run: {len(tasks)}")
        else:
            said = (False, _why_none(known))
        return {"store": self._with(asked, refusal)} | self._turning() | {"workers": said}

    def loops(self) -> dict[str, tuple[Duration, bool]]:
        """Of each loop: how late it is, and whether its last turn failed."""
        return {loop.name: (loop.late, bool(loop.error)) for loop in self._loops}

    def close(self) -> None:
        """Ask nothing more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _try_write(self) -> MainspringError | None:
        """Why the store took no write when it was last tried; on the doctor's thread only."""
        now = self._clock.monotonic()
        if self._written_at is None or now - self._written_at >= WRITE_PAUSE:
            self.write_took = None
            try:
                self._write()
            except MainspringError as error:
                if self._engine and str(error) != str(self._refusal):
                    _LOG.error("%s", error)
                self._refusal = error
            else:
                self._refusal = None
                self.write_took = Duration(self._clock.monotonic() - now)
            self._written_at = self._clock.monotonic()
        return self._refusal

    def _turning(self) -> Verdict:
        return {loop.name: self._turns(loop) for loop in self._loops}

    def _ask(self, question: Callable[[], T]) -> tuple[tuple[bool, str], T | None]:
        asked = self._thread.submit(question)
        try:
            return (True, "ok"), asked.result(seconds(STORE_PATIENCE))
        except TimeoutError:
            asked.cancel()
            known = next((self._of(loop) for loop in self._loops if loop.error), "")
            return (False, f"did not answer within {seconds(STORE_PATIENCE):.0f} s{known}"), None
        except MainspringError as error:
            return (False, self._told(error)), None

    def _turns(self, loop: Drive) -> tuple[bool, str]:
        if loop.late <= LOOP_PATIENCE:
            return True, "ok"
        return False, f"should have turned {seconds(loop.late):.0f} s ago{self._of(loop)}"

    def _with(self, asked: tuple[bool, str], refusal: MainspringError | None) -> tuple[bool, str]:
        """What the store said, and whether it would take a submit."""
        return asked if refusal is None else (False, self._told(refusal))

    def _told(self, error: MainspringError) -> str:
        return f"{self._engine}: {error.code}; {_ELSEWHERE}" if self._engine else str(error)

    def _of(self, loop: Drive) -> str:
        """Why the last turn of a loop failed, to go on with."""
        if not loop.error:
            return ""
        return f"; {_ELSEWHERE}" if self._engine else f": {loop.error}"


def _why_none(known: list[Worker]) -> str:
    """Why no worker would run a job now."""
    impaired = [one.name for one in known if one.state is WorkerState.IMPAIRED]
    if impaired:
        return f"no runner of {', '.join(impaired[:3])} can load the app; mend it, its log has the traceback"
    return "no live worker has reported its tasks yet; start one: mainspring worker --app MODULE:ATTR"
