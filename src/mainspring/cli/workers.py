"""``mainspring workers``: who runs jobs, and how it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainspring.cli import access as of
from mainspring.cli import looks, show
from mainspring.cli.access import Access
from mainspring.client.wire import worker_wire
from mainspring.clock import Instant, SystemClock
from mainspring.domain.worker import Worker

if TYPE_CHECKING:
    from rich.text import Text


def workers(*, access: Access = of.DEFAULT) -> int:
    """List workers, newest first, with what they run and the ids of their processes."""
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


def _row(worker: Worker, now: Instant) -> tuple[str | Text, ...]:
    return (
        str(worker.id),
        worker.name,
        show.worker_state(worker.state),
        worker.app,
        f"{worker.running}/{worker.slots}",
        ", ".join(worker.queues) or "all",
        worker.host,
        str(worker.pid),
        looks.age(now, worker.started_at),
        looks.age(now, worker.beat_at),
    )
