"""``connection=`` inside a job, on a real worker: the child is stored in the transaction of a connection of the job."""

from __future__ import annotations

from pathlib import Path

import pytest

from mainspring.domain.job import JobFilter
from mainspring.domain.states import State
from mainspring.errors import UnknownJob
from tests.processes.world.driver import World

PROGRAM = """
import psycopg
from mainspring import Mainspring, Retry

URL = {url!r}
app = Mainspring("orders"{named})


@app.task
async def receipt(order: int) -> int:
    return order


@app.task(retry=Retry(max_attempts=1))
def book(order: int, keep: bool) -> int:
    with psycopg.connect(URL) as connection:
        child = receipt.submit(order=order, connection=connection).id
        if not keep:
            connection.rollback()
    return child
"""


def worker(world: World, url: str, named: str = "") -> None:
    world.url = url
    file = Path(world.folder) / "orders.py"
    file.write_text(PROGRAM.format(url=url, named=named))
    world.start("worker", "--app", str(file), "--name", "alpha")
    world.eventually(lambda: "alpha" in world.active(), what="the worker")


def book(world: World, keep: str) -> int:
    said = world.command("submit", "book", "order=7", f"keep={keep}", "--json")
    assert said.returncode == 0, said.stderr
    return max(world.client.jobs(JobFilter(task="orders.book")).items, key=lambda job: job.id).id


def test_what_a_job_submits_in_its_own_transaction_is_there_when_that_is_committed(
    world: World, postgres_url: str
) -> None:
    worker(world, postgres_url, ", database_url=URL")
    kept, dropped = book(world, "true"), book(world, "false")
    assert set(world.until_ended([kept, dropped]).values()) == {State.SUCCEEDED}, world.log_of(kept)
    child = world.job(kept).result
    assert world.until_state(child, State.SUCCEEDED).parent == kept
    with pytest.raises(UnknownJob):
        world.job(world.job(dropped).result)


def test_an_app_that_does_not_name_its_database_is_told_to(world: World, postgres_url: str) -> None:
    worker(world, postgres_url)
    job = book(world, "true")
    assert world.until_ended([job]) == {job: State.DEAD}
    error = world.job(job).error
    assert error is not None
    assert "database_url" in error.message, error
