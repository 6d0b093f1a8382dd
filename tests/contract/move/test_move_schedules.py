"""``db move`` of a store that has schedules: they arrive by name, with all that was decided, and go on there."""

from __future__ import annotations

from typing import Any

import pytest

from mainspring.client.database import export_ticks
from mainspring.clock import MINUTE, Duration, Instant
from mainspring.control import schedules
from mainspring.domain.backfill import BackfillRequest
from mainspring.domain.timetable import Outcome, Schedule
from mainspring.engine.fire import Fire
from mainspring.store import Store
from mainspring.store.audit import misfits
from mainspring.store.relocate import move
from tests.contract.engines import Bench
from tests.contract.move.ends import Ends, goodbye, quiet, url_of
from tests.contract.stories import Story
from tests.contract.test_schedules import after, put, turn

Whole = tuple[list[Schedule], list[dict[str, Any]], list[Any]]


def whole(url: str) -> Whole:
    """Schedules by name, their ticks as they are exported, and their backfills."""
    told: list[dict[str, Any]] = []
    export_ticks(url, told.append)
    store = Store.open(url)
    try:
        names = [one.name for one in schedules.listed(store)]
        return schedules.listed(store), told, [schedules.listed_backfills(store, name) for name in names]
    finally:
        store.close()


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_schedules_arrive_by_name_with_every_tick_and_come_back(
    story: Story, bench: Bench, ends: Ends, engine: str
) -> None:
    put(story, "allowed", overlap="allow", tags={"city": "Zürich"}, description="it's \\ \t ☃")
    put(story, "waiting", overlap="buffer_one")
    put(story, "nightly", {"cron": "0 3 * * *", "tz": "Europe/Berlin"}, jitter="10m", limit=3)
    put(story, "gone")
    for _ in range(3):
        after(story, MINUTE)
    now = story.clock.now()
    schedules.trigger(story.store, "allowed", actor="ann")
    schedules.pause(story.store, "nightly", note="stocktaking", actor="ann")
    schedules.remove(story.store, "gone", actor="ann")
    filling = BackfillRequest(Instant(now - 90 * MINUTE), Instant(now - 80 * MINUTE), at_once=3)
    schedules.backfill(story.store, "allowed", filling, actor="ann")
    turn(story)
    goodbye(story)
    before = whole(url_of(bench))
    assert {tick["outcome"] for tick in before[1]} == {Outcome.FIRED, Outcome.WAITING, Outcome.SKIPPED}
    there = ends.empty(engine)
    move(url_of(bench), there, say=quiet)
    assert whole(there) == before
    back = ends.empty(bench.dialect)
    move(there, back, say=quiet)
    assert whole(back) == before
    store = Store.open(back, clock=story.clock)
    try:
        story.clock.forward(Duration(MINUTE))
        Fire(store, story.clock).turn()
        fired = [tick["at"] for tick in whole(back)[1] if (tick["schedule"], tick["origin"]) == ("allowed", "regular")]
        assert len(set(fired)) == len(fired) == 4, "it goes on, and repeats nothing"
        assert store.read(misfits) == []
    finally:
        store.close()
