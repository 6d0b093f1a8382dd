"""The store: the only truth and the only meeting point of all processes; the only place with SQL.

Promises
- ``write(work)`` runs a function of a transaction and answers after the durable commit, or raises with nothing changed.
- A transition is a move between places (moves.py); a move that finds no row changes nothing and is answered ``fenced``.
- Operations take lists; nobody above knows the engine, and no engine error leaves this package untranslated.

Read first: moves.py, jobs.py, sqlite.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from mainspring import faults
from mainspring.chance import Chance, SystemChance
from mainspring.clock import Clock, SystemClock
from mainspring.errors import StoreUnreachable
from mainspring.faults import FaultPoint
from mainspring.store.doorbell import Doorbell
from mainspring.store.logs import LogBook
from mainspring.store.migrate import upgrade
from mainspring.store.sqlite import SqliteEngine, Transaction

BINARY = "0.1.0"

T = TypeVar("T")

__all__ = ["Store", "Transaction", "database_path"]


def database_path(url: str) -> str:
    """The file that a ``sqlite:///`` URL names, or ``:memory:``. Raises StoreUnreachable for other URLs."""
    if url in {"sqlite://:memory:", "sqlite:///:memory:", "sqlite://"}:
        return ":memory:"
    if url.startswith("sqlite:///") and len(url) > len("sqlite:///"):
        return url.removeprefix("sqlite:///")
    if url.startswith(("postgresql://", "postgres://")):
        raise StoreUnreachable(
            "PostgreSQL is not supported by this version of mainspring.",
            remedy="Use a SQLite file: --db sqlite:///.mainspring/mainspring.db",
        )
    raise StoreUnreachable(
        f"{url!r} is not a database URL.", remedy="Write sqlite:///relative/path.db or sqlite:////absolute/path.db"
    )


class Store:
    """An open store. Safe to use from several threads; not across a fork.

    ``declarations``: tasks as this process last saw them in the catalog, by full name. Whoever relies on one checks it
    in the transaction.
    """

    def __init__(self, engine: SqliteEngine, logs: LogBook, doorbells: Path | None) -> None:
        self.engine = engine
        self.logs = logs
        self.clock = engine.clock
        self.chance = engine.chance
        self.declarations: dict[str, str] = {}
        self.work_bell = Doorbell(doorbells, "work")
        self.news_bell = Doorbell(doorbells, "news")

    @classmethod
    def open(cls, url: str, *, clock: Clock | None = None, chance: Chance | None = None, inline: bool = False) -> Store:
        """Open the database, making and upgrading it where needed.

        ``inline``: writes run on the caller's thread (a process with one loop) instead of on a writer thread.
        Raises the StoreError that fits.
        """
        path = database_path(url)
        clock, chance = clock or SystemClock(), chance or SystemChance()
        engine = SqliteEngine(path, clock=clock, chance=chance, inline=inline)
        try:
            upgrade(engine, "sqlite", binary=BINARY)
            logs = LogBook.beside(path, clock=clock, chance=chance, binary=BINARY)
        except BaseException:
            engine.close()
            raise
        return cls(engine, logs, None if engine.memory else Path(f"{path}.bells"))

    def write(
        self,
        work: Callable[[Transaction], T],
        *,
        before: FaultPoint | None = None,
        after: FaultPoint | None = None,
        rings: Doorbell | None = None,
    ) -> T:
        """Run ``work`` in a write transaction; its value is returned once the commit is durable.

        ``before`` and ``after`` name the fault points around the commit. ``rings``: a bell for those who will write on
        hearing it. They wake up while the disk writes and wait at the lock, so none comes too early.
        """

        def before_commit() -> None:
            if before is not None:
                faults.hit(before)
            if rings is not None:
                rings.ring()

        value = self.engine.write(work, before_commit=before_commit)
        if after is not None:
            faults.hit(after)
        return value

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run ``work`` on a snapshot that sees every commit so far."""
        return self.engine.read(work)

    def close(self) -> None:
        """Finish what is queued and close every connection."""
        self.engine.close()
        self.logs.close()
