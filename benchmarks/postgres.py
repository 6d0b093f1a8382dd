"""Where a benchmark runs on PostgreSQL: a server of its own on the same disk, with full durability."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Self

import psycopg

from benchmarks.place import Place, Raw
from benchmarks.raw_postgres import RawPostgres
from mainspring.store.sqlite import filesystem
from tests import postgres


class PostgresPlace(Place):
    """A folder with a server; each place has a fresh one."""

    driver: ClassVar[str] = "psycopg"
    pickup: ClassVar[tuple[int, int]] = (5, 20)
    hop: ClassVar[int] = 4
    measured: ClassVar[tuple[str, ...]] = ("enqueue", "drain", "pickup", "chain", "workflows")

    def __enter__(self) -> Self:
        parent = Path(tempfile.gettempdir())
        if filesystem(parent) == "tmpfs":
            parent = Path.cwd()  # memory would flatter every commit
        self._served = Path(tempfile.mkdtemp(prefix="mspg", dir=parent))
        self._served.chmod(0o755)
        (self._served / "server").mkdir()
        self.server = postgres.start(self._served / "server", fsync="on", shared_buffers="256MB", max_wal_size="2GB")
        self.url = self.server.url("postgres")
        return super().__enter__()

    def __exit__(self, *seen: object) -> None:
        super().__exit__(*seen)
        postgres.stop(self.server)
        shutil.rmtree(self._served, ignore_errors=True)

    def raw(self) -> Raw:
        """The same tables, empty, through the plain driver."""
        return RawPostgres(self.url)

    @contextmanager
    def reading(self) -> Iterator[Callable[[str], int]]:
        """A function that answers one number of the database; 0 as long as there is nothing."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("set search_path = mainspring")

            def look(question: str) -> int:
                try:
                    found = connection.execute(question.encode()).fetchone()
                except psycopg.errors.UndefinedTable:
                    return 0  # before the schema is there
                return int(found[0] or 0) if found else 0

            yield look
