"""What the process tests share: a world of real processes, judged by its history and ledger on the way out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.processes.world.driver import World


@pytest.fixture
def world() -> Iterator[World]:
    """A platform of its own; what must hold whatever happened is checked afterwards."""
    with World() as one:
        yield one
        one.judge()
