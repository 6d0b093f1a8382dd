"""What health says of a loop that stands still, by a clock that the test moves."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from mainspring.clock import SECOND, Clock, Duration, Instant
from mainspring.engine.drive import Drive
from mainspring.errors import StoreCorrupt
from mainspring.server.health import LOOP_PATIENCE, Health


class Moved:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.at = 1_000_000

    def now(self) -> Instant:
        return Instant(self.at)

    def monotonic(self) -> Duration:
        return Duration(self.at)

    def wait(self, length: Duration) -> None:
        self.at += length


class Turns:
    """A loop that turns as often as it is told, and may fail."""

    def __init__(self, clock: Clock) -> None:
        self.error: Exception | None = None
        self._stop = threading.Event()
        self.drive = Drive(self, clock, lambda _: self._stop.set())

    def turn(self) -> Duration:
        if self.error is not None:
            raise self.error
        return SECOND

    def once(self) -> None:
        self._stop.clear()
        self.drive.run(self._stop.is_set)


@pytest.fixture
def health() -> Iterator[tuple[Moved, Turns, Health]]:
    clock = Moved()
    turns = Turns(clock)
    made = Health(turns.drive, clock, lambda: None, list)
    yield clock, turns, made
    made.close()


def test_a_loop_may_be_slow_and_not_stand(health: tuple[Moved, Turns, Health]) -> None:
    clock, turns, made = health
    clock.at += LOOP_PATIENCE
    assert made.fit()["sweeper"] == (True, "ok")
    clock.at += SECOND
    assert made.fit()["sweeper"] == (False, "has not turned for 11 s")
    assert made.ready()["sweeper"][0] is False
    turns.once()
    assert made.fit()["sweeper"] == (True, "ok")


def test_a_loop_that_fails_again_and_again_is_red_with_its_error(health: tuple[Moved, Turns, Health]) -> None:
    clock, turns, made = health
    turns.error = StoreCorrupt("main.db is not a sound database.")
    for _ in range(12):
        turns.once()
        clock.at += SECOND
    fine, said = made.fit()["sweeper"]
    assert not fine
    assert said == "has not turned for 12 s: main.db is not a sound database."
    turns.error = None
    turns.once()
    assert made.fit()["sweeper"] == (True, "ok")


def test_a_store_that_refuses_is_red_with_its_error() -> None:
    def refuse() -> None:
        raise StoreCorrupt("main.db is not a sound database.", remedy="Restore a backup.")

    clock = Moved()
    made = Health(Turns(clock).drive, clock, refuse, list)
    assert made.fit()["store"] == (False, "main.db is not a sound database. Restore a backup.")
    made.close()
