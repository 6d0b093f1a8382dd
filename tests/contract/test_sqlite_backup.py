"""Backups of a SQLite store: whole, of one moment, while others write; or none, and nothing left behind."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from mainspring.domain.attempt import Attempt
from mainspring.domain.ids import JobId
from mainspring.domain.job import Job
from mainspring.domain.logline import LogChunk
from mainspring.domain.states import State
from mainspring.errors import BackupRefused, StoreCorrupt, StoreUnreachable
from mainspring.store import Store, export
from mainspring.store.backup import back_up
from mainspring.store.check import Level, check
from tests.contract.engines import SqliteBench
from tests.contract.stories import Story


@pytest.fixture
def bench(tmp_path: Path):
    made = SqliteBench(tmp_path)
    yield made
    made.close()


def exported(store: Store) -> list[tuple[Job, list[Attempt]]]:
    found: list[tuple[Job, list[Attempt]]] = []
    export.jobs(store, lambda job, tried: found.append((job, tried)))
    return found


def test_a_backup_opens_as_a_store_with_the_same_jobs_and_their_output(story: Story, bench: SqliteBench) -> None:
    jobs = [story.bring(state) for state in State if state is not State.NEW]
    story.store.logs.append(
        [(JobId(jobs[0]), 1, 1, LogChunk(at=story.clock.now(), stream="stdout", level="info", text="hello\n"))]
    )
    target = bench.place / "copy.db"
    assert back_up(bench.url, target) == [target, bench.place / "copy.logs.db"]
    copy = Store.open(f"sqlite:///{target}")
    assert exported(copy) == exported(story.store)
    assert [line.text for line in copy.logs.lines(jobs[0], attempt=None, after=0, limit=10)] == ["hello"]
    copy.close()


def test_a_backup_amid_writes_is_of_one_moment_and_holds_nobody_up(story: Story, bench: SqliteBench) -> None:
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            story.bring(State.SUCCEEDED)

    busy = threading.Thread(target=work)
    busy.start()
    try:
        for number in range(3):
            back_up(bench.url, bench.place / f"{number}.db")
    finally:
        stop.set()
        busy.join()
    for number in range(3):
        copy = Store.open(f"sqlite:///{bench.place / f'{number}.db'}", clock=story.clock)
        assert {one.level for one in check(copy)} == {Level.OK}
        copy.close()


def test_what_is_there_already_is_never_overwritten(story: Story, bench: SqliteBench) -> None:
    for taken in ("copy.db", "copy.logs.db"):
        (bench.place / taken).write_text("precious")
        with pytest.raises(BackupRefused, match=f"{taken} is there already"):
            back_up(bench.url, bench.place / "copy.db")
        assert (bench.place / taken).read_text() == "precious"
        (bench.place / taken).unlink()


def test_a_backup_that_fails_leaves_nothing(story: Story, bench: SqliteBench) -> None:
    with pytest.raises(StoreUnreachable, match="no directory"):
        back_up(bench.url, bench.place / "gone" / "copy.db")
    before = set(bench.place.iterdir())
    story.store.close()
    (bench.place / "m.logs.db").write_bytes(b"not a database, but long enough to be taken for one" * 100)
    with pytest.raises(StoreCorrupt):
        back_up(bench.url, bench.place / "copy.db")
    left = {path for path in bench.place.iterdir() if not path.name.endswith(("-wal", "-shm"))}
    assert left <= before


def test_postgresql_is_left_to_its_own_tools_and_the_command_is_told() -> None:
    with pytest.raises(BackupRefused) as refused:
        back_up("postgresql://ann:secret@db.example:5433/shop?schema=jobs&sslmode=require", Path("/b/shop dump"))
    assert refused.value.remedy == (
        "pg_dump --format=custom --schema=jobs '--file=/b/shop dump' "
        "'--dbname=postgresql://ann@db.example:5433/shop?sslmode=require'"
    )
