"""What lists and counts show while workers are killed is what is stored, at every look (field report B203)."""

from __future__ import annotations

import re
from typing import Any

import httpx2

from mainspring.domain.job import JobFilter
from mainspring.domain.states import State
from tests.processes.world.driver import World
from tests.processes.world.engines import both_engines

STATES = (State.QUEUED, State.RUNNING, State.SUCCEEDED)
JOBS = 30
FAST: dict[str, Any] = {"lease": "1s", "sweep": "300ms"}


@both_engines
def test_lists_and_counts_follow_workers_that_are_killed(world: World) -> None:
    server = world.server(**FAST)
    workers = [world.worker(f"w{number}", slots=3, **FAST) for number in range(3)]
    address = world.eventually(lambda: re.search(r"listening at (http\S+:\d+)", server.said))[1]
    jobs = world.submit_many("nap", [{"seconds": 0.2}] * JOBS)

    def stored() -> dict[State, dict[int, int]]:
        """The attempts of jobs by state: one that waits again and runs again meanwhile shows by its attempt."""
        found = {state: world.client.jobs(JobFilter(state=state, limit=100)).items for state in STATES}
        return {state: {int(job.id): job.attempt for job in some} for state, some in found.items()}

    compared, killed = 0, 0
    with httpx2.Client(base_url=f"{address}/api/v1/", trust_env=False, timeout=30) as http:

        def told() -> dict[State, set[int]]:
            found = {state: http.get(f"jobs?state={state}&limit=100").json()["items"] for state in STATES}
            return {state: {job["id"] for job in some} for state, some in found.items()}

        def count(state: State) -> int:
            number: int = http.get(f"jobs/count?state={state}").json()["count"]
            return number

        over = False
        while not over:
            before = stored()
            lists, counts = told(), {state: count(state) for state in STATES}
            running = http.get("queues/ledgers").json()["running"]
            if before == stored():  # nothing has moved meanwhile
                compared += 1
                assert lists == {state: set(some) for state, some in before.items()}
                assert counts == {state: len(some) for state, some in before.items()}
                assert running == len(before[State.RUNNING])
            over = len(before[State.SUCCEEDED]) == JOBS
            if killed < 2 and len(before[State.SUCCEEDED]) >= 8 * (killed + 1):
                workers[killed].kill()
                killed += 1
        assert killed == 2
        assert compared >= 5, "some looks fell between two moves"
        assert world.eventually(lambda: [one["running"] for one in http.get("workers").json()["items"]] == [0, 0, 0])
        lost = {one["name"] for one in http.get("workers").json()["items"] if one["state"] == "lost"}
    assert lost == {"w0", "w1"}
    assert set(world.until_ended(jobs).values()) == {State.SUCCEEDED}
