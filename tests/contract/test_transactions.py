"""Transactions: what a write promises, alone and in company."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from mainspring.errors import StoreError
from mainspring.store import Store, Transaction
from tests.contract.engines import Bench

LONG = 20.0
"""Seconds after which a test gives up; nothing waits that long when all is well."""


def take(tx: Transaction, count: int = 1) -> int:
    """Change something: a number is taken, which comes back with a rollback where the engine has no sequences."""
    first = tx.job_ids(count)[0]
    tx.rows("policy/insert", document=f"of {first}")
    return first


def refused(tx: Transaction) -> None:
    """Change something, then do what the database refuses."""
    take(tx)
    tx.rows("policy/insert", document="the same")
    tx.rows("policy/insert", document="the same")


def test_a_write_answers_what_its_work_returned(store: Store) -> None:
    assert store.write(take) == 1
    assert store.write(lambda tx: take(tx, 5)) == 2
    assert store.write(lambda _: None) is None
    assert store.write(take) == 7


def test_a_write_that_raises_changes_nothing_and_raises_the_same(store: Store, bench: Bench) -> None:
    class Mine(BaseException):
        pass

    def work(tx: Transaction) -> None:
        take(tx, 100)
        raise Mine

    before = bench.dump(store)
    with pytest.raises(Mine):
        store.write(work)
    assert bench.dump(store) == before
    assert store.write(take)


def test_what_the_database_refuses_is_an_error_of_ours_and_changes_nothing(store: Store, bench: Bench) -> None:
    before = bench.dump(store)
    with pytest.raises(StoreError):
        store.write(refused)
    with pytest.raises(StoreError):
        store.read(lambda tx: tx.rows("policy/insert", document=b"not a text"))
    assert bench.dump(store) == before


def test_one_bad_piece_of_work_does_not_spoil_those_that_share_its_commit(store: Store, bench: Bench) -> None:
    """They wait together behind a write that takes its time, so that one commit takes them all."""
    entered, go_on = threading.Event(), threading.Event()

    def slow(tx: Transaction) -> int:
        entered.set()
        assert go_on.wait(LONG)
        return take(tx)

    def odd(tx: Transaction) -> None:
        take(tx)
        raise ArithmeticError("odd")

    with ThreadPoolExecutor(12) as pool:
        first = pool.submit(store.write, slow)
        assert entered.wait(LONG)
        works: list[Callable[[Transaction], Any]] = [take, refused, take, odd, take, refused, take]
        futures: list[Future[Any]] = [pool.submit(store.write, work) for work in works]
        go_on.set()
        numbers = sorted(future.result(LONG) for future, work in zip(futures, works, strict=True) if work is take)
        for future, work in zip(futures, works, strict=True):
            if work is refused:
                with pytest.raises(StoreError):
                    future.result(LONG)
            elif work is odd:
                with pytest.raises(ArithmeticError, match="odd"):
                    future.result(LONG)
        assert len({first.result(LONG), *numbers}) == 5
    assert len(bench.dump(store)["policy"]) == 5


def test_all_statements_of_a_transaction_see_one_now(store: Store, bench: Bench) -> None:
    def work(tx: Transaction) -> bool:
        before = tx.now
        bench.clock.forward()
        return tx.now == before

    assert store.write(work)
    assert store.read(work)


def test_a_write_inside_a_transaction_is_refused_and_harms_nothing(store: Store, bench: Bench) -> None:
    """It would wait for itself, or end the outer transaction too early."""

    def outer(tx: Transaction) -> int:
        number = take(tx)
        with pytest.raises(StoreError, match="inside another transaction"):
            store.write(take)
        raise ZeroDivisionError(number)

    before = bench.dump(store)
    with pytest.raises(ZeroDivisionError):
        store.write(outer)
    assert bench.dump(store) == before
    assert store.write(take)


def test_a_read_inside_a_transaction_works(store: Store) -> None:
    def last(tx: Transaction) -> int:
        return int(tx.rows("event/bound")[0][0])

    assert store.read(lambda _: store.read(last)) == 0
    assert store.write(lambda _: store.read(last)) == 0


def test_a_read_changes_nothing_by_looking_twice_and_sees_every_commit_so_far(store: Store) -> None:
    def documents(tx: Transaction) -> int:
        return len(tx.rows("policy/find", document="seen"))

    assert store.read(documents) == 0
    store.write(lambda tx: tx.rows("policy/insert", document="seen"))
    assert store.read(documents) == 1


def test_a_read_is_one_snapshot_also_while_others_write(bench: Bench) -> None:
    if not bench.lasting:
        return  # there are no others
    mine, other = bench.open(), bench.open()

    def look(tx: Transaction) -> tuple[int, int]:
        first = len(tx.rows("policy/find", document="late"))
        other.write(lambda tx_: tx_.rows("policy/insert", document="late"))
        return first, len(tx.rows("policy/find", document="late"))

    assert mine.read(look) == (0, 0)
    assert mine.read(lambda tx: len(tx.rows("policy/find", document="late"))) == 1


def test_what_was_committed_is_there_for_the_next_store(bench: Bench) -> None:
    if not bench.lasting:
        return
    first = bench.open()
    kept = first.write(lambda tx: tx.rows("policy/insert", document="kept"))
    first.close()
    assert bench.open().read(lambda tx: tx.rows("policy/find", document="kept")) == kept


def test_a_closed_store_refuses_and_may_be_closed_again(store: Store) -> None:
    store.write(take)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.write(take)
    with pytest.raises(StoreError, match="closed"):
        store.read(lambda tx: tx.rows("event/bound"))


def test_a_close_amid_writes_leaves_nobody_waiting(bench: Bench) -> None:
    """Each gets its number or is told that the store is closed; what was answered is stored."""
    for _ in range(5):
        store = bench.open()
        begun = threading.Barrier(5)
        answered: list[int] = []

        def write(store: Store = store, begun: threading.Barrier = begun, answered: list[int] = answered) -> None:
            begun.wait(LONG)
            for _ in range(200):
                try:
                    answered.append(store.write(take))
                except StoreError as error:
                    assert "closed" in str(error)  # noqa: PT017 - in a thread
                    return

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        begun.wait(LONG)
        store.close()
        for thread in threads:
            thread.join(LONG)
            assert not thread.is_alive()
        if bench.lasting:
            assert bench.open().write(take) > max(answered, default=0)
        assert len(set(answered)) == len(answered)


def test_many_threads_may_use_one_store(store: Store) -> None:
    def busy(_: int) -> list[int]:
        numbers = []
        for _ in range(25):
            numbers.append(store.write(take))
            store.read(lambda tx: tx.rows("event/bound"))
        return numbers

    with ThreadPoolExecutor(8) as pool:
        found = [number for numbers in pool.map(busy, range(8)) for number in numbers]
    assert sorted(found) == list(range(1, 201))
