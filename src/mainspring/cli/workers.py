"""``mainspring workers`` and ``mainspring worker drain``: who runs jobs, and how it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import looks, show
from mainspring.cli.access import Access
from mainspring.client.wire import worker_wire
from mainspring.clock import Instant, SystemClock
from mainspring.domain.worker import Worker
from mainspring.errors import UnknownWorker

if TYPE_CHECKING:
    from rich.text import Text


def workers(*, access: Access = of.DEFAULT) -> int:
    """List workers, newest first, with what they run and the ids of their processes.

    "other code": newer code of its app has been seen since it started.
    """
    with access.client() as client:
        found = client.workers()
    if access.json:
        show.as_json([worker_wire(worker) for worker in found])
        return 0
    now = SystemClock().now()
    show.table(
        ("ID", "NAME", "STATE", "APP", "RUNNING", "QUEUES", "HOST", "PID", "STARTED", "LAST SEEN"),
        [_row(worker, now) for worker in found],
        empty="No workers: start one with mainspring up, or mainspring worker --app MODULE:ATTR.",
        right=(0, 4, 7),
        gives=(5, 6),
    )
    return 0


def drain(
    id_: Annotated[str, Parameter(name="ID", help="The worker's number.")], /, *, access: Access = of.DEFAULT
) -> int:
    """Let a worker end: it claims nothing more, and its running jobs get its drain time to finish."""
    with access.client(actor=of.operator()) as client:
        found = client.drain(_number(id_))
    said = f"worker {found.id} ({found.name}) {found.state.value}; it runs {looks.counted(found.running, 'job')}"
    with show.done(said):
        show.as_json(worker_wire(found)) if access.json else show.line(said)
    return 0


def _number(text: str) -> int:
    """The id that a person typed. Raises UnknownWorker for what can't be one."""
    digits = text.strip().removeprefix("worker").strip()
    if not digits.isascii() or not digits.isdigit() or len(digits) > 18:
        raise UnknownWorker(text)
    return int(digits)


def _row(worker: Worker, now: Instant) -> tuple[str | Text, ...]:
    return (
        str(worker.id),
        worker.name,
        show.worker_state(worker.state),
        f"{worker.app} (other code)" if worker.outdated else worker.app,
        f"{worker.running}/{worker.slots}",
        ", ".join(worker.queues) or "all",
        worker.host,
        str(worker.pid),
        looks.age(now, worker.started_at),
        looks.age(now, worker.beat_at),
    )
