"""``db move``: everything arrives as it was, whatever the engines; both ends are shut meanwhile; it resumes."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest

from mainspring import faults
from mainspring.client.database import export_events, export_jobs
from mainspring.clock import DAY, MILLISECOND, SECOND, Duration, SystemClock
from mainspring.control import read, records
from mainspring.control.catalog import declare
from mainspring.domain.job import JobRequest
from mainspring.domain.joins import RunState
from mainspring.domain.logline import LogChunk
from mainspring.domain.record import Entry, RecordFilter
from mainspring.domain.states import Outcome, State
from mainspring.domain.worker import WorkerState
from mainspring.engine.record import Recorder
from mainspring.errors import MoveRefused, StoreCorrupt, StoreMoved
from mainspring.faults import FaultPoint, InjectedFault
from mainspring.store import Store, workers
from mainspring.store.check import Level, check
from mainspring.store.relocate import abandon, move, standing
from mainspring.store.shelf import NOT_MOVED
from tests.contract.engines import Bench, SqliteBench, asked
from tests.contract.move.ends import Ends, goodbye, quiet, url_of
from tests.contract.run_stories import Runs, node
from tests.contract.stories import SHOP, Story, app_of, task


def lived(story: Story, *, bulk: int = 0) -> None:
    """Jobs in every state, with all that may belong to one; the worker has gone."""
    declare(story.store, app_of(task("mail.send", queue="mail"), code_hash="two"))
    story.submit_many([JobRequest("shop.send", params={"n": n}) for n in range(bulk)])
    for state in set(State) - {State.NEW}:
        story.bring(state, tags={"city": "Zürich 🏔"}, meta={"a": [1, None, "\\N\t\n"]}, expires="30d")
    story.submit(unique="order-7", delay="1h")
    parent = story.running("shop.send")
    story.submit(parent=parent, priority=-7, delay="2h")
    story.end(parent, Outcome.SUCCEEDED, result=b'{"ok":true}')
    dead = story.bring(State.DEAD)
    story.retry(dead)
    for attempt, text in enumerate(("first\nsecond\n", "tab\there \\ there\n", "ünï\n"), 1):
        story.store.logs.append([(dead, attempt, 1, LogChunk(story.clock.now(), "stdout", text))])
    goodbye(story)


def say(story: Story, message: str) -> None:
    recorder = Recorder(story.store, story.clock, "server")
    recorder.take(Entry(story.clock.now(), "server", 1, 20, "test", message))
    recorder.turn()


def exported(url: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    jobs: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    export_jobs(url, jobs.append)
    export_events(url, events.append)
    return jobs, events


def logs_of(url: str) -> list[tuple[Any, ...]]:
    store = Store.open(url)
    try:
        found = store.read(lambda tx: tx.rows("audit/jobs"))
        return [
            (line.job, line.seq, line.attempt, line.at, line.text)
            for row in found
            for line in store.logs.lines(row[0], attempt=None, after=0, limit=99)
        ]
    finally:
        store.close()


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_everything_arrives_as_it_was_and_comes_back(
    story: Story, bench: Bench, ends: Ends, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mainspring.store.relocate._MOST_ROWS", 100)  # so that each large table goes in several pieces
    lived(story, bulk=250)
    before, output = exported(url_of(bench)), logs_of(url_of(bench))
    there = ends.empty(engine)
    moved = move(url_of(bench), there, say=quiet)
    assert moved["job"] == len(before[0]) > 250
    assert exported(there) == before
    assert logs_of(there) == output != []
    back = ends.empty(bench.dialect)
    move(there, back, say=quiet)
    assert exported(back) == before
    assert logs_of(back) == output


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_life_goes_on_at_the_target_with_new_numbers(story: Story, bench: Bench, ends: Ends, engine: str) -> None:
    begun = Runs(story)
    names = [f"n{number}" for number in range(3)]
    send = {"task": "shop.send"}
    run = begun.start(
        *(node(name, **send) for name in names),
        node("last", *names, **send),
        node("each", "n2", map=[1, 2, 3], **send),
        parallel=2,
    )
    begun.errands()
    begun.end("n0")
    lived(story)
    say(story, "said before")
    there = ends.empty(engine)
    last_job = story.store.read(lambda tx: tx.rows("audit/jobs"))[-1][0]
    cursor = read.last_event(story.store)
    move(url_of(bench), there, say=quiet)
    new = Story.__new__(Story)
    store = Store.open(there, clock=story.clock, chance=bench.chance)
    new.bench, new.clock, new.store, new.claims = bench, story.clock, store, {}
    declare(store, SHOP)
    new.worker = new.hello("beta")
    assert new.worker > story.worker
    job = new.running()
    assert job == last_job + 1
    new.end(job)
    events = read.history(store, after=cursor, job=None, kinds=(), limit=99)
    assert [event.job for event in events] == [job] * len(events) != []
    assert new.state(job) is State.SUCCEEDED
    goes_on = Runs(new)
    for name in ("n1", "n2", "each[0]", "last", "each[1]", "each[2]"):
        assert {one.name for one in check(store) if one.level is Level.FAULT} == set()
        goes_on.end(name)
    assert goes_on.run(run).state is RunState.SUCCEEDED
    say(new, "said behind it")
    assert [one.entry.message for one in records.found(store, RecordFilter())] == ["said before", "said behind it"]
    assert {one.name for one in check(store) if one.level is Level.FAULT} == set()
    store.close()


def test_the_source_can_be_read_and_takes_no_writes_from_whoever_has_it_open(
    story: Story, bench: Bench, ends: Ends
) -> None:
    lived(story)
    job = story.submit()
    before = read.job(story.store, job)
    there = ends.empty("sqlite")
    move(url_of(bench), there, say=quiet)
    assert read.job(story.store, job) == before
    for refused in (story.submit, lambda: story.claim(job), lambda: story.cancel(job), lambda: story.hello("late")):
        with pytest.raises(StoreMoved, match="was moved to") as told:
            refused()
        assert "to1.db" in told.value.remedy
    with pytest.raises(StoreMoved):
        move(url_of(bench), there, say=quiet)
    with pytest.raises(StoreMoved):
        abandon(url_of(bench))


def test_a_move_waits_for_no_worker_and_touches_nothing_then(story: Story, bench: Bench, ends: Ends) -> None:
    job = story.submit()
    story.clock.jump(SystemClock().now() - story.clock.now())
    story.store.write(lambda tx: workers.beat(tx, story.worker, WorkerState.ACTIVE, Duration(DAY)))
    with pytest.raises(MoveRefused, match="alpha"):
        move(url_of(bench), ends.empty("sqlite"), say=quiet)
    story.claim(job)


def test_told_to_drain_it_asks_the_workers_and_waits_for_them(story: Story, bench: Bench, ends: Ends) -> None:
    story.clock.jump(SystemClock().now() - story.clock.now())
    story.submit()
    story.store.write(lambda tx: workers.beat(tx, story.worker, WorkerState.ACTIVE, Duration(DAY)))
    with pytest.raises(MoveRefused, match="alpha"):
        move(url_of(bench), ends.empty("sqlite"), say=quiet, drain=Duration(MILLISECOND))

    def ends_when_asked() -> None:
        while story.store.read(workers.all_workers)[0].state is not WorkerState.DRAINING:
            SystemClock().wait(Duration(10 * MILLISECOND))
        goodbye(story)

    worker = threading.Thread(target=ends_when_asked)
    worker.start()
    assert move(url_of(bench), ends.empty("sqlite"), say=quiet, drain=Duration(60 * SECOND))["job"] == 1
    worker.join()


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_target_that_holds_something_is_refused_and_left_as_it_is(
    story: Story, bench: Bench, ends: Ends, engine: str
) -> None:
    lived(story)
    there = ends.empty(engine)
    store = Store.open(there)
    declare(store, SHOP)
    with pytest.raises(MoveRefused, match="not empty: its table"):
        move(url_of(bench), there, say=quiet)
    assert [one.name for one in read.tasks(store)] == sorted(one.name for one in SHOP.tasks)
    store.close()
    story.submit()


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_cut_short_at_any_commit_it_goes_on_and_nobody_works_on_half_of_it(
    story: Story, bench: Bench, ends: Ends, engine: str
) -> None:
    """Every commit of a move in turn is the one that does not happen; with PostgreSQL at an end, every fourth."""
    lived(story, bulk=300)
    before, output = exported(url_of(bench)), logs_of(url_of(bench))
    there, hits = ends.empty(engine), 0
    further = 1 if engine == bench.dialect == "sqlite" else 4

    # Each try gets so many commits further, as what was committed is not done again.
    while True:
        faults.arm(_raise_at(1 if hits == 0 else 1 + further))
        try:
            move(url_of(bench), there, say=quiet)
        except InjectedFault:
            hits += 1
            faults.arm(None)
            if hits > 2:
                half = Store.open(there)
                with pytest.raises(StoreMoved, match="not finished"):
                    declare(half, app_of(task("new.one")))
                half.close()
                with pytest.raises(StoreMoved, match=r"being moved|was moved"):
                    story.submit()
            continue
        finally:
            faults.arm(None)
        break
    assert hits > 10, "one for each table, and those around them"
    assert exported(there) == before
    assert logs_of(there) == output


def test_a_move_that_is_given_up_leaves_the_source_as_it_was(story: Story, bench: Bench, ends: Ends) -> None:
    lived(story)
    there = ends.empty("sqlite")
    with pytest.raises(MoveRefused, match="not on the move"):
        abandon(url_of(bench))
    faults.arm(_raise_at(4))  # the source is shut, the target too, and one table is there
    try:
        with pytest.raises(InjectedFault):
            move(url_of(bench), there, say=quiet)
    finally:
        faults.arm(None)
    with pytest.raises(StoreMoved, match="being moved"):
        move(url_of(bench), ends.empty("sqlite"), say=quiet)
    assert "to1.db" in abandon(url_of(bench))
    story.submit()
    with pytest.raises(MoveRefused, match="half of another move"):
        move(url_of(bench), there, say=quiet)
    move(url_of(bench), ends.empty("sqlite"), say=quiet)


def test_a_check_tells_of_a_move_under_way_or_done_at_both_ends(story: Story, bench: Bench, ends: Ends) -> None:
    lived(story)
    url, there = url_of(bench), ends.empty("sqlite")
    assert standing(url).level is Level.OK
    faults.arm(_raise_at(5))
    try:
        with pytest.raises(InjectedFault):
            move(url, there, say=quiet)
    finally:
        faults.arm(None)
    source, target = standing(url), standing(there)
    assert (source.level, target.level) == (Level.WARNING, Level.WARNING)
    assert "is being moved to" in source.text
    assert "--abandon" in source.details[0]
    assert "is not finished" in target.text
    assert "same source and target" in target.details[0]
    move(url, there, say=quiet)
    assert "was moved to" in standing(url).text
    assert standing(there).level is Level.OK


def _raise_at(nth: int) -> Any:
    count = 0

    def fail(point: FaultPoint) -> None:
        nonlocal count
        count += point is FaultPoint.MOVE_BEFORE_COMMIT
        if count == nth:
            raise InjectedFault(point.value)

    return fail


def test_a_row_that_changes_on_its_way_is_found(story: Story, bench: Bench, ends: Ends) -> None:
    lived(story)
    there = ends.empty("postgres")

    def spoil(table: str, rows: int, total: int) -> None:
        if table == "worker":  # the last table: everything else is there
            with psycopg.connect(there, autocommit=True) as hand:
                hand.execute("alter table mainspring.job disable trigger user")
                hand.execute("update mainspring.job set params = '{\"n\": 0}' where id = 3")

    with pytest.raises(StoreCorrupt, match="job has"):
        move(url_of(bench), there, say=spoil)
    assert abandon(url_of(bench))


def test_every_table_of_both_engines_is_moved_or_named_with_a_reason(tmp_path: Path, postgres_url: str) -> None:
    """A migration that adds a table need do nothing; one that wants it to stay says so in NOT_MOVED."""
    here, there = SqliteBench(tmp_path), Store.open(postgres_url)
    store = here.open()
    tables = {row[0] for row in asked(store, "select name from sqlite_schema where type = 'table'")} | {"log"}
    assert NOT_MOVED.keys() - {"relocation"} <= tables
    found = asked(
        there,
        "select table_name, column_name, data_type from information_schema.columns where table_schema = 'mainspring' "
        "and table_name in (select table_name from information_schema.tables where table_type = 'BASE TABLE')",
    )
    assert {row[0] for row in found} == tables
    moved = [row for row in found if row[0] not in NOT_MOVED]
    assert {kind for _, _, kind in moved} == {"bigint", "text"}, "what both engines hold alike"
    for table in {row[0] for row in moved} - {"log"}:
        columns = {row[1] for row in asked(store, f"pragma table_info({table})")}
        assert columns == {column for name, column, _ in moved if name == table}, table
    keyed = asked(there, "select conrelid::regclass::text from pg_constraint where contype = 'p'")
    assert {row[0] for row in moved} <= {row[0].rpartition(".")[2] for row in keyed}, "a page starts behind a key"
    sequences = {
        row[0] for row in asked(there, "select sequencename from pg_sequences where schemaname = 'mainspring'")
    }
    assert sequences == {
        *("job_id", "event_seq", "lane_id_seq", "policy_id_seq", "worker_id_seq", "workflow_version_id_seq"),
        *("schedule_id_seq", "backfill_id_seq", "token_id_seq", "trail_seq_seq", "account_id_seq"),
        *("webhook_id_seq", "delivery_id_seq"),
    }, "is the new one set behind its column? See shape/sequences; then name it here"
    here.close()
    there.close()
