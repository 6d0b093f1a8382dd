"""Every test of the contract runs on every engine: ask for ``bench`` (the engine) or ``story`` (a store with life).

But for two. A SQLite file that is written on the caller's thread is what a coordinator has; what no coordinator does is
not tried on it. What differs there is how a transaction comes about; its statements are those of the other two. And
REPEATABLE READ is tried behind the pooler, as neither cares for the other; what is about turns, where transactions
meet, is tried without it too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from mainspring.store import Store
from tests.contract.engines import (
    ENGINES,
    Bench,
    InlineSqliteBench,
    PooledPostgresBench,
    PostgresBench,
    RepeatablePostgresBench,
)
from tests.contract.stories import Story

settings.register_profile(
    "contract", deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("contract")

OF_A_TURN = {
    *("transactions", "claims", "ends", "moves", "waiting", "workers", "costs", "runs", "nesting", "idempotency"),
    "free_slots",
}
"""The files about what a worker's turn writes, or about writing itself: ``test_<these>.py``."""

ONLY_OF_A_TURN = {InlineSqliteBench.name} | (
    {RepeatablePostgresBench.name} if PooledPostgresBench.name in ENGINES else set()
)
"""The engines that no other file needs."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what is not of a turn, on engines that are for that."""
    items[:] = [item for item in items if not _is_idle(item)]


def _is_idle(item: pytest.Item) -> bool:
    params = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return params.get("bench") in ONLY_OF_A_TURN and item.path.stem.removeprefix("test_") not in OF_A_TURN


@pytest.fixture(params=ENGINES)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """One engine, with a clock that is moved by hand."""
    wanted = ENGINES[request.param]
    if issubclass(wanted, PooledPostgresBench):
        behind = request.getfixturevalue("pooler")
        made: Bench = wanted(tmp_path, request.getfixturevalue("postgres_databases"), behind)
    elif issubclass(wanted, PostgresBench):
        made = wanted(tmp_path, request.getfixturevalue("postgres_databases"))
    else:
        made = wanted(tmp_path)
    yield made
    made.close()


@pytest.fixture
def store(bench: Bench) -> Store:
    """An empty store."""
    return bench.open()


@pytest.fixture
def story(bench: Bench) -> Story:
    """A store with an app and a worker."""
    return Story(bench)
