"""Hints over LISTEN and NOTIFY: heard on other machines, few, and heard again after the listener was cut off."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from mainspring.clock import MILLISECOND, SECOND, Duration, SystemClock, seconds
from mainspring.control.catalog import declare
from mainspring.control.submit import submit
from mainspring.domain.job import JobRequest
from mainspring.store import Store, postgres_bell
from mainspring.store.bell import Listening
from tests import postgres
from tests.contract.stories import SHOP
from tests.proxy import Proxy

LONG = Duration(20 * SECOND)
SHORT = Duration(300 * MILLISECOND)


@pytest.fixture
def opened() -> Iterator[list[Store]]:
    """Stores that are closed in the end."""
    stores: list[Store] = []
    yield stores
    for store in stores:
        store.close()


def open_store(url: str, opened: list[Store]) -> Store:
    opened.append(Store.open(url))
    return opened[-1]


def heard(ear: Listening, ringing: Store) -> bool:
    """Whether it hears the other process ring, within a while in which that rings again and again."""
    clock = SystemClock()
    deadline = clock.monotonic() + LONG
    while clock.monotonic() < deadline:
        ringing.work_bell.ring()
        if ear.wait(SHORT):
            return True
    return False


def until_quiet(ear: Listening) -> None:
    """Until nothing of what was rung is still under way, the ring of a listener that has just begun included."""
    while ear.wait(SHORT):
        pass


def database_of(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[2]


def end_listeners(server: postgres.Server, database: str) -> int:
    """End the sessions that listen; how many there were."""
    return len(
        server.ask(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            f"where datname = '{database}' and lower(query) like 'listen%'"
        )
    )


def test_a_ring_is_heard_by_another_process_and_by_ones_own(postgres_url: str, opened: list[Store]) -> None:
    one, other = open_store(postgres_url, opened), open_store(postgres_url, opened)
    ear = other.work_bell.listen("other")
    assert heard(ear, one)
    own = one.work_bell.listen("own")
    assert own.wait(LONG), "it rings when it begins to listen; nobody but its own process has rung so far"
    one.work_bell.ring(besides="own")
    assert not own.wait(SHORT)
    one.work_bell.ring()
    assert own.wait(LONG)
    assert heard(own, other)


def test_a_listener_whose_session_was_ended_listens_again_and_rings_for_what_it_missed(
    postgres_url: str, postgres_server: postgres.Server, opened: list[Store]
) -> None:
    one, other = open_store(postgres_url, opened), open_store(postgres_url, opened)
    ear = other.work_bell.listen("other")
    assert heard(ear, one)
    ear.drain()
    assert end_listeners(postgres_server, database_of(postgres_url)) == 1
    assert ear.wait(LONG), "it rings when it listens again, as something may have come meanwhile"
    assert heard(ear, one)


@pytest.mark.parametrize("how", ["both", "answers"])
def test_a_listener_whose_way_went_black_notices_it_and_listens_again(
    postgres_url: str,
    postgres_server: postgres.Server,
    opened: list[Store],
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    monkeypatch.setattr(postgres_bell, "_SILENCE", 0.5)
    monkeypatch.setattr(postgres_bell, "_ANSWER_PATIENCE", Duration(500 * MILLISECOND))
    with Proxy(postgres_server.port) as proxy:
        one = open_store(postgres_url, opened)
        listen_url = postgres_server.tcp_url(database_of(postgres_url), port=proxy.port)
        other = open_store(f"{postgres_url}&listen_url={listen_url}%3Fconnect_timeout%3D2", opened)
        ear = other.work_bell.listen("other")
        assert heard(ear, one)
        ear.drain()
        proxy.swallow = how
        first = proxy.accepted
        clock = SystemClock()
        deadline = clock.monotonic() + LONG
        while proxy.accepted == first:
            assert clock.monotonic() < deadline, "it never noticed"
            clock.wait(Duration(20 * MILLISECOND))
        proxy.swallow = ""
        proxy.cut()
        assert ear.wait(LONG)
        assert heard(ear, one)


def test_rings_of_another_platform_in_the_same_database_are_not_heard(postgres_url: str, opened: list[Store]) -> None:
    ours, theirs = open_store(postgres_url, opened), open_store(f"{postgres_url}&schema=theirs", opened)
    same = open_store(postgres_url, opened)
    ear = same.work_bell.listen("ours")
    assert ear.wait(LONG), "it rings when it begins to listen"
    theirs.work_bell.ring()
    ours_too = theirs.work_bell.listen("theirs")
    assert heard(ours_too, theirs)
    assert not ear.wait(SHORT)
    assert heard(ear, ours)


def test_two_hundred_submits_in_a_second_are_told_by_at_most_one_notice_in_50_ms_of_each_kind(
    postgres_url: str, opened: list[Store]
) -> None:
    store = open_store(postgres_url, opened)
    declare(store, SHOP)
    clock = SystemClock()
    told: list[str] = []
    done = threading.Event()
    with psycopg.connect(postgres_url, autocommit=True) as listener:
        listener.execute("listen mainspring")

        def listen() -> None:
            while not done.is_set():
                told.extend(notice.payload for notice in listener.notifies(timeout=0.1))

        thread = threading.Thread(target=listen)
        thread.start()
        began = clock.monotonic()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: submit(store, [JobRequest("shop.send")], actor="test"), range(200)))
        took = seconds(Duration(clock.monotonic() - began))
        store.close()  # tells what was to be told later
        done.set()
        thread.join()
    work = [one for one in told if one.split()[1] == "work"]
    assert 1 < len(work) <= took / 0.05 + postgres_bell.BURST + 3
    assert len(told) - len(work) <= took / 0.05 + postgres_bell.BURST + 3


def test_a_burst_of_rings_ends_with_one_that_is_heard(postgres_url: str, opened: list[Store]) -> None:
    """The last ring of a burst is not lost in the pause between two notices."""
    one, other = open_store(postgres_url, opened), open_store(postgres_url, opened)
    ear = other.work_bell.listen("other")
    assert heard(ear, one)
    for _ in range(3):
        one.work_bell.ring()
    assert ear.wait(LONG)
    until_quiet(ear)
    one.work_bell.ring()
    assert ear.wait(LONG)
