"""What a collector is told of traces: each attempt, job and run once, in the trace that its submit came in."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mainspring.clock import MINUTE, SECOND
from mainspring.control import runs
from mainspring.control.submit import submit
from mainspring.domain.attempt import Failure
from mainspring.domain.job import JobRequest
from mainspring.domain.run import RunRequest
from mainspring.domain.span import TAG, Origin, Span, in_trace, origin_in, span_id, traceparent
from mainspring.domain.states import Outcome
from mainspring.domain.workflow import Workflow
from mainspring.engine.lineage import Origins
from mainspring.engine.telemetry import MOST_TRIES, PATIENCE, Telemetry
from tests.contract.run_stories import Runs, node
from tests.contract.stories import Story

TRACE, OUTSIDE = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
WITHIN = f"00-{TRACE}-{OUTSIDE}-01"


class Collected:
    """A collector that may be away."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.measured: list[bool] = []
        self.away = False

    def tell(self, told: Sequence[Span]) -> None:
        if self.away:
            raise OSError("no answer")
        self.spans += told

    def measure(self, *, whole: bool) -> None:
        if self.away:
            raise OSError("no answer")
        self.measured.append(whole)

    def named(self, name: str) -> list[Span]:
        return [one for one in self.spans if one.name == name]


class Telling:
    """A server that tells a collector, from before the story begins."""

    def __init__(self, story: Story) -> None:
        self.to = Collected()
        self.turn = Telemetry(story.store, story.clock, self.to)
        self.turn.turn()

    def all(self) -> Collected:
        for _ in range(5):
            self.turn.turn()
        return self.to


def test_an_attempt_and_its_job_are_spans_below_the_submit(story: Story) -> None:
    telling = Telling(story)
    job = story.submit(tags={TAG: WITHIN})
    story.clock.forward(SECOND)
    story.claim(job)
    story.clock.forward(2 * SECOND)
    story.end(job, Outcome.FAILED, failure=Failure("ValueError", "not today"))
    story.clock.forward(MINUTE)
    story.promote()
    story.claim(job)
    story.clock.forward(3 * SECOND)
    story.end(job)
    to = telling.all()
    first, second = to.named("attempt shop.send")
    (whole,) = to.named("job shop.send")
    assert {one.trace for one in to.spans} == {TRACE}
    assert (whole.parent, first.parent, second.parent) == (OUTSIDE, whole.id, whole.id)
    assert (first.ended - first.began, second.ended - second.began) == (2 * SECOND, 3 * SECOND)
    assert (first.error, second.error, whole.error) == ("failed: ValueError: not today", "", "")
    assert (first.attributes["mainspring.attempt"], second.attributes["mainspring.attempt"]) == (1, 2)
    assert whole.began + SECOND == first.began
    assert whole.ended == second.ended
    assert whole.attributes["mainspring.state"] == "succeeded"


def test_a_job_that_is_lost_or_cancelled_is_told_too(story: Story) -> None:
    telling = Telling(story)
    lost = story.running()
    story.clock.forward(MINUTE)
    story.lose_expired()
    waits = story.submit(delay="1h")
    story.cancel(waits)
    to = telling.all()
    (attempt,) = to.named("attempt shop.send")
    assert (attempt.attributes["mainspring.job"], attempt.error.partition(":")[0]) == (lost, "lost")
    (cancelled,) = to.named("job shop.send")
    assert (cancelled.attributes["mainspring.job"], cancelled.error, cancelled.parent) == (waits, "cancelled", None)


def test_what_a_job_or_run_makes_is_in_its_trace(story: Story) -> None:
    telling = Telling(story)
    flow = Runs(story)
    workflow = Workflow("flow", (node("a"), node("b", "a")))
    run = runs.start(story.store, RunRequest(workflow, tags={TAG: WITHIN}), actor="client").id
    flow.end("a")
    flow.end("b")
    parent = story.running()
    child = story.running(parent=parent)
    story.end(child)
    story.end(parent)
    to = telling.all()
    (whole,) = to.named("run flow")
    assert (whole.trace, whole.parent, whole.id) == (TRACE, OUTSIDE, span_id(TRACE, "run", run))
    jobs = {one.attributes["mainspring.job"]: one for one in to.named("job shop.send")}
    below = [one for one in jobs.values() if one.attributes.get("mainspring.run") == run]
    assert [(one.trace, one.parent) for one in below] == [(TRACE, whole.id)] * 2
    assert (jobs[child].trace, jobs[child].parent) == (jobs[parent].trace, jobs[parent].id)
    assert jobs[parent].trace != TRACE
    assert jobs[parent].parent is None
    assert len({one.id for one in to.spans}) == len(to.spans)


def test_a_worker_and_the_server_know_the_same_place_of_an_attempt(story: Story) -> None:
    telling = Telling(story)
    parent = story.running()
    job = story.running(parent=parent)
    found = story.store.read(lambda tx: Origins().of_jobs(tx, [job]))
    told = traceparent(found[job], job, 1)
    story.end(job)
    (attempt,) = telling.all().named("attempt shop.send")
    assert told == f"00-{attempt.trace}-{attempt.id}-01"


def test_a_trace_that_nobody_wants_is_not_told(story: Story) -> None:
    telling = Telling(story)
    job = story.running(tags={TAG: f"00-{TRACE}-{OUTSIDE}-00"})
    story.end(job)
    assert telling.all().spans == []


def test_of_two_servers_one_tells(story: Story) -> None:
    one, two = Telling(story), Telling(story)
    for _ in range(20):
        story.end(story.running())
        one.turn.turn()
        two.turn.turn()
    told = [span.id for span in one.all().spans + two.all().spans]
    assert len(told) == len(set(told)) == 40
    assert sorted(one.to.measured + two.to.measured) == [False, True], "one tells of the platform, both of themselves"
    story.clock.forward(MINUTE)
    assert len(one.all().measured + two.all().measured) == 4


def test_while_the_collector_is_away_nothing_is_lost_and_nobody_is_in_a_hurry(
    story: Story, caplog: pytest.LogCaptureFixture
) -> None:
    telling = Telling(story)
    telling.to.away = True
    for _ in range(3):
        story.end(story.running())
        assert telling.turn.turn() == PATIENCE
    assert [record.getMessage() for record in caplog.records] == ["the collector can't be told: no answer"]
    telling.to.away = False
    assert len(telling.all().named("job shop.send")) == 3


def test_that_the_collector_is_back_is_said_when_it_took_something(
    story: Story, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    telling = Telling(story)
    telling.to.away = True
    story.clock.forward(MINUTE)
    for _ in range(2 * MOST_TRIES):  # the numbers were refused, and nothing else is there to tell
        assert telling.turn.turn() == PATIENCE
    assert [record.getMessage() for record in caplog.records] == ["the collector can't be told: no answer"]
    story.end(story.running())
    assert telling.turn.turn() == PATIENCE, "a batch has its own tries"
    telling.to.away = False
    assert len(telling.all().named("job shop.send")) == 1
    assert [record.getMessage() for record in caplog.records][1:] == ["the collector is told again"]


def test_a_batch_that_is_never_taken_is_dropped_and_does_not_hold_up_the_next(story: Story) -> None:
    telling = Telling(story)
    telling.to.away = True
    story.end(story.running())
    for _ in range(MOST_TRIES):
        telling.turn.turn()
    telling.to.away = False
    later = story.running()
    story.end(later)
    assert [one.attributes["mainspring.job"] for one in telling.all().named("job shop.send")] == [later]


def test_a_submit_that_is_sent_again_is_the_same_whatever_trace_it_is_in(story: Story) -> None:
    def send(tags: dict[str, str]) -> int:
        request = JobRequest("shop.send", tags=tags)
        (receipt,) = submit(story.store, [request], actor="client", idempotency_key="once")
        return receipt.job

    assert send({"team": "mail", TAG: WITHIN}) == send({"team": "mail"}) == send({TAG: "00-x", "team": "mail"})


@pytest.mark.parametrize(
    "text",
    [
        *("", "00", WITHIN.upper(), f"ff{WITHIN[2:]}", f"00-{'0' * 32}-{OUTSIDE}-01", f"00-{TRACE}-{'0' * 16}-01"),
        *(f"00-{TRACE}-{OUTSIDE}-", f"{WITHIN}x", f"00-{TRACE[1:]}-{OUTSIDE}-01"),
    ],
)
def test_what_is_no_traceparent_begins_a_trace_of_its_own(text: str) -> None:
    assert origin_in({TAG: text}) is None
    assert in_trace({"a": "b"}, text) == {"a": "b"}


def test_a_traceparent_is_read_as_w3c_writes_it() -> None:
    assert origin_in({TAG: WITHIN}) == Origin(TRACE, OUTSIDE, told=True)
    assert origin_in({TAG: f"cc-{TRACE}-{OUTSIDE}-02-later-versions"}) == Origin(TRACE, OUTSIDE, told=False)
    assert in_trace({"a": "b"}, WITHIN) == {"a": "b", TAG: WITHIN}
    assert in_trace({TAG: "mine"}, WITHIN) == {TAG: "mine"}
