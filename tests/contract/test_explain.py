"""Why a job is where it is, on every engine: the facts are those of the store, in one bounded look."""

from __future__ import annotations

import pytest

from mainspring.clock import HOUR, MINUTE, SECOND, Duration
from mainspring.control import queues
from mainspring.control.explain import explanation
from mainspring.domain.job import JobRequest
from mainspring.domain.queue import QueueChange
from mainspring.domain.states import Outcome, State
from mainspring.domain.worker import WorkerState
from mainspring.errors import UnknownJob
from mainspring.store import workers
from tests.contract.stories import Story


def codes(story: Story, job: int) -> list[str]:
    return [reason.code for reason in explanation(story.store, job).reasons]


def change(story: Story, name: str, **values: object) -> None:
    queues.change(story.store, name, QueueChange(**values), actor="ann")  # type: ignore[arg-type]


def test_a_job_of_every_state_says_why(story: Story) -> None:
    told = {state: codes(story, story.bring(state)) for state in set(State) - {State.NEW}}
    assert told == {
        State.SCHEDULED: ["not_due"],
        State.QUEUED: told[State.QUEUED],
        State.RUNNING: ["running"],
        State.RETRYING: ["backoff"],
        State.SUCCEEDED: ["succeeded"],
        State.DEAD: ["dead"],
        State.CANCELLED: ["cancelled"],
    }
    with pytest.raises(UnknownJob):
        explanation(story.store, 999)


def test_a_queued_job_names_all_that_is_in_its_way_until_nothing_is(story: Story) -> None:
    job = story.submit()
    assert codes(story, job) == ["next"]
    change(story, "shop", paused=True)
    story.clock.forward(HOUR)
    assert codes(story, job) == ["queue_paused", "no_worker"], "the worker is silent by now"
    change(story, "shop", paused=False)
    story.store.write(lambda tx: workers.beat(tx, story.worker, WorkerState.ACTIVE, Duration(HOUR)))
    assert codes(story, job) == ["overdue"], "for an hour; what was in its way before nobody knows"
    change(story, "mail", limit=1)
    story.running("mail")
    other = story.submit("mail")
    assert codes(story, other)[0] == "queue_full"


def test_what_goes_before_it_is_counted_by_priority_and_age_over_all_open_queues_of_its_app(story: Story) -> None:
    story.submit_many([JobRequest("send", priority=1)] * 3)
    change(story, "late", limit=None)
    story.submit_many([JobRequest("send", queue="late", priority=1)] * 2)
    story.submit("send", priority=9)
    job = story.submit()
    (reason,) = explanation(story.store, job).reasons
    assert (reason.code, reason.text) == ("behind", "5 jobs of shop go before it")
    change(story, "late", paused=True)
    assert explanation(story.store, job).reasons[0].text.startswith("3 jobs")


def test_slots_that_are_taken_count_by_what_each_job_costs(story: Story) -> None:
    for _ in range(10):
        story.running()
    assert codes(story, story.submit()) == ["busy"]


def test_a_retry_tells_its_error_and_a_loss_its_worker(story: Story) -> None:
    job = story.running()
    story.end(job, Outcome.FAILED)
    told = explanation(story.store, job)
    assert "failed" in told.reasons[0].text
    assert told.reasons[0].until == story.clock.now() + 10 * SECOND
    lost = story.running()
    story.clock.forward(10 * MINUTE)
    assert codes(story, lost) == ["worker_silent", "running"]
    late = codes(story, job)
    assert late[0] == "not_promoted"


def test_a_job_that_waits_for_its_own_says_how_many(story: Story) -> None:
    parent = story.running()
    story.submit(parent=parent)
    story.submit(parent=parent, delay="1h")
    told = explanation(story.store, parent).reasons
    assert (told[0].code, told[0].text) == ("children", "2 jobs that it submitted have not ended")
