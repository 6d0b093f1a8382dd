"""What an operator does with a database as a whole: upgrade, check, back up, prune, move, export.

A composition root: it opens the stores that each of these needs, and closes them. Nothing here speaks to a server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mainspring.client.direct import require_database
from mainspring.client.schedule_wire import tick_wire
from mainspring.client.wire import attempt_wire, event_wire, job_wire
from mainspring.clock import SECOND, Duration, SystemClock
from mainspring.domain.setting import Settings
from mainspring.engine.retention import ROUND, Retention, keep_of
from mainspring.store import Store, backup, check, export, relocate, upgrading
from mainspring.store.check import Finding, Level
from mainspring.store.migrate import Upgraded

__all__ = [
    "Finding",
    "Level",
    "Upgraded",
    "abandon_move",
    "back_up",
    "examine",
    "export_events",
    "export_jobs",
    "export_ticks",
    "move",
    "prune",
    "upgrade",
]


def upgrade(url: str) -> list[Upgraded]:
    """Bring the tables to this version; what was done to each file or schema. Raises NoDatabase, SchemaTooNew."""
    require_database(url)
    return upgrading.upgrade_at(url)


def examine(url: str, *, repair: bool = False) -> list[Finding]:
    """Everything that ``db check`` finds. Raises the StoreError of a database that can't even be opened.

    ``repair``: kept counts that are not what the rows say are put right.
    """
    with _opened(url) as store:
        found = check.check(store, repair=repair)
    return [*found, relocate.standing(url)]


def back_up(url: str, target: Path) -> list[Path]:
    """Copy a SQLite database to a file while it runs; the files that were made. Raises NoDatabase, BackupRefused."""
    require_database(url)
    return backup.back_up(url, target)


def export_jobs(url: str, take: Callable[[dict[str, Any]], None]) -> None:
    """Hand over every job with its ``attempts``, by id, all of one snapshot."""
    with _opened(url) as store:
        export.jobs(store, lambda job, tried: take(job_wire(job) | {"attempts": [attempt_wire(one) for one in tried]}))


def export_events(url: str, take: Callable[[dict[str, Any]], None]) -> None:
    """Hand over every event, by seq, all of one snapshot."""
    with _opened(url) as store:
        export.events(store, lambda event: take(event_wire(event)))


def export_ticks(url: str, take: Callable[[dict[str, Any]], None]) -> None:
    """Hand over what became of every tick, by schedule and time, all of one snapshot."""
    with _opened(url) as store:
        export.ticks(store, lambda name, record: take({"schedule": name} | tick_wire(record)))


def prune(url: str, settings: Settings, *, dry: bool, say: Callable[[int], None]) -> dict[str, int]:
    """Take out every ended job that is old enough; how many, by state. ``dry``: only count them.

    ``say`` is told now and then how many are gone so far.
    """
    with _opened(url) as store:
        clock = SystemClock()
        walk = Retention(store, clock, keep_of(settings), dry=dry)
        told = clock.monotonic()
        gone = 0
        while (pause := walk.turn()) < ROUND:
            if not dry and walk.removed.total() > gone:
                clock.wait(pause)
            gone = walk.removed.total()
            if clock.monotonic() - told >= SECOND:
                told = clock.monotonic()
                say(gone)
    return {state.value: walk.removed[state] for state in keep_of(settings)}


def move(
    url: str, target: str, *, say: Callable[[str, int, int], None], drain: Duration | None = None
) -> dict[str, int]:
    """Move everything into an empty database; rows by table. ``say``: after each page, table, rows there, of how many.

    ``drain``: workers are asked to end and waited for so long, where they are a reason to refuse otherwise.
    Begun before and not finished, it goes on. Raises NoDatabase, MoveRefused, StoreMoved.
    """
    require_database(url)
    return relocate.move(url, target, say=say, drain=drain)


def abandon_move(url: str) -> str:
    """Give up a move that is not finished; where it was to go. Raises NoDatabase, MoveRefused, StoreMoved."""
    require_database(url)
    return relocate.abandon(url)


@contextmanager
def _opened(url: str) -> Iterator[Store]:
    """The store of a database that is there."""
    require_database(url)
    store = Store.open(url)
    try:
        yield store
    finally:
        store.close()
