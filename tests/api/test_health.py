"""What health says of a loop that stands still, by a clock that the test moves."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest

from mainspring.clock import MILLISECOND, MINUTE, SECOND, Clock, Duration
from mainspring.engine.drive import Drive
from mainspring.errors import StoreCorrupt, StoreUnreachable
from mainspring.server.health import LOOP_PATIENCE, WRITE_PAUSE, Health
from tests.api.hand_clock import HandClock


class Turns:
    """A loop that turns as often as it is told, and may fail."""

    def __init__(self, name: str, clock: Clock, pause: Duration = SECOND) -> None:
        self.error: Exception | None = None
        self._pause = pause
        self._stop = threading.Event()
        self.drive = Drive(name, self, clock, lambda _: self._stop.set())

    def turn(self) -> Duration:
        if self.error is not None:
            raise self.error
        return self._pause

    def once(self) -> None:
        self._stop.clear()
        self.drive.run(self._stop.is_set)


@pytest.fixture
def health() -> Iterator[tuple[HandClock, Turns, Health]]:
    clock = HandClock(1_000_000)
    turns = Turns("sweeper", clock)
    made = Health([turns.drive], clock, lambda: None, list)
    yield clock, turns, made
    made.close()


def test_a_loop_that_hangs_when_it_was_rung_early_is_seen_although_it_was_to_wait_for_long() -> None:
    clock = HandClock(1_000_000)
    stopped = threading.Event()
    late: list[Duration] = []

    class Hangs:
        def turn(self) -> Duration:
            clock.at += LOOP_PATIENCE + SECOND
            late.append(drive.late)
            stopped.set()
            return Duration(5 * MINUTE)

    drive = Drive("bus", Hangs(), clock, lambda _: None)
    drive.run(stopped.is_set)
    stopped.clear()
    clock.at += SECOND
    drive.run(stopped.is_set)
    assert late == [LOOP_PATIENCE + SECOND] * 2


def test_a_loop_may_be_slow_and_not_stand(health: tuple[HandClock, Turns, Health]) -> None:
    clock, turns, made = health
    clock.at += LOOP_PATIENCE
    assert made.fit()["sweeper"] == (True, "ok")
    clock.at += SECOND
    assert made.fit()["sweeper"] == (False, "should have turned 11 s ago")
    assert made.ready()["sweeper"][0] is False
    turns.once()
    assert made.fit()["sweeper"] == (True, "ok")


def test_a_loop_that_fails_again_and_again_is_red_with_its_error(health: tuple[HandClock, Turns, Health]) -> None:
    clock, turns, made = health
    turns.error = StoreCorrupt("main.db is not a sound database.")
    for _ in range(12):
        turns.once()
        clock.at += SECOND
    fine, said = made.fit()["sweeper"]
    assert not fine
    assert said == "should have turned 12 s ago: main.db is not a sound database."
    turns.error = None
    turns.once()
    assert made.fit()["sweeper"] == (True, "ok")


def test_every_loop_is_looked_at_by_what_it_said_of_its_next_turn() -> None:
    clock = HandClock(1_000_000)
    often, seldom = Turns("sweeper", clock), Turns("retention", clock, Duration(10 * MINUTE))
    made = Health([often.drive, seldom.drive], clock, lambda: None, list)
    often.once()
    seldom.once()
    for _ in range(600):
        clock.at += SECOND
        often.once()
        assert all(fine for fine, _ in made.fit().values())
    seldom.error = ValueError("a row that it does not understand")
    seldom.once()
    clock.at += 11 * SECOND
    often.once()
    for checks in (made.fit(), made.ready()):
        assert checks["sweeper"] == (True, "ok")
        assert checks["retention"] == (
            False,
            "should have turned 11 s ago: ValueError: a row that it does not understand",
        )
    made.close()


def test_a_loop_that_fails_says_so_in_the_log_once_and_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    clock = HandClock(1_000_000)
    turns = Turns("retention", clock)

    def said() -> list[str]:
        lines = [f"{record.name}: {record.getMessage()}" for record in caplog.records]
        caplog.clear()
        return lines

    turns.error = StoreCorrupt("main.db is not a sound database.")
    turns.once()
    assert said() == ["mainspring.retention: main.db is not a sound database. Trying again in 0.1 s."]
    for _ in range(30):
        turns.once()
        clock.at += SECOND
    assert said() == [], "it is known"
    clock.at += 31 * SECOND
    turns.once()
    assert len(said()) == 1
    turns.error = ValueError("another")
    turns.once()
    assert caplog.records[0].exc_info is not None, "what nobody expected comes with its place"
    said()
    turns.error = None
    turns.once()
    assert said() == ["mainspring.retention: turns again"]


def test_how_long_the_last_write_took_is_known_unless_it_failed() -> None:
    clock = HandClock(1_000_000)
    error: list[Exception] = []

    def write() -> None:
        clock.at += 30 * MILLISECOND
        if error:
            raise error[0]

    health = Health([], clock, write, list)
    assert health.write_took is None
    health.fit()
    assert health.write_took == 30 * MILLISECOND
    error.append(StoreUnreachable("gone"))
    clock.at += WRITE_PAUSE
    health.fit()
    assert health.write_took is None
    health.close()


def test_a_store_that_refuses_is_red_with_its_error() -> None:
    def refuse() -> None:
        raise StoreCorrupt("main.db is not a sound database.", remedy="Restore a backup.")

    clock = HandClock(1_000_000)
    made = Health([Turns("sweeper", clock).drive], clock, refuse, list)
    assert made.fit()["store"] == (False, "main.db is not a sound database. Restore a backup.")
    made.close()


def test_where_others_may_ask_only_the_log_has_the_text_of_an_error(caplog: pytest.LogCaptureFixture) -> None:
    secret = "postgresql://ann@10.0.0.7/orders does not answer."

    def refuse() -> None:
        raise StoreUnreachable(secret)

    clock = HandClock(1_000_000)
    turns = Turns("sweeper", clock)
    made = Health([turns.drive], clock, refuse, list, engine="PostgreSQL")
    turns.error = StoreUnreachable(secret)
    turns.once()
    caplog.clear()
    clock.at += LOOP_PATIENCE + SECOND
    assert made.fit() == {
        "store": (False, "PostgreSQL: store_unreachable; the server's log says more"),
        "sweeper": (False, "should have turned 11 s ago; the server's log says more"),
    }
    assert "10.0.0.7" not in str(made.ready())
    assert [record.getMessage() for record in caplog.records] == [secret], "once"
    made.close()
