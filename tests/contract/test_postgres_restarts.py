"""The server goes down amid commits, in order or not: what was acknowledged is there, once, and nothing else is."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mainspring.clock import MILLISECOND, SECOND, Duration, Instant, SystemClock, instant_text
from mainspring.control import schedules
from mainspring.control.catalog import declare
from mainspring.control.submit import submit
from mainspring.domain.job import JobRequest
from mainspring.domain.plan import Plan
from mainspring.domain.timetable import Origin, Outcome
from mainspring.engine import fire as firing
from mainspring.engine.fire import Fire
from mainspring.errors import OutcomeUnknown, StoreError
from mainspring.store import Store
from mainspring.store import postgres as engine_module
from mainspring.store.postgres import Limits
from tests import postgres
from tests.contract.engines import asked
from tests.contract.lost import note, store_with
from tests.contract.stories import SHOP
from tests.proxy import Proxy


@pytest.fixture(scope="module")
def own_server() -> Iterator[postgres.Server]:
    """A server that no other test uses, as it goes down now and then."""
    folder = Path(tempfile.mkdtemp(prefix="ms-own-"))
    folder.chmod(0o755)
    (folder / "server").mkdir()
    server = postgres.start(folder / "server", fsync="on")
    yield server
    postgres.stop(server)
    shutil.rmtree(folder)


@pytest.fixture
def database(own_server: postgres.Server) -> str:
    name = f"r{postgres.unique()}"
    postgres.new_database(own_server, name, empty=True)
    Store.open(own_server.url(name)).close()
    return name


def restart(server: postgres.Server, mode: str) -> None:
    server.control("-m", mode, "-l", str(server.folder / "log"), "restart")


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_writes_amid_restarts_are_stored_once_or_said_not_to_be(
    own_server: postgres.Server, database: str, mode: str
) -> None:
    store = store_with(own_server.url(database), Limits(), patience=Duration(20 * SECOND))
    answers: dict[str, str] = {}
    stop = threading.Event()

    def write(number: int) -> None:
        count = 0
        while not stop.is_set():
            count += 1
            word = f"{number}/{count}"
            try:
                note(store, word)
                answers[word] = "stored"
            except OutcomeUnknown:
                answers[word] = "unknown"
            except StoreError:
                answers[word] = "refused"

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, number) for number in range(4)]
        for _ in range(2):
            until(lambda: Counter(answers.values())["stored"] > 50)
            restart(own_server, mode)
            done = Counter(answers.values())["stored"]
            until(lambda done=done: Counter(answers.values())["stored"] > done + 20)  # type: ignore[misc]
        stop.set()
        for writer in writers:
            writer.result(60)
    found = Counter(word for (word,) in asked(store, "select document from policy"))
    store.close()
    assert set(found.values()) == {1}
    stored = {word for word, answer in answers.items() if answer == "stored"}
    assert stored <= set(found)
    assert not {word for word, answer in answers.items() if answer == "refused"} & set(found)


def until(look: Callable[[], bool]) -> None:
    """Wait for something."""
    clock = SystemClock()
    deadline = clock.monotonic() + 60 * SECOND
    while not look():
        assert clock.monotonic() < deadline
        clock.wait(Duration(10 * MILLISECOND))


def test_after_a_crash_a_number_that_was_given_away_again_is_not_believed(
    own_server: postgres.Server, database: str
) -> None:
    """Ours was under way when the server crashed; somebody else's has its number since, and was committed."""
    with Proxy(own_server.port) as proxy:
        store = store_with(f"{own_server.tcp_url(database, port=proxy.port)}?connect_timeout=2", Limits())
        note(store, "before")
        numbers: list[int] = []

        def crash() -> None:
            [(ours,)] = own_server.ask("select max(backend_xid::text::bigint) from pg_stat_activity")
            restart(own_server, "immediate")
            while not numbers or numbers[-1] < ours:
                numbers.append(own_server.ask("select pg_current_xact_id()::text::bigint")[0][0])
            assert ours in numbers, "the number was given away again, and committed"

        proxy.before_cut = crash
        proxy.at_commit = "lose"
        with pytest.raises(OutcomeUnknown):
            note(store, "ours")
        assert asked(store, "select document from policy") == [("before",)]
        note(store, "after")
        store.close()


def test_after_a_crash_a_number_that_nobody_has_is_known_not_to_be_committed(
    own_server: postgres.Server, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "_OUTCOME_PATIENCE", Duration(5 * SECOND))
    with Proxy(own_server.port) as proxy:
        store = store_with(f"{own_server.tcp_url(database, port=proxy.port)}?connect_timeout=2", Limits())
        note(store, "before")
        proxy.before_cut = lambda: restart(own_server, "immediate")
        proxy.at_commit = "lose"
        note(store, "ours")
        assert asked(store, "select document from policy order by id") == [("before",), ("ours",)]
        store.close()


def test_ticks_of_which_a_crash_takes_the_first_batches_fire_once_all_the_same(
    own_server: postgres.Server, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scheduler goes on while the disk writes, so it may be further than what the server knows behind it."""
    monkeypatch.setattr(firing, "BATCH", 3)
    own_server.ask("alter system set wal_writer_delay = '10s'")
    own_server.ask("select pg_reload_conf()")
    store = Store.open(own_server.url(database))
    declare(store, SHOP)
    names = [f"s{number}" for number in range(8)]
    due = Instant(store.clock.now() + SECOND)
    for name in names:
        schedules.put(store, name, Plan({"at": instant_text(due)}, task="shop.send"), origin=Origin.API, actor="test")
    until(lambda: store.clock.now() > due)
    fire = Fire(store, store.clock)
    for _ in range(2):
        fire.turn()
    assert store.debt.open, "the disk has not been waited for"
    restart(own_server, "immediate")
    until(lambda: fire.turn() > MILLISECOND)
    assert not store.debt.open
    told = [schedules.listed_ticks(store, name, cursor=None, limit=9).items for name in names]
    assert [[tick.outcome for tick in of] for of in told] == [[Outcome.FIRED]] * 8
    assert asked(store, "select count(*), count(distinct tick) from job") == [(8, 8)]
    store.close()
    own_server.ask("alter system reset wal_writer_delay")
    own_server.ask("select pg_reload_conf()")


def test_an_early_submit_is_on_the_disk_when_it_is_answered_or_when_its_debt_is_settled(
    own_server: postgres.Server, database: str
) -> None:
    """As far as the log of the server is on the disk, which it writes late of its own accord here."""
    own_server.ask("alter system set wal_writer_delay = '10s'")
    own_server.ask("select pg_reload_conf()")
    store = Store.open(own_server.url(database))
    declare(store, SHOP)

    def end_of_log() -> str:
        return str(own_server.ask("select pg_current_wal_insert_lsn()")[0][0])

    def on_disk(begin: str) -> bool:
        return bool(own_server.ask(f"select pg_current_wal_flush_lsn() > '{begin}'")[0][0])

    begin = end_of_log()
    submit(store, [JobRequest("shop.send")], actor="test")
    assert on_disk(begin)
    begin = end_of_log()
    with store.debt.put_off():
        submit(store, [JobRequest("shop.send")], actor="test")
    assert store.debt.open
    store.debt.settle()
    assert not store.debt.open
    assert on_disk(begin)
    store.close()
    own_server.ask("alter system reset wal_writer_delay")
    own_server.ask("select pg_reload_conf()")
