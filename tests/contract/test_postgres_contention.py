"""Others on the same server: conflicts are tried again, strangers' locks and limits are told in time and do no harm."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from mainspring.clock import DAY, MILLISECOND, MINUTE, SECOND, Duration, Instant, SystemClock
from mainspring.control import jobs as control_jobs
from mainspring.control import read, schedules
from mainspring.control.catalog import declare
from mainspring.control.submit import submit
from mainspring.domain.ids import JobId
from mainspring.domain.job import JobRequest
from mainspring.domain.plan import Plan
from mainspring.domain.timetable import REGULAR, Origin, ScheduleId
from mainspring.domain.timetable import Outcome as Fate
from mainspring.engine import fire as firing
from mainspring.engine.fire import Fire
from mainspring.errors import StoreBusy, StoreReadOnly, StoreUnreachable
from mainspring.store import Store, Transaction, jobs, lanes, ticks
from mainspring.store import schedules as store_schedules
from mainspring.store.jobs import Look
from mainspring.store.postgres import Limits, PostgresEngine
from mainspring.store.ticks import Record
from mainspring.transitions.fired import fire
from tests import postgres
from tests.contract import children
from tests.contract.engines import PostgresBench, asked, by_hand
from tests.contract.lost import note, store_with
from tests.contract.stories import LEASE, SHOP, Story
from tests.patience import slowness

TOUCH = "update mainspring.policy set document = document where document = $1"


@pytest.fixture
def bench(tmp_path: Path, postgres_databases: postgres.Databases) -> Iterator[PostgresBench]:
    one = PostgresBench(tmp_path, postgres_databases)
    yield one
    one.close()


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    one = Store.open(postgres_url)
    yield one
    one.close()


@contextmanager
def stranger(url: str, *texts: str) -> Iterator[psycopg.Connection[Any]]:
    """Another program with an open transaction."""
    with psycopg.connect(url) as connection:
        for text in texts:
            connection.execute(text.encode())
        yield connection
        connection.rollback()


def run(*works: Callable[[], object]) -> list[object]:
    """All at once, each on a thread."""
    with ThreadPoolExecutor(len(works)) as pool:
        return [one.result(60) for one in [pool.submit(work) for work in works]]


# --- conflicts --------------------------------------------------------------------------------------------------------


def test_of_two_in_a_deadlock_both_are_done_in_the_end(store: Store) -> None:
    note(store, "left")
    note(store, "right")
    met = threading.Barrier(2)
    tries: list[str] = []

    def touch(first: str, second: str) -> None:
        def work(tx: Transaction) -> None:
            tries.append(first)
            by_hand(tx, TOUCH, first)
            if tries.count(first) == 1:
                met.wait(20)
            by_hand(tx, TOUCH, second)

        store.write(work)

    run(lambda: touch("left", "right"), lambda: touch("right", "left"))
    assert len(tries) >= 3, "one was tried again; it may have met the other once more"


def test_a_change_of_a_schedule_and_its_tick_wait_for_each_other_in_one_order(
    bench: PostgresBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each would else hold what the other needs next, for a second."""
    story = Story(bench)
    kept = schedules.put(story.store, "pulse", Plan({"every": "1m"}, task="send"), origin=Origin.CLI, actor="ann")
    assert kept.next_tick is not None
    story.clock.forward(MINUTE)
    record = Record(
        ScheduleId(kept.id), kept.next_tick, REGULAR, 1, kept.next_tick, Fate.MISSED, "x", None, None, Instant(1), "ann"
    )
    scheduler = Fire(story.store, story.clock)
    began: list[str] = []

    def told(*values: Any, **how: Any) -> int:
        began.append("fire")
        return fire(*values, **how)

    monkeypatch.setattr(firing, "fire", told)
    waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    url = story.store.engine.place.conninfo  # type: ignore[attr-defined]
    with ThreadPoolExecutor(1) as pool, psycopg.connect(url, autocommit=True) as watching:

        def change(tx: Transaction) -> Future[Duration]:
            began.append("change")
            store_schedules.lock(tx, record.schedule)
            tx.rows("schedule/soonest")  # the lock is there
            turn = pool.submit(scheduler.turn)
            while not watching.execute(waits).fetchall() and not turn.done():
                pass
            assert ticks.insert(tx, [record])() == 1
            return turn

        story.store.write(change).result(60)
    assert began == ["change", "fire"]


def test_transactions_that_can_not_be_put_in_order_are_done_again(
    postgres_databases: postgres.Databases,
) -> None:
    settings = {"default_transaction_isolation": "repeatable read"}
    name = postgres_databases.take(settings)
    store = Store.open(postgres_databases.server.url(name))
    note(store, "0")

    def add(_: int) -> None:
        def work(tx: Transaction) -> None:
            (number,) = by_hand(tx, "select document::int from policy")[0]
            by_hand(tx, "update policy set document = $1::text", number + 1)

        store.write(work)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(20)))
    assert asked(store, "select document from policy") == [("20",)]
    store.close()
    postgres_databases.give_back(name, settings)


# --- strangers --------------------------------------------------------------------------------------------------------


def test_a_lock_that_a_stranger_holds_is_told_in_time_and_nothing_is_changed(postgres_url: str) -> None:
    store = store_with(postgres_url, Limits(lock="300ms"))
    note(store, "before")
    clock = SystemClock()
    with stranger(postgres_url, "lock table mainspring.policy in access exclusive mode"):
        began = clock.monotonic()
        with pytest.raises(StoreBusy, match="did not get to it in time"):
            note(store, "never")
        assert clock.monotonic() - began < 10 * SECOND * slowness()
    note(store, "after")
    assert asked(store, "select document from policy order by id") == [("before",), ("after",)]
    store.close()


def test_rows_that_a_stranger_has_locked_are_left_out_by_a_claim_and_taken_later(bench: PostgresBench) -> None:
    story = Story(bench)
    held, *others = story.submit_many([JobRequest("shop.send")] * 3)

    def heads() -> list[JobId]:
        """What a claim finds."""

        def work(tx: Transaction) -> list[JobId]:
            every = {lane.id: 10 for lane in lanes.read_map(tx).lanes}
            return [head.job for _, head in jobs.heads(tx, [Look(every, 10)], {}, None)]

        return story.store.write(work)

    with stranger(bench.url, f"select * from mainspring.ready where job = {held} for update"):
        assert sorted(story.claim(*heads())) == others
    assert list(story.claim(*heads())) == [held]


def test_looks_at_once_over_several_lanes_find_different_jobs(bench: PostgresBench) -> None:
    story = Story(bench)
    ids = story.submit_many([JobRequest("shop.send", queue=f"q{n}") for n in (1, 2, 3)] * 4)

    def found(tx: Transaction) -> list[JobId]:
        look = Look({lane.id: 5 for lane in lanes.read_map(tx).lanes}, 5)
        return [head.job for _, head in jobs.heads(tx, [look], {}, None)]

    other = bench.open()
    first, second = story.store.write(lambda tx: (found(tx), other.write(found)))
    assert (first, second) == (ids[:5], ids[5:10])


def test_a_lease_that_a_stopped_process_has_locked_keeps_no_sweeper_from_its_other_work(bench: PostgresBench) -> None:
    story = Story(bench)
    held, free = story.running(), story.running()
    story.clock.forward(2 * LEASE)
    with stranger(bench.url, f"select * from mainspring.lease where job = {held} for update"):
        assert story.lose_expired() == [free]
    assert story.lose_expired() == [held]


def test_a_statement_that_takes_too_long_is_ended_by_the_server_and_nothing_is_changed(postgres_url: str) -> None:
    store = store_with(postgres_url, Limits(statement="200ms"))

    def work(tx: Transaction) -> None:
        tx.rows("policy/insert", document="never")
        by_hand(tx, "select pg_sleep(60)")

    with pytest.raises(StoreBusy, match="did not get to it in time"):
        store.write(work)
    assert asked(store, "select count(*) from policy") == [(0,)]
    note(store, "after")
    store.close()


def until_idle(postgres_url: str) -> None:
    """Until the server has done all that it was sent."""
    with psycopg.connect(postgres_url, autocommit=True) as asking:
        while asking.execute(
            "select 1 from pg_stat_activity where datname = current_database() and state = 'active'"
            " and pid <> pg_backend_pid()"
        ).fetchall():
            pass


def answered(tx: Transaction) -> None:
    """The last statement before the stop was waited for."""
    tx.rows("policy/find", document="row")


def gathered(tx: Transaction) -> None:
    """It waits, with all before it, to be sent with the next that has an answer: nothing is held yet."""
    tx.many("job/note_details", [("1", 1, 1)])


def parted(tx: Transaction) -> None:
    """It was sent, as it is large, to be checked with the next."""
    tx.many("job/note_details", [(f'"{"x" * 40_000}"', 1, 1)])


@pytest.mark.parametrize(("last", "expected"), [(answered, 2), (parted, 2), (gathered, 1)])
def test_a_process_that_stops_amid_a_transaction_does_not_keep_its_locks_and_does_it_again_when_it_goes_on(
    postgres_url: str, last: Callable[[Transaction], None], expected: int
) -> None:
    """As after SIGSTOP: the server ends the session, and the rows are free for others meanwhile."""
    store = store_with(postgres_url, Limits(idle="200ms"))
    note(store, "row")
    other = Store.open(postgres_url)
    tries: list[int] = []

    def touch(tx: Any) -> None:
        tx._pipe.ask(TOUCH.encode(), ["row"])  # to be sent with what follows

    def work(tx: Transaction) -> None:
        touch(tx)
        last(tx)
        tries.append(1)
        if len(tries) == 1:
            until_idle(postgres_url)
            other.write(touch)  # waits until the lock is free

    store.write(work)
    assert len(tries) == expected
    store.close()
    other.close()


@pytest.mark.parametrize("setting", [{"default_transaction_read_only": "on"}])
def test_a_replica_or_a_database_that_is_read_only_answers_questions_and_refuses_writes(
    postgres_databases: postgres.Databases, setting: dict[str, str]
) -> None:
    name = postgres_databases.take(setting)
    store = Store.open(postgres_databases.server.url(name))
    assert asked(store, "select count(*) from policy") == [(0,)]
    with pytest.raises(StoreReadOnly, match="takes no writes"):
        note(store, "never")
    store.close()
    postgres_databases.server.ask(f"alter database {name} reset default_transaction_read_only")


def test_too_many_connections_are_told_with_the_words_of_the_server_and_go_on_when_there_is_room(
    postgres_server: postgres.Server,
) -> None:
    role = f"r{postgres.unique()}"
    postgres_server.ask(f"create role {role} login connection limit 3")
    url = postgres.new_database(postgres_server, role, empty=True).replace("mainspring@", f"{role}@")
    postgres_server.ask(f"alter database {role} owner to {role}")
    store = store_with(url, Limits(), patience=Duration(300 * MILLISECOND))
    with psycopg.connect(url), psycopg.connect(url), psycopg.connect(url), pytest.raises(StoreUnreachable) as caught:
        asked(store, "select 1")
    assert "too many connections" in str(caught.value)
    assert asked(store, "select 1") == [(1,)]
    store.close()


# --- nothing is left behind -------------------------------------------------------------------------------------------


def resident() -> int:
    """Bytes of memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def sessions(server: postgres.Server, database: str) -> int:
    """Sessions that the server has for a database."""
    return len(server.ask(f"select pid from pg_stat_activity where datname = '{database}'"))


def test_a_thousand_operations_and_as_many_failures_leave_no_connections_and_no_memory_behind(
    store: Store, postgres_server: postgres.Server, postgres_url: str
) -> None:
    database = postgres_url.partition("?")[0].rpartition("/")[2]
    declare(store, SHOP)

    class Refused(Exception):
        pass

    def fail(tx: Transaction) -> None:
        tx.rows("policy/insert", document="never")
        raise Refused

    def once(_: int) -> None:
        submit(store, [JobRequest("shop.send")], actor="test")
        with pytest.raises(Refused):
            store.write(fail)
        with pytest.raises(Exception, match="syntax"):
            store.write(lambda tx: by_hand(tx, "nonsense"))

    def many(count: int) -> int:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(once, range(count)))
        return resident()

    warm = many(100)
    before = sessions(postgres_server, database)
    assert before <= 4 + 8
    after = many(1000)
    assert sessions(postgres_server, database) <= before
    assert after - warm < 8 * 1_048_576
    assert asked(store, "select count(*) from job") == [(1100,)]
    open_transactions = (
        "select count(*) from pg_stat_activity where state like 'idle in%' and datname = current_database()"
    )
    assert asked(store, open_transactions) == [(0,)]


def test_a_child_that_inherited_a_store_can_not_use_it_and_does_not_break_the_parent(postgres_url: str) -> None:
    done = children.run("fork", postgres_url, 8)
    assert done.returncode == 0, done.stderr
    store = Store.open(postgres_url)
    assert asked(store, "select count(*) from policy") == [(20 * int(done.stdout),)]
    store.close()


# --- whose time -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [DAY, -DAY])
def test_a_machine_whose_clock_is_wrong_by_a_day_changes_nothing(
    store: Store, postgres_url: str, monkeypatch: pytest.MonkeyPatch, wrong: Duration
) -> None:
    declare(store, SHOP)
    true_now = SystemClock.now

    def wrong_now(self: SystemClock) -> Instant:
        return Instant(true_now(self) + wrong)

    right = SystemClock().now()
    monkeypatch.setattr(SystemClock, "now", wrong_now)
    away = Store.open(postgres_url)
    assert abs(away.clock.now() - right) < MINUTE
    job = submit(away, [JobRequest("shop.send", delay="50ms")], actor="away")[0].job
    found = read.job(store, job)
    assert abs(found.run_at - right) < MINUTE
    control_jobs.cancel(away, job, actor="away")
    history = read.history(store, after=0, job=job, kinds=(), limit=10)
    assert all(abs(event.at - right) < MINUTE for event in history)
    assert isinstance(away.engine, PostgresEngine)
    away.close()
