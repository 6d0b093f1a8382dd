"""What the tests of lost connections share: a store behind a proxy that misbehaves, and eyes that need no proxy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg

from mainspring.chance import SystemChance
from mainspring.clock import Duration
from mainspring.store import Store
from mainspring.store.logs import LogBook
from mainspring.store.postgres import Limits, PostgresEngine
from mainspring.store.postgres_bell import Notices
from mainspring.store.postgres_place import place_of
from tests import postgres
from tests.contract.engines import PostgresBench
from tests.proxy import Proxy


class ProxiedBench(PostgresBench):
    """A database whose store goes through a proxy."""

    name = "postgres-proxied"

    def __init__(self, place: Path, databases: postgres.Databases, proxy: Proxy) -> None:
        super().__init__(place, databases)
        self.direct = self.url
        self.url = f"{self.server.tcp_url(self.database, port=proxy.port)}?connect_timeout=2"

    def ask(self, text: str) -> list[tuple[Any, ...]]:
        """What a stranger sees, without the proxy."""
        with psycopg.connect(f"{self.direct}&options=-csearch_path%3Dmainspring", autocommit=True) as connection:
            return connection.execute(text.encode()).fetchall()


def store_with(url: str, limits: Limits, *, patience: Duration | None = None, inline: bool = False) -> Store:
    """A store whose transactions have less time than usual."""
    more = {} if patience is None else {"patience": patience}
    chance = SystemChance()
    engine = PostgresEngine(place_of(url), clock=None, chance=chance, inline=inline, limits=limits, **more)
    notices = Notices(engine, chance)
    return Store(engine, LogBook(lambda: engine), notices.bell("work"), notices.bell("news"), notices.close)


def note(store: Store, word: str) -> None:
    """One write that leaves a row which can be counted."""
    store.write(lambda tx: tx.rows("policy/insert", document=word))


__all__ = ["ProxiedBench", "note", "store_with"]
