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
from typing import TYPE_CHECKING, TypeVar

from mainspring import faults, request
from mainspring.chance import Chance, SystemChance
from mainspring.clock import Clock, SystemClock
from mainspring.domain.address import is_postgres, shown
from mainspring.domain.borrowed import Borrowed
from mainspring.errors import StoreUnreachable
from mainspring.faults import FaultPoint
from mainspring.store.bell import Bell
from mainspring.store.doorbell import Doorbell
from mainspring.store.log_file import log_book
from mainspring.store.logs import LogBook
from mainspring.store.migrate import upgrade
from mainspring.store.sqlite import SqliteEngine
from mainspring.store.transaction import Engine, Sent, Transaction

if TYPE_CHECKING:
    from mainspring.store.postgres import PostgresEngine

BINARY = "0.1.0"

T = TypeVar("T")

__all__ = ["Store", "Transaction", "database_path"]


def database_path(url: str) -> str:
    """The file that a ``sqlite:///`` URL names, or ``:memory:``. Raises StoreUnreachable for other URLs."""
    if url in {"sqlite://:memory:", "sqlite:///:memory:", "sqlite://"}:
        return ":memory:"
    if url.startswith("sqlite:///") and len(url) > len("sqlite:///"):
        return url.removeprefix("sqlite:///")
    raise StoreUnreachable(
        f"{shown(url)!r} is not a database URL.",
        remedy="Write sqlite:///relative/path.db, sqlite:////absolute/path.db or postgresql://user@host/database",
    )


def postgres_engine(url: str, clock: Clock | None, chance: Chance, *, inline: bool) -> PostgresEngine:
    """An engine on a PostgreSQL database, whatever its tables are. Raises StoreUnreachable without the driver."""
    try:
        from mainspring.store.postgres import PostgresEngine
        from mainspring.store.postgres_place import place_of
    except ImportError as error:
        raise StoreUnreachable(
            f"PostgreSQL needs a driver that is not installed: {error}.",
            remedy="In the clone that mainspring came from: pip install '.[postgres]'",
        ) from error
    return PostgresEngine(place_of(url), clock=clock, chance=chance, inline=inline)


class Store:
    """An open store. Safe to use from several threads; not across a fork.

    ``declarations``: tasks as this process last saw them in the catalog, by full and by short name. Whoever relies on
    one checks it in the transaction. ``debt``: early commits that whoever puts off the wait for the disk must settle.
    """

    def __init__(
        self, engine: Engine, logs: LogBook, work_bell: Bell, news_bell: Bell, close: Callable[[], None] | None = None
    ) -> None:
        self.engine = engine
        self.logs = logs
        self.clock = engine.clock
        self.chance = engine.chance
        self.debt = engine.debt
        self.declarations: dict[str, str] = {}
        self.work_bell = work_bell
        self.news_bell = news_bell
        self._close_bells = close

    @classmethod
    def open(cls, url: str, *, clock: Clock | None = None, chance: Chance | None = None, inline: bool = False) -> Store:
        """Open the database, making and upgrading it where needed.

        ``clock``: instead of the time of the database (SQLite: of the machine). ``inline``: for a process with one
        loop: SQLite's writes run on the caller's thread, and an outage is told at once instead of waited out.
        Raises the StoreError that fits.
        """
        chance = chance or SystemChance()
        if is_postgres(url):
            return cls._on_postgres(url, clock, chance, inline=inline)
        path = database_path(url)
        clock = clock or SystemClock()
        engine = SqliteEngine(path, clock=clock, chance=chance, inline=inline)
        try:
            upgrade(engine, "sqlite", binary=BINARY)
            logs = log_book(path, clock=clock, chance=chance, binary=BINARY)
        except BaseException:
            engine.close()
            raise
        place = None if engine.memory else Path(f"{path}.bells")
        bells = Doorbell(place, "work"), Doorbell(place, "news")

        def close_bells() -> None:
            for bell in bells:
                bell.close()

        return cls(engine, logs, *bells, close_bells)

    @classmethod
    def _on_postgres(cls, url: str, clock: Clock | None, chance: Chance, *, inline: bool) -> Store:
        engine = postgres_engine(url, clock, chance, inline=inline)
        from mainspring.store import postgres_schema
        from mainspring.store.postgres_bell import Notices

        try:
            postgres_schema.prepare(engine, binary=BINARY)
        except BaseException:
            engine.close()
            raise
        notices = Notices(engine, chance)
        return cls(engine, LogBook(lambda: engine), notices.bell("work"), notices.bell("news"), notices.close)

    def write(  # noqa: PLR0913 - what may surround a commit
        self,
        work: Callable[[Transaction], T],
        *,
        before: FaultPoint | None = None,
        after: FaultPoint | None = None,
        rings: Bell | None = None,
        early: bool = False,
        news: bool = False,
    ) -> T:
        """Run ``work`` in a write transaction; its value is returned once the commit is durable.

        ``work`` may run again when it met with others, and the last time counts. ``before`` and ``after`` name the
        fault points around the commit. ``rings``: a bell for those who will write on hearing it. Where one writes at a
        time they wake up meanwhile and wait at the lock, so none comes too early; elsewhere it is rung behind the
        commit. ``early``: for short writes that nobody answers for before they are durable; others may build on them
        while the disk still writes, and what these make durable includes it. ``news``: behind it the news bell is rung.
        """
        inside = rings if self.engine.one_writer else None
        if request.current():
            work = request.within(work)  # it may run in a thread that writes for all

        def rung_first(tx: Transaction) -> T:
            if inside is not None and early:
                inside.ring()
            return work(tx)

        def before_commit() -> None:
            if before is not None:
                faults.hit(before)
            if inside is not None and not early:
                inside.ring()

        behind = None if rings is None or inside is not None else rings.behind(self.news_bell if news else None)
        value = self.engine.write(rung_first, before_commit=before_commit, early=early, behind=behind)
        told = behind is not None and behind.told
        if rings is not None and inside is None:
            rings.ring(told=told)
        if after is not None:
            faults.hit(after)
        if news:
            self.news_bell.ring(told=told)
        return value

    def send(self, work: Callable[[Transaction], T], *, before: FaultPoint) -> Sent[T]:
        """Where the engine ``sends``: a write transaction for which nobody waits yet. ``before`` its commit.

        Raises what ``work`` raised, and the StoreError that fits, with nothing changed.
        """
        return self.engine.send(work, before_commit=lambda: faults.hit(before))

    def within(self, borrowed: Borrowed, work: Callable[[Transaction], T]) -> T:
        """Run ``work`` in the transaction that the caller's own connection is in, and leave the commit to him.

        Bells ring behind the commit where that can be known; else polling finds what is new. Raises InvalidOption for a
        connection that can't be used, and what the caller's driver raises.
        """

        def committed() -> None:
            self.work_bell.ring()
            self.news_bell.ring()

        return self.engine.within(borrowed, work, committed)

    def read(self, work: Callable[[Transaction], T], *, latest: bool = False) -> T:
        """Run ``work`` on a snapshot of every commit so far; ``latest``: each statement sees those up to then."""
        return self.engine.read(work, latest=latest)

    def settle_in(self) -> None:
        """For a process that stays and commits often: what makes each of its commits cheaper, done once."""
        self.engine.settle_in()

    def close(self) -> None:
        """Finish what is queued and close every connection."""
        if self._close_bells is not None:
            self._close_bells()
        self.engine.close()
        self.logs.close()
