"""What goes in and comes out of jobs, at the edges: NUL and other characters, large values, floods of output."""

from __future__ import annotations

from pathlib import Path

import pytest

from mainspring.domain.states import Outcome, State
from mainspring.errors import InvalidText, PayloadTooLarge
from tests.processes.world.driver import World
from tests.processes.world.engines import both_engines

MEBIBYTE = 1_048_576
ODD = [
    "",
    " ",
    "\u202e\u0007",
    "Ⅷ grüße 日本語 🎉",
    "-",
    "'; drop table job; --",
    "<script>alert(1)</script>",
    "{{7*7}}",
    "a\nb\r\n",
]


@both_engines
def test_nul_is_refused_in_parameters_and_fails_a_result_and_any_other_text_comes_back_as_it_went_in(
    world: World,
) -> None:
    world.worker()
    with pytest.raises(InvalidText):
        world.submit("echo", value="a\0b")
    assert world.count() == 0
    job = world.submit("nul")
    ended = world.until_state(job, State.DEAD)
    assert world.outcomes(job) == [Outcome.FAILED], "at its first attempt"
    assert ended.error is not None
    assert "NUL" in ended.error.message
    assert "printed" in world.log_of(job), "a printed NUL is kept or marked, and stops nothing"
    jobs = world.submit_many("echo", [{"value": text} for text in ODD])
    assert set(world.until_ended(jobs).values()) == {State.SUCCEEDED}
    assert [world.job(job).result for job in jobs] == ODD
    assert [world.job(job).params["value"] for job in jobs] == ODD


def test_sizes_have_a_stated_limit_in_and_out(working: World) -> None:
    with pytest.raises(PayloadTooLarge):
        working.submit("echo", value="x" * (2 * MEBIBYTE))
    largest = working.submit("echo", value="x" * (MEBIBYTE - 100))
    fits, over = working.submit("big", size=MEBIBYTE - 100), working.submit("big", size=MEBIBYTE + 1)
    assert len(working.until_state(largest, State.SUCCEEDED).result) == MEBIBYTE - 100
    assert len(working.until_state(fits, State.SUCCEEDED).result) == MEBIBYTE - 100
    ended = working.until_state(over, State.DEAD)
    assert ended.error is not None
    assert "1,048,576" in ended.error.message


def test_20_mb_of_alternating_output_block_nobody_and_are_cut_with_a_mark(working: World) -> None:
    line = "x" * 99
    script = f"i=0; while [ $i -lt 50 ]; do yes {line} | head -n 2000; yes {line} | head -n 2000 >&2; i=$((i+1)); done"
    (job,) = working.submit_many("shell", [{"script": script}], timeout="60s")
    working.until_state(job, State.SUCCEEDED, within=40)
    lines = working.lines_of(job)
    kept = sum(len(one.text) + 1 for one in lines)
    assert 9 * MEBIBYTE <= kept <= 11 * MEBIBYTE
    assert any(one.stream == "mainspring" for one in lines), "the cut is marked"


def test_what_was_printed_before_a_kill_can_be_read(working: World) -> None:
    script = "i=0; while [ $i -lt 1000 ]; do echo line $i; i=$((i+1)); done; kill -9 $$"
    job = working.submit("shell", script=script)
    working.until_state(job, State.DEAD)
    assert working.outcomes(job) == [Outcome.CRASHED]
    assert [one.text for one in working.lines_of(job) if one.stream == "stdout"] == [f"line {i}" for i in range(1000)]


def test_a_flood_of_output_is_bounded_and_leaves_the_worker_small(world: World) -> None:
    worker = world.worker("small")
    (job,) = world.submit_many("shell", [{"script": f"yes {'y' * 2000}"}], timeout="3s", retry={"max_attempts": 1})
    world.until_state(job, State.DEAD)
    assert world.outcomes(job) == [Outcome.TIMED_OUT]
    kept = sum(len(one.text) + 1 for one in world.lines_of(job))
    assert kept <= 11 * MEBIBYTE
    for pid in (worker.pid, world.runner_of("small")):
        assert resident(pid) < 200 * MEBIBYTE


def resident(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
