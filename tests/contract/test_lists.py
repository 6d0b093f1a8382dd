"""Lists and counts of jobs: each filter, and pages without gaps or doubles."""

from __future__ import annotations

import pytest

from mainspring.client.direct import DirectClient
from mainspring.clock import MINUTE
from mainspring.control import read
from mainspring.domain.job import Job, JobFilter, JobRequest
from mainspring.domain.states import Outcome, State
from mainspring.errors import InvalidCursor, InvalidInput
from mainspring.server.pages import job_page
from tests.contract.stories import Story


def listed(story: Story, **values: object) -> list[int]:
    """All ids that match, over all pages; checks that the count agrees."""
    wanted = JobFilter(**values)  # type: ignore[arg-type]
    page = read.listed(story.store, wanted)
    found = [job.id for job in page.items]
    while page.next is not None:
        page = read.listed(story.store, JobFilter(**(values | {"cursor": page.next})))  # type: ignore[arg-type]
        found += [job.id for job in page.items]
    assert read.counted(story.store, wanted) == len(found)
    return list(found)


def newest_first(ids: list[int]) -> list[int]:
    return sorted(ids, reverse=True)


def test_each_state_lists_its_jobs_and_no_others(story: Story) -> None:
    ids = {state: [int(story.bring(state)) for _ in range(3)] for state in State if state is not State.NEW}
    for size in (1, 2, 50):
        for state, expected in ids.items():
            assert listed(story, state=state, limit=size) == newest_first(expected)
        assert listed(story, limit=size) == newest_first([job for group in ids.values() for job in group])
    assert listed(story, state=State.NEW) == []


def test_a_job_in_a_list_is_shown_as_it_is_shown_alone(story: Story) -> None:
    for state in State:
        if state is not State.NEW:
            job = story.bring(state, params={"n": 1}, tags={"a": "b"}, meta=2, expires="1d", timeout="5s")
            (shown,) = read.listed(story.store, JobFilter(state=state)).items
            assert shown == story.job(job)
            assert shown in read.listed(story.store, JobFilter()).items


def test_filters_by_task_queue_tag_and_time_alone_and_together(story: Story) -> None:
    send = story.submit(tags={"team": "mail", "env": "a=b"})
    mail = story.submit("mail", tags={"team": "mail"})
    story.clock.forward(MINUTE)
    begin = story.clock.now()
    late = story.submit(queue="mail", tags={"team": "Mail"})
    story.clock.forward(MINUTE)
    last = story.submit()
    assert listed(story, task="send") == [last, late, send]
    assert listed(story, task="shop.mail") == [mail]
    assert listed(story, queue="mail") == [late, mail]
    assert listed(story, queue="nowhere") == []
    assert listed(story, tag="team=mail") == [mail, send]
    assert listed(story, tag="env=a=b") == [send]
    assert listed(story, tag="env=") == []
    assert listed(story, since=begin) == [last, late]
    assert listed(story, until=begin) == [mail, send]
    assert listed(story, since=begin, until=begin + 1) == [late], "since is included, until is not"
    assert listed(story, since=begin, queue="mail", task="send", tag="team=Mail", state=State.QUEUED) == [late]


def test_any_tag_that_can_be_given_can_be_asked_for(story: Story) -> None:
    for key in ("team", "größe", "a.b", "a b", "$", "a[0]", "it's", "a\\b", "☃", "0", "null", "a\tb"):
        job = story.submit(tags={key: "x y='\"\\"})
        other = story.submit(tags={f"{key}2": "x"})
        assert listed(story, tag=f"{key}=x y='\"\\") == [job]
        assert listed(story, tag=f"{key}2=x") == [other]


def test_every_filter_works_in_every_state(story: Story) -> None:
    states = [state for state in State if state is not State.NEW]
    marked = {state: int(story.bring(state, tags={"a": "b"})) for state in states}
    for state in states:
        story.bring(state)
    now = story.clock.now()
    far = now + 100 * MINUTE
    for asked in (None, *states):
        expected = newest_first(list(marked.values())) if asked is None else [marked[asked]]
        for values in ({"tag": "a=b"}, {"task": "send", "tag": "a=b"}, {"queue": "shop", "until": far, "tag": "a=b"}):
            assert listed(story, state=asked, **values) == expected
        assert listed(story, state=asked, since=far) == []
        assert listed(story, state=asked, since=now, until=now + 1, tag="a=b") == expected
        assert listed(story, state=asked, since=now + 1) == listed(story, state=asked, until=now) == []
        assert listed(story, state=asked, task="mail") == []


def test_pages_have_no_gaps_or_doubles_while_jobs_are_added_and_move(story: Story) -> None:
    there = [int(job) for job in story.submit_many([JobRequest("send")] * 25)]
    found: list[Job] = []
    page = read.listed(story.store, JobFilter(limit=4))
    while True:
        found += page.items
        story.submit_many([JobRequest("send")] * 3)
        ahead = there[max(0, 25 - len(found) - 2)]
        story.claim(ahead)  # type: ignore[arg-type]
        if page.next is None:
            break
        page = read.listed(story.store, JobFilter(limit=4, cursor=page.next))
    assert [int(job.id) for job in found] == newest_first(there)


def test_the_last_page_says_that_it_is_the_last(story: Story) -> None:
    story.submit_many([JobRequest("send")] * 6)
    first = read.listed(story.store, JobFilter(limit=3))
    second = read.listed(story.store, JobFilter(limit=3, cursor=first.next))
    assert (len(second.items), second.next) == (3, None)
    assert read.listed(story.store, JobFilter(limit=6)).next is None


def test_a_cursor_that_was_not_handed_out_is_refused(story: Story) -> None:
    for cursor in ("", "x", "-1", "1.5", "\u0661", "9223372036854775808", "9999999999999999999", "9" * 40):
        with pytest.raises(InvalidCursor):
            read.listed(story.store, JobFilter(cursor=cursor))


def test_a_page_has_a_bounded_size(story: Story) -> None:
    for limit in (0, -1, 1001):
        with pytest.raises(InvalidInput, match="limit"):
            read.listed(story.store, JobFilter(limit=limit))


def test_a_tag_without_a_value_is_refused(story: Story) -> None:
    for ask in (read.listed, read.counted):
        with pytest.raises(InvalidInput, match="key=value"):
            ask(story.store, JobFilter(tag="team"))


def test_a_row_that_was_spoiled_by_hand_hides_no_list(story: Story) -> None:
    job, fine = story.submit(), story.submit()
    dead = story.bring(State.RETRYING)
    spoil = story.bench.alter
    spoil(story.store, f"update job set params = '{{not json', meta = 'x', tags = '[' where id = {job}")
    spoil(story.store, f"update attempt set failure = 'nonsense' where job = {dead}")
    spoil(story.store, "update policy set document = 'nonsense' where id = 1")
    shown = {item.id: item for item in read.listed(story.store, JobFilter()).items}
    assert set(shown) == {job, fine, dead}
    assert (shown[job].params, shown[job].meta, shown[job].tags) == ("{not json", "x", {})
    error = shown[dead].error
    assert error is not None
    assert error.message == "nonsense"
    assert shown[job].max_attempts == 4, "the defaults"
    assert listed(story, tag="a=b") == []
    story.claim(job)
    story.end(job, Outcome.SUCCEEDED)
    assert story.state(job) is State.SUCCEEDED


def test_a_list_in_which_few_of_many_match_ends_early_and_says_where_it_goes_on(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are, one answer passes so many at most, and all answers together find what there is."""
    states = [state for state in State if state is not State.NEW]
    marked = {state: int(story.bring(state, tags={"a": "b"})) for state in states}
    for _ in range(4):
        for state in states:
            story.bring(state)
    everything = {state: listed(story, state=state, tag="a=b") for state in (None, *states)}
    monkeypatch.setattr("mainspring.store.walk.STRIDES", (1, 2))
    first = read.listed(story.store, JobFilter(tag="a=b"))
    assert (first.items, first.next is not None) == ([], True), "it has not come to one that matches"
    over_rest = job_page(DirectClient(story.store), JobFilter(tag="a=b"))
    assert (over_rest.items, over_rest.next) == ([], first.next), "nor does a server look on"
    for asked, expected in everything.items():
        for values in ({"tag": "a=b"}, {"queue": "shop"}, {"since": 0}, {"task": "mail"}):
            for size in (2, 50):
                found = listed(story, state=asked, limit=size, **values)
                if values == {"tag": "a=b"}:
                    assert found == expected
                else:
                    assert len(found) == (0 if values == {"task": "mail"} else 5 if asked else 5 * len(states))
                    assert found == newest_first(found)
    assert everything[State.DEAD] == [marked[State.DEAD]]


def test_a_count_of_what_is_not_kept_apart_is_told_in_parts_that_add_up(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are, one answer passes so many at most."""
    monkeypatch.setattr("mainspring.store.walk.STRIDES", (1, 2))
    for _ in range(5):
        story.submit(tags={"a": "b"})
    story.submit(queue="night")
    parts: list[int] = []
    cursor: str | None = None
    while not parts or cursor is not None:
        part = read.counted_part(story.store, JobFilter(tag="a=b", cursor=cursor))
        parts.append(part.count)
        cursor = part.next
    assert parts in ([2, 3], [2, 3, 0])
    assert read.counted(story.store, JobFilter(tag="a=b")) == 5
    assert read.counted_part(story.store, JobFilter(queue="night")).next is None, "that is kept"
    with pytest.raises(InvalidCursor):
        read.counted_part(story.store, JobFilter(tag="a=b", cursor="x"))
