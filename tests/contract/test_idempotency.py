"""Idempotency keys: the same submit sent again is stored once and answered as the first time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from mainspring.clock import HOUR, MINUTE, SECOND, Duration
from mainspring.control import submit
from mainspring.domain.job import ATOMIC, JobRequest, Receipt, Unique
from mainspring.domain.states import State
from mainspring.engine.sweep import Sweep
from mainspring.errors import IdempotencyKeyReused, InvalidOption, InvalidParameters, KeyHeld, OutOfReach, TooManyJobs
from tests.contract.stories import Story


def once(story: Story, *requests: JobRequest, key: str = "once") -> list[Receipt]:
    """A submit with an idempotency key."""
    return submit.submit(story.store, requests, actor="client", idempotency_key=key)


def test_the_same_submit_is_stored_once_and_answered_as_the_first_time(story: Story) -> None:
    first = once(story, JobRequest("send", {"a": 1, "b": 2}), JobRequest("mail"))
    before = story.dump()
    assert once(story, JobRequest("send", {"b": 2, "a": 1}), JobRequest("mail")) == first
    story.claim(first[0].job)
    story.end(first[0].job)
    assert once(story, JobRequest("send", {"a": 1, "b": 2}), JobRequest("mail")) == first
    assert story.dump()["idempotency_key"] == before["idempotency_key"]
    assert once(story, JobRequest("mail"), key="other")[0].job > first[1].job


def test_one_submit_is_answered_with_the_job_as_it_was_stored_and_a_job_from_before_as_it_is(story: Story) -> None:
    full = {
        "queue": "express",
        "priority": -3,
        "retry": {"max_attempts": 9},
        "timeout": "30s",
        "expires": "1h",
        "tags": {"team": "mail"},
        "meta": {"from": ["a", 1]},
    }
    requests = [
        JobRequest("send"),
        JobRequest("shop.mail", {"order": 7, "nested": [{"a": None}, 1.5]}, **full),  # type: ignore[arg-type]
        JobRequest("send", delay="1h", unique="k"),
        JobRequest("send", run_at="2001-01-01T00:00:00Z"),
    ]
    parent = story.submit()
    for number, request in enumerate(requests):
        for key in (None, f"key {number}"):
            unheld = msgspec.structs.replace(request, unique=None if key else request.unique)
            job, new = submit.submit_one(story.store, unheld, actor="client", parent=parent, idempotency_key=key)
            assert (job, new) == (story.job(job.id), True)
    held, new = submit.submit_one(story.store, requests[2], actor="client")
    assert (held, new) == (story.job(held.id), False)
    story.cancel(held.id)
    assert submit.submit_one(story.store, requests[2], actor="client")[1], "the key is free again"
    first, _ = submit.submit_one(story.store, requests[0], actor="client", idempotency_key="again")
    story.claim(first.id)
    again, new = submit.submit_one(story.store, requests[0], actor="client", idempotency_key="again")
    assert (again.id, again.state, new) == (first.id, State.RUNNING, True)


def test_another_submit_with_the_same_key_is_refused(story: Story) -> None:
    once(story, JobRequest("send", {"a": 1}))
    before = story.dump()
    for other in (JobRequest("send", {"a": 2}), JobRequest("mail", {"a": 1}), JobRequest("send", {"a": 1}, priority=1)):
        with pytest.raises(IdempotencyKeyReused, match="'once' came with another submit"):
            once(story, other)
    assert story.dump() == before


def test_a_refused_submit_leaves_its_key_free(story: Story) -> None:
    with pytest.raises(InvalidParameters):
        once(story, JobRequest("send", params=[]))  # type: ignore[arg-type]
    story.submit(unique="k")
    with pytest.raises(KeyHeld):
        once(story, JobRequest("send", unique=Unique("k", on_conflict="reject")))
    assert once(story, JobRequest("send"))[0].new


def test_an_answer_is_given_again_though_the_unique_key_has_changed_hands(story: Story) -> None:
    first = once(story, JobRequest("send", unique="k"))
    found = once(story, JobRequest("send", unique="k"), key="second")
    assert found == [Receipt(first[0].job, new=False)]
    story.claim(first[0].job)
    story.end(first[0].job)
    assert once(story, JobRequest("send", unique="k")) == first
    assert once(story, JobRequest("send", unique="k"), key="second") == found


def test_an_answer_that_names_jobs_outside_the_queues_of_whoever_asks_is_not_given_to_them(story: Story) -> None:
    story.submit(queue="other", unique="k")
    request = JobRequest("send", unique="k")
    told = once(story, request)  # somebody who may see it
    for task in (request, JobRequest("send", unique="k")):
        with pytest.raises(OutOfReach) as refused:
            submit.submit_one(story.store, task, actor="c", idempotency_key="once", kept_to=["shop"])
        assert refused.value.field == "Idempotency-Key"
    reaching = submit.submit(story.store, [request], actor="c", idempotency_key="once", kept_to=["other", "shop"])
    assert reaching == told


def test_a_key_is_kept_for_a_day_and_then_forgotten(story: Story) -> None:
    first = once(story, JobRequest("send"))
    story.clock.forward(Duration(24 * HOUR - SECOND))
    assert once(story, JobRequest("send")) == first
    story.clock.forward(SECOND)
    second = once(story, JobRequest("mail"))  # before any sweep came by
    assert second[0].job != first[0].job
    once(story, JobRequest("mail"), key="other")
    story.clock.forward(Duration(23 * HOUR))
    kept = once(story, JobRequest("mail"), key="kept")
    story.clock.forward(HOUR)
    sweep = Sweep(story.store, story.clock, Duration(10 * SECOND))
    for _ in range(3 * MINUTE // SECOND):
        sweep.turn()
        story.clock.forward()
    assert [row[0] for row in story.dump()["idempotency_key"]] == ["kept"]
    assert once(story, JobRequest("mail"), key="kept") == kept


@pytest.mark.parametrize("key", ["", "k" * 256, " k", "k ", "k\n", "k\tk", "schlüssel"])
def test_a_key_that_cannot_be_one_is_refused(story: Story, key: str) -> None:
    with pytest.raises(InvalidOption) as refused:
        once(story, JobRequest("send"), key=key)
    assert refused.value.field == "Idempotency-Key"


def test_a_key_covers_what_is_stored_all_or_none(story: Story) -> None:
    assert len(once(story, *[JobRequest("send")] * ATOMIC)) == ATOMIC
    with pytest.raises(TooManyJobs):
        once(story, *[JobRequest("send")] * (ATOMIC + 1), key="more")


def test_the_same_submit_from_many_at_the_same_time_makes_one_job(story: Story) -> None:
    stores = story.bench.several(6)
    start = threading.Barrier(6)

    def one(number: int) -> list[Receipt]:
        start.wait()
        return [
            submit.submit(stores[number], [JobRequest("send", {"n": n})], actor="c", idempotency_key=f"k{n}")[0]
            for n in range(8)
        ]

    with ThreadPoolExecutor(6) as pool:
        told = list(pool.map(one, range(6)))
    assert len({tuple(receipts) for receipts in told}) == 1
    assert len(story.dump()["job"]) == 8
