"""Where stores are moved from and to: a source that was last written yesterday, and addresses of new targets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mainspring.clock import DAY, SystemClock
from tests import postgres
from tests.contract.engines import Bench, PostgresBench, SqliteBench
from tests.contract.move.ends import Ends


@pytest.fixture
def ends(tmp_path: Path, postgres_server: postgres.Server) -> Ends:
    return Ends(tmp_path, postgres_server)


@pytest.fixture(params=["sqlite", "postgres"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """The source. A move knows no variants of an engine; it reads files and databases."""
    made: Bench
    if request.param == "sqlite":
        made = SqliteBench(tmp_path)
    else:
        made = PostgresBench(tmp_path, request.getfixturevalue("postgres_databases"))
    made.clock.jump(SystemClock().now() - made.clock.now() - DAY)
    yield made
    made.close()
