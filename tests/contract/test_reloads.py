"""A configuration that is read anew, again and again around the second in which schedules fire (field report B209)."""

from __future__ import annotations

from pathlib import Path

import pytest

from mainspring.clock import MINUTE, SECOND, Duration, Instant, SystemClock
from mainspring.config.layers import load
from mainspring.config.live import Live
from mainspring.control import declared_schedules, queues
from mainspring.engine.fire import Fire
from mainspring.server.app import _shared
from mainspring.server.file_schedules import FileSchedules
from mainspring.server.heeding import Heeding
from tests.contract.stories import Story
from tests.contract.test_schedules import found, jobs

MINUTES = 5
AROUND = (-SECOND, -1, 0, 1)
"""When the file changes, from the second 0 of each minute."""


def text(limit: int) -> str:
    """A file with a minute schedule, a limit, and a setting that the scheduler itself goes by."""
    return (
        f'keep_ticks = "{30 + limit}d"\n[queue.shop]\nlimit = {limit}\n'
        '[schedules.pulse]\ncron = "* * * * *"\ntask = "send"\noverlap = "allow"\n'
    )


@pytest.mark.parametrize("bench", ["sqlite", "postgres"], indirect=True)
def test_reloads_around_the_second_0_lose_and_double_no_tick(story: Story, tmp_path: Path) -> None:
    file = tmp_path / "mainspring.toml"
    file.write_text(text(1))
    said: list[str] = []
    live = Live(load(environment={}, directory=tmp_path, flags={}), said.append)
    filed = FileSchedules(lambda stated: declared_schedules.declare(story.store, stated), said.append)
    live.reads(filed.read)
    fire = Fire(story.store, story.clock)
    adopted: list[Duration] = []

    def adopt(now: object) -> None:
        adopted.append(live.settings.keep_ticks)
        fire.adopt(live.settings.keep_ticks)

    heeding = Heeding(live, _shared(story.store, "file", filed.take), adopt)
    heeding.turn()
    first = story.clock.now() // MINUTE + 1
    took: list[int] = []
    limit = 1
    for minute in range(first, first + MINUTES):
        for offset in AROUND:
            story.clock.forward(Instant(minute * MINUTE + offset) - story.clock.now())
            limit += 1
            file.with_suffix(".new").write_text(text(limit))
            file.with_suffix(".new").replace(file)
            began = SystemClock().monotonic()
            heeding.turn()
            took.append(SystemClock().monotonic() - began)
            fire.turn()
            assert {one.name: one.limit for one in queues.listed(story.store)}["shop"] == limit, said
    fire.turn()
    assert [tick.nominal // MINUTE for tick in found(story)] == list(range(first, first + MINUTES))
    assert {tick.outcome.value for tick in found(story)} == {"fired"}
    assert len(jobs(story)) == MINUTES
    assert len(adopted) == len(took) == MINUTES * len(AROUND)
    assert sorted(took)[len(took) // 2] < SECOND
