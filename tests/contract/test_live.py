"""What listeners are told: all that happens, to jobs, runs and nodes, once, in order, with what it belongs to."""

from __future__ import annotations

from mainspring.client.direct import DirectClient
from mainspring.clock import MINUTE, SECOND
from mainspring.control import read
from mainspring.domain.event import Happening
from mainspring.domain.job import JobRequest
from mainspring.server import feed
from mainspring.server.feed import Feed
from tests.contract.run_stories import Runs, node
from tests.contract.stories import Story


def told(story: Story, after: int = 0) -> list[Happening]:
    return read.happenings(story.store, after=after, limit=1000)


def test_jobs_runs_and_nodes_are_told_with_what_they_belong_to(story: Story) -> None:
    alone = story.submit("mail")
    of_runs = Runs(story)
    run = of_runs.start(node("first"), node("second", "first"), node("never", "first", run_if="all_failed"))
    of_runs.errands()
    of_runs.end("first")
    of_runs.errands()
    of_runs.end("second")
    found = told(story)
    assert [one.seq for one in found] == sorted({one.seq for one in found})
    assert (found[0].subject, found[0].job, found[0].run, found[0].queue, found[0].task) == (
        *("job", alone, None, "mail", "shop.mail"),
    )
    ends = [(one.subject, one.node) for one in found if one.target in {"succeeded", "skipped"}]
    assert ends == [("job", "first"), ("node", "never"), ("job", "second"), ("run", None)]
    assert {one.run for one in found[1:]} == {run}


def test_a_feed_tells_each_listener_all_behind_its_cursor_however_far_that_is(story: Story) -> None:
    live = Feed(DirectClient(story.store), story.clock)
    old = story.submit()
    begun = live.newest()
    assert live.after(begun) == []
    jobs = []
    for _ in range(5):
        story.clock.forward(SECOND)
        jobs.append(story.submit())
        assert [one.happening.job for one in live.after(begun)] == jobs, "from memory"
    assert [one.happening.job for one in live.after(0)] == [old, *jobs], "further back than memory goes, from the store"
    story.clock.forward(MINUTE)
    jobs.append(story.submit())
    assert [one.happening.job for one in live.after(begun)] == jobs, "nobody had listened for a while"


def test_a_feed_that_was_asked_a_moment_ago_answers_from_memory(story: Story) -> None:
    live = Feed(DirectClient(story.store), story.clock)
    old = story.submit()
    begun = live.newest()
    assert live.held(begun) is None, "nobody has asked yet"
    live.after(begun)
    job = story.submit()
    assert live.held(begun) == [], "it is as new as it need be"
    story.clock.forward(SECOND)
    assert live.held(begun) is None, "the store is to be asked again"
    assert [one.happening.job for one in live.after(begun)] == [job]
    assert live.held(begun) == live.after(begun)
    assert live.held(0) is None, "further back than memory goes"
    assert [one.happening.job for one in live.after(0)] == [old, job]


def test_what_a_feed_keeps_is_bounded_and_what_it_let_go_is_still_told(story: Story) -> None:
    live = Feed(DirectClient(story.store), story.clock)
    begun = live.newest()
    live.after(begun)
    wanted = []
    for _ in range(4):
        story.clock.forward(SECOND)
        wanted += story.submit_many([JobRequest("shop.send")] * 40)
        live.after(live.newest())
    before, feed._KEPT = feed._KEPT, 50
    try:
        for _ in range(2):
            story.clock.forward(SECOND)
            wanted += story.submit_many([JobRequest("shop.send")] * 20)
            live.after(live.newest())
        assert len(live._kept) == feed._KEPT
        assert [one.happening.job for one in live.after(begun)] == wanted
        assert [one.happening.job for one in live.after(live._start)] == wanted[-50:]
    finally:
        feed._KEPT = before
