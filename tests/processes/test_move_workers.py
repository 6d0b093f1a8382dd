"""``db move --drain`` between engines, with real workers at both ends and jobs that run when it begins."""

from __future__ import annotations

import pytest

from mainspring.domain.states import State
from tests.processes.world.driver import World


@pytest.mark.parametrize("to", ["sqlite", "postgres"])
def test_workers_of_the_source_end_their_jobs_and_those_of_the_target_go_on(
    world: World, postgres_url: str, to: str
) -> None:
    file = f"sqlite:///{world.folder}/moved.db"
    world.url, target = (world.url, postgres_url) if to == "postgres" else (postgres_url, file)
    old = [world.worker("alpha", ready=False, slots=2), world.worker("beta", slots=2)]
    jobs = world.submit_many("nap", [{"seconds": 0.5}] * 100)  # 12 s of work: more than the command takes to begin
    later = world.submit_many("quick", [{}], delay="3s")
    world.started(jobs[0])
    moved = world.command("db", "move", target, "--drain")
    assert moved.returncode == 0, moved.stderr
    assert [one.wait() for one in old] == [0, 0], [one.said for one in old]
    late = world.worker("late", ready=False)
    assert late.wait() == 5, late.said
    assert "was moved to" in late.said
    assert f"--db {target.partition('?')[0]}" in late.said, "what it tells can be typed"

    world.settle(target)
    assert {job.state for job in map(world.job, jobs)} == {State.SUCCEEDED, State.QUEUED}, "no job was cut short"
    new = world.worker("gamma")
    assert set(world.until_ended([*jobs, *later]).values()) == {State.SUCCEEDED}
    assert all(len(world.attempts(job)) == 1 for job in jobs)
    assert {world.job(job).worker for job in jobs} > {"gamma"}, "who ran a job before the move is known after it"
    world.judge()
    assert new.stop() == 0
