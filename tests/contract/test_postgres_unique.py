"""Unique keys where writers meet: only PostgreSQL has more than one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mainspring.clock import MINUTE
from mainspring.domain.states import State
from tests import postgres
from tests.contract.engines import PostgresBench, asked, by_hand
from tests.contract.stories import Story
from tests.contract.test_unique import sweep_for


@pytest.fixture
def story(tmp_path: Path, postgres_databases: postgres.Databases) -> Iterator[Story]:
    """On PostgreSQL, whatever else there is."""
    bench = PostgresBench(tmp_path, postgres_databases)
    yield Story(bench)
    bench.close()


def test_a_sweep_waits_for_nobody_who_takes_a_key_over(story: Story) -> None:
    job = story.bring(State.SUCCEEDED, unique="k")
    other = story.bench.open()

    def long_submit(tx: Any) -> None:
        by_hand(tx, "select 1 from unique_key for update")  # or it would not be sent yet
        sweep_for(story, 2 * MINUTE)

    other.write(long_submit)
    assert asked(story.store, "select job from unique_key") == [(job,)]
    sweep_for(story, 2 * MINUTE)
    assert asked(story.store, "select job from unique_key") == []
