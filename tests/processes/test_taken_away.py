"""Files that somebody removes under a running platform: bells are hung again, output goes on, and it is said."""

from __future__ import annotations

import shutil
from pathlib import Path

from mainspring.domain.states import State
from tests.patience import slowness
from tests.processes.world.driver import World


def test_removed_bells_are_hung_again_so_that_a_job_starts_at_once(world: World) -> None:
    world.worker(poll="3s")
    bells = Path(f"{world.database}.bells")
    shutil.rmtree(bells)
    world.eventually(lambda: bells.is_dir() and len(list((bells / "work").iterdir())) == 1, what="bells as before")
    for _ in range(3):
        told_at = world.now()
        job = world.submit("quick")
        assert world.started(job).at - told_at < 1.5 * slowness(), "it must not wait for the next poll"
        world.until_state(job, State.SUCCEEDED)


def test_whoever_waits_for_news_hears_again_after_the_bells_were_removed(world: World) -> None:
    world.worker()
    job = world.submit("nap", seconds=2.5)
    listening = world.start("submit", "nap", "seconds=2.5", "--wait")
    bells = Path(f"{world.database}.bells")
    world.eventually(lambda: len(list((bells / "news").iterdir())) == 2, what="two who listen")
    shutil.rmtree(bells)
    world.eventually(
        lambda: (bells / "news").is_dir() and len(list((bells / "news").iterdir())) == 2, what="both again"
    )
    world.until_state(job, State.SUCCEEDED)
    assert listening.wait() == 0


def test_a_log_file_that_is_removed_is_made_anew_and_the_system_log_says_so(world: World) -> None:
    worker = world.worker()
    world.until_state(first := world.submit("echo", value="before"), State.SUCCEEDED)
    assert world.log_of(first) == "before\n"
    for path in world.folder.glob("m.logs.db*"):
        path.unlink()
    world.until_state(world.submit("nap", seconds=1.1), State.SUCCEEDED)
    world.until_state(second := world.submit("echo", value="after"), State.SUCCEEDED)
    assert world.log_of(second) == "after\n"
    assert world.log_of(first) == ""
    assert "m.logs.db was removed or replaced while it was open" in worker.said


def test_a_log_file_that_is_moved_away_keeps_what_it_had_and_a_new_one_goes_on(world: World) -> None:
    world.worker()
    world.until_state(world.submit("echo", value="before"), State.SUCCEEDED)
    for path in world.folder.glob("m.logs.db*"):
        path.rename(world.folder / f"kept-{path.name}")
    world.until_state(world.submit("nap", seconds=1.1), State.SUCCEEDED)
    world.until_state(job := world.submit("echo", value="after"), State.SUCCEEDED)
    assert world.command("logs", str(job)).stdout == "after\n"
