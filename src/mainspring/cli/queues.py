"""``mainspring queues`` and ``mainspring queue``: lines of jobs, their pauses and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from msgspec import UNSET, UnsetType

from mainspring.cli import access as of
from mainspring.cli import looks, show
from mainspring.cli.access import Access, option
from mainspring.client.wire import queue_wire
from mainspring.clock import Instant, SystemClock
from mainspring.domain.queue import Queue, QueueChange
from mainspring.errors import InvalidOption

if TYPE_CHECKING:
    from rich.text import Text

Name = Annotated[str, Parameter(name="NAME", help="The queue.")]
Note = Annotated[str | None, option("Why; shown until the queue is resumed or another is given.", "TEXT")]
_NO_LIMIT = "none"


def queues(*, access: Access = of.DEFAULT) -> int:
    """List queues by name, with what waits and runs in them, their limits, and who paused them."""
    with access.client() as client:
        found = client.queues()
    if access.json:
        show.as_json([queue_wire(queue) for queue in found])
        return 0
    now = SystemClock().now()
    show.table(
        ("QUEUE", "STATE", "QUEUED", "RUNNING", "LIMIT", "SCHEDULED", "RETRYING", "SINCE", "BY", "NOTE"),
        [_row(queue, now) for queue in found],
        empty="No queues yet: a task names one, and a submit may name another.",
        right=(2, 3, 4, 5, 6),
        gives=(9, 8),
    )
    return 0


def pause(name: Name, /, *, note: Note = None, access: Access = of.DEFAULT) -> int:
    """Let no more jobs of a queue start, on any worker. Those that run go on; new ones wait."""
    return _change(name, QueueChange(paused=True, note=_given(note)), access)


def resume(name: Name, /, *, note: Note = None, access: Access = of.DEFAULT) -> int:
    """Let the jobs of a queue start again."""
    return _change(name, QueueChange(paused=False, note=_given(note)), access)


def set_(
    name: Name,
    /,
    *,
    limit: Annotated[
        str | None, option("Most jobs of it that may run at once, on all workers; none: any.", "N")
    ] = None,
    note: Note = None,
    access: Access = of.DEFAULT,
) -> int:
    """Set how many jobs of a queue may run at once, counted over all workers, or its note.

    A queue that no task or job has named yet is made known by it, so that its limit holds for the first job.
    """
    if limit is None and note is None:
        raise InvalidOption("Nothing was given to set.", remedy="Give --limit N, --limit none or --note TEXT.")
    return _change(name, QueueChange(limit=_limit(limit), note=_given(note)), access)


def _change(name: str, change: QueueChange, access: Access) -> int:
    with access.client(actor=of.operator()) as client:
        found = client.change_queue(name, change)
    with show.done(_told(found)):
        show.as_json(queue_wire(found)) if access.json else show.line(_told(found))
    return 0


def _given(note: str | None) -> str | UnsetType:
    return UNSET if note is None else note


def _limit(text: str | None) -> int | UnsetType | None:
    if text is None:
        return UNSET
    if text == _NO_LIMIT:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise InvalidOption(f"--limit is {text!r}.", remedy="Give a whole number, or none.", field="limit")
    return int(text)


def _told(queue: Queue) -> str:
    """``queue mail is paused; 3 jobs wait, 1 runs of at most 4``."""
    state = "open" if queue.paused_at is None else "paused"
    most = "" if queue.limit is None else f" of at most {queue.limit:,}"
    return (
        f"queue {queue.name} is {state}; {looks.counted(queue.queued, 'job')} queued, {queue.running:,} running{most}"
    )


def _row(queue: Queue, now: Instant) -> tuple[str | Text, ...]:
    paused = queue.paused_at is not None
    return (
        queue.name,
        show.look(looks.Look("⏸", "paused", "yellow") if paused else looks.Look("●", "open", "green")),
        f"{queue.queued:,}",
        f"{queue.running:,}",
        "-" if queue.limit is None else f"{queue.limit:,}",
        f"{queue.scheduled:,}",
        f"{queue.retrying:,}",
        looks.age(now, queue.paused_at),
        queue.paused_by or "-",
        looks.cut(looks.one_line(queue.note or "-"), 60),
    )
