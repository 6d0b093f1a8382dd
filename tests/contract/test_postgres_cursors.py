"""Cursors over events on PostgreSQL: none passes a transaction that is still in flight, so none misses an event."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest

from mainspring.control import read
from mainspring.domain.ids import JobId
from mainspring.domain.job import JobRequest
from mainspring.store import Store, Transaction
from tests import postgres
from tests.contract.engines import PostgresBench
from tests.contract.stories import Story

WRAP = 2**32


class InFlight:
    """A submit whose transaction stays open until it is let go; its events have their numbers."""

    def __init__(self, bench: PostgresBench) -> None:
        self.store = bench.open()
        self._numbered = threading.Event()
        self._go = threading.Event()
        self._pool = ThreadPoolExecutor(1)

        def work(tx: Transaction) -> None:
            values = {"job": 1, "at": tx.now, "cause": "submit", "source": "new", "target": "queued"}
            tx.many("event/insert", [(*values.values(), 0, "slow", None)])
            tx.rows("policy/find", document="")  # so that it has reached the server
            self._numbered.set()
            assert self._go.wait(3), "shorter than the server lets a transaction idle"

        self._done = self._pool.submit(self.store.write, work)
        assert self._numbered.wait(20)

    def commit(self) -> None:
        self._go.set()
        self._done.result(20)
        self._pool.shutdown()


@contextmanager
def in_flight(bench: PostgresBench) -> Iterator[InFlight]:
    one = InFlight(bench)
    yield one
    one.commit()


@pytest.fixture
def bench(tmp_path_factory: pytest.TempPathFactory, postgres_databases: postgres.Databases) -> Iterator[PostgresBench]:
    one = PostgresBench(tmp_path_factory.mktemp("bench"), postgres_databases)
    yield one
    one.close()


def actors(store: Store, after: int) -> list[str]:
    """Who acted, of the events that a cursor gives."""
    return [event.actor for event in read.history(store, after=after, job=None, kinds=(), limit=1000)]


@pytest.mark.parametrize("last", [0, 1000, WRAP - 2, 5 * WRAP - 2, 5 * WRAP])
def test_what_commits_first_is_not_shown_before_what_was_numbered_first(bench: PostgresBench, last: int) -> None:
    story = Story(bench)
    if last:
        bench.server.ask(f"select setval('mainspring.event_seq', {last})", bench.database)
    story.submit()
    cursor = read.last_event(story.store)
    with in_flight(bench) as slow:
        story.submit_many([JobRequest("shop.send")] * 5)  # numbered behind the slow one, also across the wrap
        assert actors(story.store, cursor) == []
        assert read.last_event(story.store) == cursor
        slow.commit()
    assert actors(story.store, cursor) == ["slow"] + ["client"] * 5


def test_of_several_in_flight_the_earliest_bounds_the_cursor(bench: PostgresBench) -> None:
    story = Story(bench)
    with in_flight(bench) as first:
        story.submit()
        with in_flight(bench) as second:
            story.submit()
            first.commit()
            assert actors(story.store, 0) == ["slow", "client"]
            second.commit()
    assert actors(story.store, 0) == ["slow", "client", "slow", "client"]


def test_listeners_are_told_nothing_behind_what_is_in_flight(bench: PostgresBench) -> None:
    story = Story(bench)
    with in_flight(bench) as slow:
        story.submit()
        assert read.happenings(story.store, after=0, limit=10) == []
        slow.commit()
    assert [one.actor for one in read.happenings(story.store, after=0, limit=10)] == ["slow", "client"]


def test_a_writer_that_died_holds_no_cursor_back(bench: PostgresBench) -> None:
    story = Story(bench)
    with psycopg.connect(bench.url) as dying:
        dying.execute("set search_path = mainspring")
        dying.execute("select pg_advisory_xact_lock_shared(%s, 0)", (space(story.store),))
        story.submit()
        assert actors(story.store, 0) == []
    assert actors(story.store, 0) == ["client"]


def test_writers_of_another_platform_hold_nothing_back(bench: PostgresBench) -> None:
    story = Story(bench)
    with psycopg.connect(bench.url) as foreign:
        foreign.execute("select pg_advisory_xact_lock_shared(%s, 0)", (space(story.store) + 1,))
        story.submit()
        assert actors(story.store, 0) == ["client"]


def test_a_reader_that_follows_many_writers_misses_nothing(bench: PostgresBench) -> None:
    story = Story(bench)
    done = threading.Event()
    seen: list[int] = []

    def follow() -> None:
        after = 0
        while True:
            last = done.is_set()
            events = read.history(story.store, after=after, job=None, kinds=(), limit=7)
            seen.extend(event.job for event in events)
            if events:
                after = events[-1].seq
            elif last:
                return

    def write(_: int) -> list[JobId]:
        return story.submit_many([JobRequest("shop.send")] * 3)

    with ThreadPoolExecutor(5) as pool:
        following = pool.submit(follow)
        made = [job for some in pool.map(write, range(60)) for job in some]
        done.set()
        following.result(60)
    assert sorted(seen) == sorted(made)


def space(store: Store) -> int:
    """The number of its advisory locks."""
    number: int = store.engine.place.space  # type: ignore[attr-defined]
    return number
