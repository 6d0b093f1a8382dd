"""A guest in somebody else's transaction: only what a birth needs, in a savepoint, and everything as it was behind it.

Nothing is tried again and no error of the driver is translated here: the transaction is not ours. When the caller rolls
back, nothing was ever there; when he commits, the jobs are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from mainspring.chance import Chance
from mainspring.clock import Instant
from mainspring.errors import InvalidOption
from mainspring.store.postgres_drivers import Driver
from mainspring.store.postgres_place import Place
from mainspring.store.postgres_session import array
from mainspring.store.statements import statement
from mainspring.store.transaction import Told, Transaction, Wanted

T = TypeVar("T")


class Guest:
    """The transaction of somebody else, as far as our code may use it. Meets Transaction."""

    at_once = one_writer = False

    def __init__(self, driver: Driver, place: Place, now: Instant, chance: Chance) -> None:
        self.now = now
        self.chance = chance
        self._driver = driver
        self._place = place

    def rows(self, name: str, /, **values: Any) -> list[tuple[Any, ...]]:
        """Run a statement by name and return all rows; ``:now`` and ``:space`` are bound by themselves."""
        parameters = statement(name, "postgres").parameters
        known = {"now": self.now, "space": self._place.space}
        return self._driver.rows(name, values | {key: value for key, value in known.items() if key in parameters})

    def row(self, name: str, /, **values: Any) -> tuple[Any, ...] | None:
        """The first row, if there is one."""
        found = self.rows(name, **values)
        return found[0] if found else None

    def many(self, name: str, batch: Sequence[tuple[Any, ...]] | Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Run a statement once for all tuples."""
        columns = list(zip(*batch, strict=True))
        if not columns:
            return []
        return self._driver.rows(
            name, dict(zip(statement(name, "postgres").parameters, map(array, columns), strict=True))
        )

    def changing(self, name: str, batch: Sequence[tuple[Any, ...]]) -> Told:
        """Not every driver says so, and nothing that a guest may do asks for it."""
        raise AssertionError(f"{name}: how many rows it changed is not known")

    def together(self, *asked: Wanted) -> list[list[tuple[Any, ...]]]:
        """Run statements one after the other; the rows of each."""
        return [
            self.rows(name, **values) if isinstance(values, dict) else self.many(name, values) for name, values in asked
        ]

    def ask(self, name: str, batch: Sequence[tuple[Any, ...]], /, **values: Any) -> Callable[[], list[tuple[Any, ...]]]:
        """Never: a guest moves nothing."""
        raise AssertionError(f"{name}: asked where moves are not made at once: {len(batch)} rows, {sorted(values)}")

    def expect_ids(self, count: int) -> None:
        """Nothing: they are taken when they are wanted."""

    def remember(self, what: Hashable, value: Any) -> None:
        """Nothing: to look again costs little, and this one does not know whether it is committed."""

    def recall(self, what: Hashable) -> Any:
        """Nothing."""

    def job_ids(self, count: int) -> Sequence[int]:
        """So many new job ids, rising."""
        return [row[0] for row in self.rows("job/take_ids", count=count)]


def _check_server(place: Place, found: str, server: str) -> None:
    if found != server:
        raise InvalidOption(
            f"connection is one to another database than {place.shown}.",
            remedy="A job can't be stored with what is in another database.",
            field="connection",
        )


def within(  # noqa: PLR0913 - what it works on, and what it is told
    driver: Driver,
    place: Place,
    server: str,
    work: Callable[[Transaction], T],
    *,
    chance: Chance,
    given_now: Instant | None,
) -> tuple[T, bool]:
    """Do ``work`` in the transaction of this connection; what it answers, and whether it is committed already.

    A connection that commits by itself gets a transaction for this; else all is in a savepoint, so that a refusal of
    ours does not spoil what the caller has done. ``server``: which one ours is; another one is InvalidOption.
    """
    alone = driver.autocommits()
    driver.frame("begin" if alone else "savepoint mainspring")
    try:
        before, found, now, _ = driver.rows("session/enter_guest", {"path": place.search_path})[0]
        _check_server(place, found, server)
        guest = Guest(driver, place, Instant(now) if given_now is None else given_now, chance)
        guest.rows("event/announce")
        value = work(guest)
        driver.rows("session/enter", {"path": before})
        driver.frame("commit" if alone else "release savepoint mainspring")
    except BaseException:
        with suppress(Exception):  # what went wrong is told; a connection that is gone undoes everything itself
            driver.frame("rollback" if alone else "rollback to savepoint mainspring")
            if not alone:
                driver.frame("release savepoint mainspring")
        raise
    return value, alone
