"""Every test of the contract runs on every engine: ask for ``bench`` (the engine) or ``story`` (a store with life)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from mainspring.store import Store
from tests.contract.engines import ENGINES, Bench, PooledPostgresBench, PostgresBench
from tests.contract.stories import Story

settings.register_profile(
    "contract", deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("contract")


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
