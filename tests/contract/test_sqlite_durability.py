"""What SQLite promises only when it is asked properly: power cuts, full disks, forks, connections that end."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import apsw
import pytest

from mainspring.clock import MINUTE
from mainspring.domain.ids import JobId
from mainspring.domain.job import JobRequest
from mainspring.domain.logline import LogChunk
from mainspring.errors import OutcomeUnknown, StoreBusy, StoreError
from mainspring.store import Store, Transaction
from tests.contract import children
from tests.contract.engines import InlineSqliteBench, SqliteBench, connection_of, engine_of, unsound
from tests.contract.stories import Story
from tests.contract.test_sqlite_open import mounted

# --- power cuts -------------------------------------------------------------------------------------------------------


def power_cuts(tmp_path: Path, synchronous: str) -> tuple[int, int]:
    shadow = tmp_path / synchronous
    shadow.mkdir()
    done = children.run("durable", tmp_path / f"{synchronous}.db", shadow, synchronous, 40)
    assert done.returncode == 0, done.stderr
    missing, unsynced = map(int, done.stdout.split())
    return missing, unsynced


def test_no_acknowledged_job_is_lost_by_a_power_cut_right_after_the_answer(tmp_path: Path) -> None:
    assert power_cuts(tmp_path, "full") == (0, 0)


def test_the_power_cut_would_find_a_commit_that_was_not_synced(tmp_path: Path) -> None:
    missing, unsynced = power_cuts(tmp_path, "normal")
    assert missing > 0
    assert unsynced > 0


def test_others_build_on_a_submit_while_the_disk_writes_and_its_answer_waits_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = SqliteBench(tmp_path)
    story = Story(bench)
    sync = os.fdatasync
    claimed: list[JobId] = []

    def slow_disk(file: int) -> None:
        claimed.extend(story.claim(JobId(1)))
        sync(file)

    monkeypatch.setattr(os, "fdatasync", slow_disk)
    assert story.submit() == 1
    assert claimed == [1]
    bench.close()


@pytest.mark.parametrize("careful", [{"unique": "one"}, {"many": 30}])
def test_a_submit_that_others_may_answer_for_or_that_takes_long_is_on_the_disk_before_they_see_it(
    careful: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = SqliteBench(tmp_path)
    story = Story(bench)
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", synced.append)
    many = careful.pop("many", 1)
    story.submit_many([JobRequest("shop.send", {"order": 7}, **careful)] * many)
    assert not synced, "SQLite itself waits for the disk, with the lock in its hands"
    story.submit()
    assert synced
    bench.close()


def test_a_disk_that_fails_behind_an_early_commit_is_told_as_an_unknown_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = SqliteBench(tmp_path)
    story = Story(bench)

    def broken_disk(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", broken_disk)
    with pytest.raises(OutcomeUnknown):
        story.submit()
    bench.close()


def counted_syncs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", synced.append)
    return synced


def test_who_puts_off_the_wait_for_the_disk_waits_once_for_a_submit_and_its_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = InlineSqliteBench(tmp_path)
    story = Story(bench)
    synced = counted_syncs(monkeypatch)
    debt = story.store.debt
    with debt.put_off():
        job = story.submit()
    assert debt.open
    assert story.state(job).value == "queued"
    assert debt.open, "to look is not to wait"
    assert story.claim(job)
    assert not debt.open, "SQLite itself has waited, for all that the log holds"
    debt.settle()
    assert not synced
    bench.close()


def test_a_submit_that_nothing_follows_is_on_the_disk_when_its_debt_is_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = InlineSqliteBench(tmp_path)
    story = Story(bench)
    synced = counted_syncs(monkeypatch)
    with story.store.debt.put_off():
        story.submit()
    story.store.write(lambda tx: tx.rows("job/forget_expiry", job=0))  # changes nothing, so SQLite waits for nothing
    assert not synced
    story.store.debt.settle()
    assert len(synced) == 1
    story.store.debt.settle()
    assert len(synced) == 1
    story.submit()
    assert len(synced) == 2, "from then on it waits again"
    bench.close()


def test_a_debt_that_a_failed_commit_may_have_spoiled_is_told_as_an_unknown_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = InlineSqliteBench(tmp_path)
    story = Story(bench)
    synced = counted_syncs(monkeypatch)
    debt = story.store.debt
    with debt.put_off():
        job = story.submit()
    raw = engine_of(story.store).raw
    raw.set_commit_hook(lambda: True)  # refuse the commit
    with pytest.raises(StoreError):
        story.claim(job)
    raw.set_commit_hook(None)
    story.claim(job)
    with pytest.raises(OutcomeUnknown):
        debt.settle()
    assert not synced, "the disk tells of a failure once: to ask it again would prove nothing"
    debt.settle()
    bench.close()


# --- full disks -------------------------------------------------------------------------------------------------------


def fill(story: Story) -> list[JobId]:
    """Submit until the disk is full; what was acknowledged."""
    stored: list[JobId] = []
    while True:
        try:
            stored.append(story.submit(params={"x": "y" * 50_000}))
        except StoreBusy as error:
            if "full" in error.message:
                return stored
            raise


@pytest.mark.parametrize("bench_type", [SqliteBench, InlineSqliteBench])
def test_a_full_disk_is_told_loses_nothing_and_work_goes_on_when_there_is_space(
    bench_type: type[SqliteBench], tmp_path: Path
) -> None:
    """With a limit on the file in place of the disk."""
    bench = bench_type(tmp_path)
    story = Story(bench)
    running = story.running()
    raw = engine_of(story.store).raw
    raw.pragma("max_page_count", raw.pragma("page_count") + 100)
    stored = fill(story)
    assert stored
    assert {job: story.state(job).value for job in stored} == dict.fromkeys(stored, "queued")
    with pytest.raises(StoreBusy):
        story.submit(params={"x": "y" * 1_000_000})
    assert unsound(story.store) == []
    raw.pragma("max_page_count", 1_000_000)
    story.end(running)
    assert story.claim(*stored).keys() == set(stored)
    bench.close()


def test_a_full_file_system_is_told_loses_nothing_and_recovers_by_itself(tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    with mounted(place, "rw", "8m") as works:
        if not works:
            return  # not allowed to mount here; the test above has the same on the file
        bench = SqliteBench(place)
        story = Story(bench)
        ballast = place / "ballast"
        ballast.write_bytes(b"x" * 5_000_000)
        stored = fill(story)
        with pytest.raises(StoreBusy):
            story.store.logs.append([(stored[0], 1, 1, LogChunk(story.clock.now(), "stdout", "z" * 4_000_000))])
        assert [story.state(job).value for job in stored] == ["queued"] * len(stored), "questions are still answered"
        ballast.unlink()
        story.claim(*stored)
        for job in stored:
            story.end(job)
        assert unsound(story.store) == []
        bench.close()
        assert next(apsw.Connection(str(place / "m.db")).execute("pragma integrity_check")) == ("ok",)


def test_a_disk_that_is_full_from_the_start_is_told_too(tmp_path: Path) -> None:
    place = tmp_path / "tiny"
    place.mkdir()
    with mounted(place, "rw", "64k") as works:
        if works:
            with pytest.raises(StoreBusy, match="full"):
                Store.open(f"sqlite:///{place}/m.db")


# --- forks ------------------------------------------------------------------------------------------------------------


def test_a_child_that_inherited_a_store_can_not_use_it_and_does_not_break_the_parent(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'm.db'}"
    done = children.run("fork", url, 25)
    assert done.returncode == 0, done.stderr
    store = Store.open(url)
    assert store.read(lambda tx: next(connection_of(tx).execute("pragma integrity_check"))) == ("ok",)
    (count,) = store.read(lambda tx: next(connection_of(tx).execute("select count(*) from policy")))
    assert count == 20 * int(done.stdout)
    store.close()


# --- connections ------------------------------------------------------------------------------------------------------


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def look(tx: Transaction) -> object:
    return tx.rows("event/bound")


def test_threads_that_come_and_go_leave_no_connection_behind(tmp_path: Path) -> None:
    store = SqliteBench(tmp_path).open()
    store.read(look)
    before = open_files()
    for _ in range(100):
        thread = threading.Thread(target=store.read, args=(look,))
        thread.start()
        thread.join()
    assert open_files() <= before
    store.close()


def test_readers_at_once_get_a_connection_each_and_the_next_ones_get_no_more(tmp_path: Path) -> None:
    store = SqliteBench(tmp_path).open()

    def crowd() -> int:
        together = threading.Barrier(20)

        def wait_inside(tx: Transaction) -> None:
            look(tx)
            together.wait(30)

        crew = [threading.Thread(target=store.read, args=(wait_inside,)) for _ in range(20)]
        for one in crew:
            one.start()
        for one in crew:
            one.join()
        return open_files()

    first = crowd()
    assert {crowd() for _ in range(3)} <= {first}
    store.close()


def test_a_closed_store_lets_go_of_every_file(tmp_path: Path) -> None:
    before = open_files()
    for bench_type in (SqliteBench, InlineSqliteBench):
        store = bench_type(tmp_path).open()
        store.read(look)
        store.write(look)
        store.logs.append([])
        store.close()
    assert open_files() == before
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["m.db", "m.logs.db"], "no WAL is left"


def test_a_store_whose_files_are_gone_is_closed_without_making_any_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench = SqliteBench(tmp_path)
    store = bench.open()
    store.logs.append([])
    for path in tmp_path.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    bench.clock.forward(MINUTE)
    store.close()
    assert list(tmp_path.iterdir()) == []
    assert caplog.records == []


def test_a_wal_that_grew_while_somebody_read_is_cut_back(tmp_path: Path) -> None:
    store = SqliteBench(tmp_path).open()
    assert engine_of(store).raw.pragma("journal_size_limit") == 64 * 1_048_576
    store.close()
