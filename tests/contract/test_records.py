"""The log of servers and workers in the store: in order, bounded, and nobody's burden."""

from __future__ import annotations

import logging

import pytest

from mainspring.clock import DAY, SECOND
from mainspring.control import records
from mainspring.domain.record import Bound, Entry, RecordFilter
from mainspring.engine.record import MOST_AT_ONCE, MOST_WAITING, Recorder, recording
from mainspring.errors import InvalidInput, StoreUnreachable
from mainspring.store import Store
from tests.contract.stories import Story


def entry(story: Story, message: str, level: int = logging.INFO, **about: int) -> Entry:
    return Entry(story.clock.now(), "server", 42, level, "bus", message, Bound(**about))  # type: ignore[arg-type]


def found(story: Story, **wanted: object) -> list[str]:
    return [one.entry.message for one in records.found(story.store, RecordFilter(**wanted))]  # type: ignore[arg-type]


def test_what_was_said_is_kept_in_order_and_found_by_what_it_is_about(story: Story) -> None:
    one, two = Recorder(story.store, story.clock, "server"), Recorder(story.store, story.clock, "worker")
    one.take(entry(story, "first"))
    one.take(entry(story, "second", logging.ERROR, job=7, attempt=1, run=3))
    one.turn()
    story.clock.forward(SECOND)
    two.take(Entry(story.clock.now(), "worker", 43, logging.WARNING, "worker", "third", Bound(worker=5)))
    two.turn()
    assert found(story) == ["first", "second", "third"]
    assert found(story, limit=2) == ["second", "third"], "the newest, oldest first"
    assert found(story, level="warning") == ["second", "third"]
    assert found(story, process="worker") == found(story, worker=5) == ["third"]
    assert found(story, job=7) == found(story, run=3) == found(story, level="error") == ["second"]
    assert found(story, since=story.clock.now()) == ["third"]
    assert found(story, until=story.clock.now()) == ["first", "second"]
    (second,) = records.found(story.store, RecordFilter(job=7))
    assert second.entry.bound == Bound(job=7, attempt=1, run=3)
    assert found(story, after=second.seq) == ["third"]
    assert found(story, after=0, limit=1) == ["first"]
    for wrong in ({"limit": 0}, {"level": "loud"}, {"after": -1}):
        with pytest.raises(InvalidInput):
            found(story, **wrong)


def test_a_flood_is_cut_and_the_cut_is_told(story: Story) -> None:
    recorder = Recorder(story.store, story.clock, "server")
    for number in range(MOST_WAITING + 300):
        recorder.take(entry(story, f"line {number}"))
    recorder.turn()
    kept = found(story, limit=1000)
    assert len(kept) == MOST_AT_ONCE + 1
    assert kept[-1].startswith("300 entries of this log were dropped")
    recorder.turn()
    assert found(story, limit=1)[0] == f"line {2 * MOST_AT_ONCE - 1}"


def test_a_store_that_is_away_costs_nobody_anything_and_gets_it_later(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(story.store, story.clock, "server", keep=DAY)
    recorder.take(entry(story, "said meanwhile"))

    def away(*_: object, **__: object) -> None:
        raise StoreUnreachable("away")

    with monkeypatch.context() as patched:
        patched.setattr(Store, "write", away)
        recorder.turn()
    recorder.turn()
    assert found(story) == ["said meanwhile"]


def test_old_records_go(story: Story) -> None:
    recorder = Recorder(story.store, story.clock, "server", keep=DAY)
    recorder.take(entry(story, "old"))
    recorder.turn()
    story.clock.forward(DAY + SECOND)
    recorder.take(entry(story, "new"))
    recorder.turn()
    assert found(story) == ["new"]


def test_all_that_the_process_says_is_kept_with_what_it_is_always_about(story: Story) -> None:
    log = logging.getLogger("mainspring.test")
    log.setLevel(logging.INFO)
    with recording(Recorder(story.store, story.clock, "worker", current=lambda: {"request": "r-1"})) as recorder:
        recorder.always = {"worker": 9}
        log.info("listening with password=hunter22", extra={"job": 7})
        try:
            int("boom")
        except ValueError:
            log.exception("a loop failed \0")
    log.info("said to nobody")
    one, two = records.found(story.store, RecordFilter())
    assert (one.entry.message, one.entry.source, one.entry.bound) == (
        *("listening with password=***", "test", Bound(job=7, worker=9, request="r-1")),
    )
    assert two.entry.message.startswith("a loop failed \\x00\nTraceback")
    assert two.entry.message.endswith("with base 10: 'boom'")
