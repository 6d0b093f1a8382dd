"""Events: their order, cursors and kinds."""

from __future__ import annotations

import pytest

from mainspring.clock import MINUTE
from mainspring.control import read
from mainspring.domain.event import Event
from mainspring.domain.job import JobRequest
from mainspring.domain.states import TABLE, Cause, Outcome, State
from mainspring.errors import InvalidCursor, InvalidInput, UnknownJob
from tests.contract.stories import Story


def events(
    story: Story, *, after: int = 0, job: int | None = None, kinds: tuple[str, ...] = (), limit: int = 1000
) -> list[Event]:
    return read.history(story.store, after=after, job=job, kinds=kinds, limit=limit)


def a_busy_day(story: Story) -> None:
    for state in State:
        if state is not State.NEW:
            story.bring(state)
    story.clock.forward(MINUTE)
    story.promote()


def test_each_transition_is_one_event_and_each_event_a_row_of_the_table(story: Story) -> None:
    a_busy_day(story)
    legal = {(row.cause, row.source, row.target) for row in TABLE}
    found = events(story)
    assert all((event.cause, event.source, event.target) in legal for event in found)
    standing: dict[int, State] = {}
    for event in found:
        assert standing.get(event.job, State.NEW) is event.source, "one after the other, none left out"
        standing[event.job] = event.target
    assert standing == {job: story.state(job) for job in standing}


def test_events_are_ordered_by_a_cursor_that_grows_and_never_repeats(story: Story) -> None:
    a_busy_day(story)
    sequence = [event.seq for event in events(story)]
    assert sequence == sorted(set(sequence))
    assert read.last_event(story.store) == sequence[-1]


def test_pages_of_any_size_give_the_same_events(story: Story) -> None:
    a_busy_day(story)
    whole = events(story)
    for size in (1, 3, 1000):
        found: list[Event] = []
        while page := events(story, after=found[-1].seq if found else 0, limit=size):
            assert len(page) <= size
            found += page
        assert found == whole


def test_what_comes_while_one_reads_is_seen_by_the_next_page(story: Story) -> None:
    story.submit()
    cursor = read.last_event(story.store)
    assert events(story, after=cursor) == []
    job = story.submit()
    (event,) = events(story, after=cursor)
    assert (event.job, event.cause) == (job, Cause.SUBMIT)


def test_events_of_one_job_only(story: Story) -> None:
    one, other = story.running(), story.running()
    story.end(one)
    assert [event.job for event in events(story, job=one)] == [one] * 3
    assert [event.job for event in events(story, job=other)] == [other] * 2
    (last,) = events(story, job=one, after=events(story, job=one)[1].seq)
    assert last.target is State.SUCCEEDED


def test_kinds_name_target_states_or_causes(story: Story) -> None:
    a_busy_day(story)
    for kinds in (("dead",), ("claim",), ("dead", "succeeded", "cancel"), ("queued",)):
        found = events(story, kinds=kinds)
        assert found == [event for event in events(story) if event.cause in kinds or event.target in kinds]
        assert found


def test_an_unknown_kind_is_refused_with_the_near_ones(story: Story) -> None:
    with pytest.raises(InvalidInput, match="succeeded"):
        events(story, kinds=("suceeded",))
    with pytest.raises(InvalidInput, match="Kinds:"):
        events(story, kinds=("zzz",))


def test_events_say_who_and_what_more(story: Story) -> None:
    job = story.submit(delay="1s")
    story.clock.forward(MINUTE)
    story.promote()
    story.claim(job)
    story.end(job, Outcome.FAILED)
    story.cancel(job)
    found = events(story, job=job)
    assert [event.actor for event in found] == ["client", "sweeper", "worker:1", "worker:1", "ann"]
    assert [event.attempt for event in found] == [0, 0, 1, 1, 1]
    born, _, _, retried, _ = found
    assert born.detail == {"due": born.at + 1_000_000}
    assert retried.detail == {"outcome": "failed", "due": retried.at + 10_000_000, "error": "ValueError: boom"}


def test_events_of_one_submit_have_one_time_and_the_order_of_the_jobs(story: Story) -> None:
    ids = story.submit_many([JobRequest("send")] * 20)
    found = events(story)
    assert [event.job for event in found] == ids
    assert len({event.at for event in found}) == 1


def test_a_cursor_that_can_not_be_one_is_refused(story: Story) -> None:
    job = story.submit()
    for cursor in (-1, 2**63, 2**90):
        with pytest.raises(InvalidCursor):
            events(story, after=cursor)
        with pytest.raises(InvalidCursor):
            read.logs(story.store, job, attempt=None, after=cursor, limit=10)


def test_a_limit_is_bounded(story: Story) -> None:
    job = story.submit()
    for limit in (0, -1, 10_001):
        with pytest.raises(InvalidInput, match="limit"):
            events(story, limit=limit)
        with pytest.raises(InvalidInput, match="limit"):
            read.logs(story.store, job, attempt=None, after=0, limit=limit)


def test_the_history_of_an_unknown_job_is_refused(story: Story) -> None:
    for number in (999, 2**80):
        with pytest.raises(UnknownJob):
            events(story, job=number)
        with pytest.raises(UnknownJob):
            read.attempts(story.store, number)
        with pytest.raises(UnknownJob):
            read.logs(story.store, number, attempt=None, after=0, limit=10)


def test_a_page_of_rare_kinds_ends_early_and_says_where_it_goes_on(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_busy_day(story)
    expected = events(story, kinds=("dead",))
    assert expected
    monkeypatch.setattr("mainspring.store.events.STRIDE", 2)
    first = read.history_page(story.store, after=0, job=None, kinds=("dead",), limit=10)
    assert (first.items, first.next) == ([], events(story, limit=2)[-1].seq), "it has not come to one"
    assert events(story, kinds=("dead",)) == expected
    assert events(story, kinds=("dead",), limit=len(expected) - 1 or 1) == expected[: len(expected) - 1 or 1]
    last = read.history_page(story.store, after=read.last_event(story.store), job=None, kinds=("dead",), limit=10)
    assert (last.items, last.next) == ([], None)
