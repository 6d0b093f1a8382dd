"""A fresh store in memory, from an image of one that was made once: a world per seed must not migrate each time."""

from __future__ import annotations

from functools import cache

from mainspring.chance import Chance, SeededChance
from mainspring.clock import Clock
from mainspring.domain.task import Catalog
from mainspring.store import BINARY, Store, catalog
from mainspring.store.doorbell import Doorbell
from mainspring.store.logs import LogBook
from mainspring.store.migrate import upgrade
from mainspring.store.sqlite import SqliteEngine
from mainspring.testing.virtual import VirtualClock


@cache
def _image(kind: str) -> bytes:
    engine = SqliteEngine(":memory:", clock=VirtualClock(), chance=SeededChance(0), inline=True)
    upgrade(engine, kind, binary=BINARY)
    data: bytes = engine.raw.serialize("main")
    engine.close()
    return data


def fresh_store(clock: Clock, chance: Chance, *declared: Catalog) -> Store:
    """An empty store in memory to which these catalogs were declared, the oldest first.

    Only its first caller in a process pays for the migrations.
    """
    engine, logs = (SqliteEngine(":memory:", clock=clock, chance=chance, inline=True) for _ in range(2))
    engine.raw.deserialize("main", _image("sqlite"))
    logs.raw.deserialize("main", _image("logs"))
    store = Store(engine, LogBook(lambda: logs), Doorbell(None, "work"), Doorbell(None, "news"))
    for one in declared:
        store.write(lambda tx, one=one: catalog.declare(tx, one))  # type: ignore[misc]
    return store
