"""What the process tests share: a world of real processes, judged by its history and ledger on the way out."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests import postgres
from tests.processes.world.driver import World


@pytest.fixture(autouse=True, scope="session")
def heeded_hangup() -> Iterator[None]:
    """Processes inherit what is ignored, and our own honour it: under nohup a hangup would end none of them."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def working(request: pytest.FixtureRequest) -> Iterator[World]:
    """A world with a worker, on each engine, for tests that have it run jobs of their own and leave nothing behind."""
    with ExitStack() as kept:
        url = ""
        if request.param == "postgres":
            databases: postgres.Databases = request.getfixturevalue("postgres_databases")
            name = databases.take()
            kept.callback(databases.give_back, name)
            url = databases.server.url(name)
        one = kept.enter_context(World(url))
        one.worker()
        yield one
        one.judge()


@pytest.fixture
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """A platform of its own; what must hold whatever happened is checked afterwards. See world/engines.py."""
    url = request.getfixturevalue("postgres_url") if getattr(request, "param", "sqlite") == "postgres" else ""
    with World(url) as one:
        yield one
        one.judge()
