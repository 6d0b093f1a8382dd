"""The way to PostgreSQL is lost, in every manner a network has: what was promised holds, and errors say what is so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from mainspring.clock import MILLISECOND, SECOND, Duration, SystemClock
from mainspring.domain.attempt import Ending
from mainspring.domain.job import JobRequest
from mainspring.domain.states import Outcome, State
from mainspring.errors import OutcomeUnknown, StoreUnreachable
from mainspring.store import Store, Transaction
from mainspring.store import postgres as engine_module
from mainspring.store.postgres import Limits
from tests import postgres
from tests.contract.engines import unsound
from tests.contract.lost import ProxiedBench, note, store_with
from tests.contract.stories import Story
from tests.patience import slowness
from tests.proxy import Proxy

SOON = Limits(answer=Duration(700 * MILLISECOND))


@pytest.fixture
def proxy(postgres_server: postgres.Server) -> Iterator[Proxy]:
    with Proxy(postgres_server.port) as one:
        yield one


@pytest.fixture
def bench(tmp_path: Path, postgres_databases: postgres.Databases, proxy: Proxy) -> Iterator[ProxiedBench]:
    one = ProxiedBench(tmp_path, postgres_databases, proxy)
    yield one
    proxy.cut()
    one.close()


@pytest.fixture
def store(bench: ProxiedBench) -> Iterator[Store]:
    """A store that waits for an answer for less than a second."""
    one = store_with(bench.url, SOON)
    yield one
    one.close()


def stored(bench: ProxiedBench, word: str) -> int:
    """How often a note was stored."""
    return int(bench.ask(f"select count(*) from policy where document = '{word}'")[0][0])


class Took:
    """How long a block took, in seconds."""

    def __enter__(self) -> Self:
        self._began = SystemClock().monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = (SystemClock().monotonic() - self._began) / SECOND


# --- around the commit ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["answer", "lose"])
def test_a_submit_whose_commit_or_answer_is_lost_is_stored_exactly_once(
    bench: ProxiedBench, proxy: Proxy, what: str
) -> None:
    story = Story(bench)
    story.submit()
    for _ in range(3):
        proxy.at_commit, proxy.commits = what, 1
        job = story.submit("shop.mail")
        assert proxy.commits == 0, "the fault has happened"
        assert bench.ask(f"select count(*) from job where id = {job}") == [(1,)]
    assert bench.ask("select count(*) from job") == [(4,)]
    assert bench.ask("select count(*) from event") == [(4,)]
    assert unsound(story.store) == []


@pytest.mark.parametrize("what", ["answer", "lose"])
def test_an_end_whose_commit_or_answer_is_lost_is_recorded_once(bench: ProxiedBench, proxy: Proxy, what: str) -> None:
    story = Story(bench)
    job = story.running()
    proxy.at_commit = what
    settled = story.end(job, Outcome.SUCCEEDED)
    assert proxy.commits == 0
    assert settled.fenced == []
    assert story.state(job) is State.SUCCEEDED
    assert bench.ask(f"select outcome from attempt where job = {job}") == [("succeeded",)]
    assert bench.ask(f"select count(*) from event where job = {job} and target = 'succeeded'") == [(1,)]


def test_commits_that_are_always_lost_are_told_in_bounded_time_and_store_nothing(
    bench: ProxiedBench, proxy: Proxy
) -> None:
    store = store_with(bench.url, SOON, patience=Duration(SECOND))
    proxy.at_commit, proxy.commits = "lose", None
    with Took() as took, pytest.raises(StoreUnreachable) as caught:
        note(store, "never")
    assert not isinstance(caught.value, OutcomeUnknown)
    assert took.seconds < 5 * slowness()
    assert proxy.lost > 1
    assert stored(bench, "never") == 0
    store.close()


@pytest.mark.parametrize("what", ["answer", "lose"])
def test_an_outcome_that_nobody_can_tell_is_said_to_be_unknown(
    store: Store, bench: ProxiedBench, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Behind the lost answer the server stays out of reach."""
    monkeypatch.setattr(engine_module, "_OUTCOME_PATIENCE", Duration(300 * MILLISECOND))
    note(store, "before")
    proxy.before_cut = lambda: setattr(proxy, "refuse", 1000)
    proxy.at_commit = what
    with pytest.raises(OutcomeUnknown, match="not known") as caught:
        store.write(lambda tx: tx.rows("policy/insert", document="perhaps"))
    assert caught.value.http_status == 504
    proxy.refuse = 0
    assert stored(bench, "perhaps") == (1 if what == "answer" else 0)
    note(store, "after")


def test_a_transaction_that_waits_for_a_lost_commit_is_ended_so_that_its_outcome_is_known_at_once(
    store: Store, bench: ProxiedBench, proxy: Proxy
) -> None:
    """The COMMIT goes into a black hole: for the server the transaction is open, and would keep its locks."""
    note(store, "before")
    proxy.at_commit = "hold"
    with Took() as took:
        note(store, "held")
    assert took.seconds < 8 * slowness()
    assert proxy.commits == 0
    assert stored(bench, "held") == 1
    open_here = "select count(*) from pg_stat_activity where state like 'idle in tr%' and datname = current_database()"
    assert bench.ask(open_here) == [(0,)]


# --- elsewhere in a transaction ---------------------------------------------------------------------------------------


def test_sessions_that_died_while_nobody_used_them_are_not_noticed_above(
    store: Store, bench: ProxiedBench, proxy: Proxy
) -> None:
    for word in ("one", "two", "three"):
        note(store, word)
        proxy.cut()
    assert [stored(bench, word) for word in ("one", "two", "three")] == [1, 1, 1]


def test_sessions_that_the_server_ended_are_not_noticed_either(store: Store, bench: ProxiedBench) -> None:
    note(store, "one")
    bench.ask(
        "select pg_terminate_backend(pid) from pg_stat_activity "
        "where pid <> pg_backend_pid() and datname = current_database()"
    )
    note(store, "two")
    assert stored(bench, "two") == 1


@pytest.mark.parametrize("inline", [True, False])
def test_a_way_that_is_cut_amid_the_work_has_it_done_again_from_the_start(
    bench: ProxiedBench, proxy: Proxy, *, inline: bool
) -> None:
    store = store_with(bench.url, SOON, inline=inline)
    tries: list[int] = []

    def work(tx: Transaction) -> int:
        tx.rows("policy/insert", document="amid")
        tries.append(len(tx.rows("policy/find", document="amid")))
        if len(tries) == 1:
            proxy.cut()
        return len(tx.rows("policy/find", document="amid"))

    assert store.write(work) == 1
    assert tries == [1, 1]
    assert stored(bench, "amid") == 1
    store.close()


def test_a_look_is_looked_again_when_its_way_is_cut(store: Store, proxy: Proxy) -> None:
    note(store, "there")
    tries: list[int] = []

    def look(tx: Transaction) -> int:
        tries.append(1)
        if len(tries) == 1:
            proxy.cut()
        return len(tx.rows("policy/find", document="there"))

    assert store.read(look) == 1


@pytest.mark.parametrize("how", ["both", "answers"])
def test_a_way_that_went_black_is_given_up_in_bounded_time_and_nothing_is_doubled(
    store: Store, bench: ProxiedBench, proxy: Proxy, how: str
) -> None:
    waiting = store_with(bench.url, SOON, inline=True)
    note(waiting, "before")
    proxy.swallow = how
    for one in (waiting, store_with(bench.url, SOON, inline=True)):  # amid a session, and while making one
        with Took() as took, pytest.raises(StoreUnreachable):
            note(one, "never")
        assert took.seconds < 15 * slowness()
    proxy.swallow = ""
    proxy.cut()
    assert stored(bench, "never") == 0
    note(store, "after")
    assert stored(bench, "after") == 1


def test_a_slow_way_only_takes_longer(store: Store, bench: ProxiedBench, proxy: Proxy) -> None:
    proxy.delay = Duration(60 * MILLISECOND)
    note(store, "slow")
    assert stored(bench, "slow") == 1


def test_what_is_larger_than_the_buffers_on_the_way_is_sent_whole(bench: ProxiedBench) -> None:
    store = store_with(bench.url, Limits(answer=Duration(90 * SECOND)))
    assert store.write(lambda tx: tx.rows("policy/find", document="x" * 30_000_000)) == []
    store.close()


def test_a_server_that_takes_no_connections_for_a_while_is_waited_for(
    store: Store, bench: ProxiedBench, proxy: Proxy
) -> None:
    note(store, "before")
    tries: list[int] = []

    def work(tx: Transaction) -> None:
        tx.rows("policy/insert", document="waited")
        tx.rows("policy/find", document="waited")
        if not tries:
            tries.append(1)
            proxy.refuse = 4
            proxy.cut()
            tx.rows("policy/find", document="waited")

    store.write(work)
    assert proxy.refuse == 0
    assert stored(bench, "waited") == 1


def test_a_process_with_one_loop_is_told_at_once(bench: ProxiedBench, proxy: Proxy) -> None:
    store = store_with(bench.url, SOON, inline=True)
    note(store, "before")
    proxy.refuse = 1000
    proxy.cut()
    with Took() as took, pytest.raises(StoreUnreachable, match="can't be reached"):
        note(store, "never")
    assert took.seconds < 3 * slowness()
    assert stored(bench, "never") == 0
    store.close()


def test_a_batch_of_ends_is_not_split_by_a_lost_answer(bench: ProxiedBench, proxy: Proxy) -> None:
    story = Story(bench)
    made = story.submit_many([JobRequest("shop.send")] * 20)
    claims = story.claim(*made)
    proxy.at_commit = "answer"
    settled = story.end_all([Ending(job, claims[job], Outcome.SUCCEEDED, result=b"1") for job in made])
    assert len(settled.verdicts) == 20
    assert bench.ask("select count(*) from job where state = 'succeeded'") == [(20,)]
    assert bench.ask("select count(*) from attempt") == [(20,)]
