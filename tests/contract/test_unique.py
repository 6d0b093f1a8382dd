"""Unique keys: who holds one, until when, and what a submit does that finds it held."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mainspring.clock import HOUR, MINUTE, SECOND, Duration
from mainspring.control import jobs as control_jobs
from mainspring.control import read, submit
from mainspring.domain.job import JobRequest, Receipt, Unique
from mainspring.domain.states import FINAL, LIVE, Outcome, State
from mainspring.engine.sweep import Sweep
from mainspring.errors import InvalidDuration, InvalidInput, InvalidOption, InvalidText, KeyHeld
from mainspring.store import Store
from tests.contract.engines import Dump
from tests.contract.stories import Story

WAITING = Unique("k", while_="waiting")
REPLACE = Unique("k", on_conflict="replace")
REJECT = Unique("k", on_conflict="reject")


def asks(story: Story, unique: str | Unique | None = "k", task: str = "send", **values: Any) -> Receipt:
    """One submit with a key."""
    return submit.submit(story.store, [JobRequest(task, unique=unique, **values)], actor="client")[0]


def kept(story: Story) -> Dump:
    """All that is stored; ids may be given to nobody."""
    return {name: rows for name, rows in story.dump().items() if name != "counter"}


@pytest.mark.parametrize("state", sorted(LIVE))
def test_a_key_is_held_until_its_job_has_ended(story: Story, state: State) -> None:
    job = story.bring(state, unique="k")
    before = kept(story)
    assert asks(story, params={"other": 1}) == Receipt(job, new=False)
    assert kept(story) == before
    with pytest.raises(KeyHeld, match=f"job {job} holds the unique key 'k' of shop.send") as refused:
        asks(story, REJECT)
    assert refused.value.job == job
    assert kept(story) == before


@pytest.mark.parametrize("state", sorted(FINAL))
def test_the_end_of_a_job_lets_its_key_go_whatever_the_end_is(story: Story, state: State) -> None:
    job = story.bring(state, unique="k")
    second = asks(story, REJECT)
    assert second.new
    assert second.job != job
    assert asks(story).job == second.job


def test_a_lost_and_a_released_job_keep_their_key(story: Story) -> None:
    lost = story.running(unique="k")
    story.clock.forward(HOUR)
    assert story.lose_expired() == [lost]
    assert asks(story) == Receipt(lost, new=False)
    story.claim(lost)
    story.end(lost, Outcome.RELEASED)
    assert asks(story) == Receipt(lost, new=False)


def test_a_key_held_while_waiting_is_let_go_at_the_first_claim_for_good(story: Story) -> None:
    first = asks(story, WAITING)
    assert asks(story, WAITING) == Receipt(first.job, new=False)
    later = asks(story, WAITING, task="mail", delay="1m")
    story.clock.forward(MINUTE)
    assert story.promote() == 1
    assert asks(story, WAITING, task="mail") == Receipt(later.job, new=False)
    story.claim(first.job)
    second = asks(story, WAITING)
    assert second.new
    story.end(first.job, Outcome.FAILED)  # it waits again, and the key is no longer its own
    assert story.state(first.job) is State.RETRYING
    assert asks(story, WAITING) == Receipt(second.job, new=False)
    story.claim(second.job)
    story.end(second.job, Outcome.FAILED)
    assert asks(story, WAITING).new


def test_a_period_ends_the_hold_of_a_job_that_goes_on(story: Story) -> None:
    first = asks(story, Unique("k", period="1h"))
    story.claim(first.job)
    story.clock.forward(Duration(HOUR - SECOND))
    assert asks(story) == Receipt(first.job, new=False)
    story.clock.forward(SECOND)
    second = asks(story, Unique("k", period=60))
    assert second.new
    story.end(first.job)  # it has no say any more
    assert asks(story) == Receipt(second.job, new=False)


def test_keys_of_different_tasks_are_different_keys(story: Story) -> None:
    receipts = [asks(story), asks(story, task="mail"), asks(story, "K"), asks(story, "k "), asks(story, None)]
    assert [one.new for one in receipts] == [True] * 5
    assert asks(story, task="shop.send") == Receipt(receipts[0].job, new=False)


def test_a_replacement_cancels_the_one_that_waits_and_takes_its_place(story: Story) -> None:
    first = asks(story, delay="1h", params={"n": 1})
    second = asks(story, REPLACE, params={"n": 2})
    assert second.new
    assert story.state(first.job) is State.CANCELLED
    cancel = read.history(story.store, after=0, job=first.job, kinds=["cancelled"], limit=10)[0]
    assert cancel.detail == {"replaced_by": second.job}
    assert story.job(second.job).params == {"n": 2}
    assert asks(story) == Receipt(second.job, new=False)


def test_a_replacement_takes_the_children_of_what_it_replaces_along(story: Story) -> None:
    first = story.running(unique="k")
    child = story.submit(parent=first)
    story.end(first, Outcome.FAILED)
    assert asks(story, REPLACE).new
    assert (story.state(first), story.state(child)) == (State.CANCELLED, State.CANCELLED)


def test_a_replacement_is_refused_once_the_holder_runs_unless_that_lets_the_key_go(story: Story) -> None:
    first = story.running(unique="k")
    with pytest.raises(KeyHeld, match="has started"):
        asks(story, REPLACE)
    other = story.running("mail", unique=WAITING)
    second = asks(story, Unique("k", while_="waiting", on_conflict="replace"), task="mail")
    assert second.new
    assert (story.state(first), story.state(other)) == (State.RUNNING, State.RUNNING)


def test_jobs_of_one_submit_with_the_same_key_are_one_job(story: Story) -> None:
    def many(*rules: str | Unique | None) -> list[Receipt]:
        requests = [JobRequest("send", {"n": n}, unique=rule) for n, rule in enumerate(rules)]
        return submit.submit(story.store, requests, actor="client")

    receipts = many("a", None, "b", "a")
    assert [one.new for one in receipts] == [True, True, True, False]
    assert receipts[3].job == receipts[0].job
    replace = Unique("c", on_conflict="replace")
    last = many(replace, replace)
    assert [one.new for one in last] == [False, True]
    assert last[0].job == last[1].job
    assert story.job(last[1].job).params == {"n": 1}
    before = kept(story)
    with pytest.raises(InvalidOption, match="Two jobs of this submit"):
        many("d", Unique("d", on_conflict="reject"))
    with pytest.raises(KeyHeld):
        many("e", Unique("a", on_conflict="reject"))
    assert many("b", "a") == [Receipt(receipts[2].job, new=False), Receipt(receipts[0].job, new=False)]
    assert kept(story) == before


def test_a_retry_by_hand_takes_the_key_again_and_is_refused_where_another_has_it(story: Story) -> None:
    dead = story.bring(State.DEAD, unique=Unique("k", on_conflict="replace"))
    again = story.retry(dead)
    assert asks(story) == Receipt(again.id, new=False)
    story.claim(again.id)
    story.end(again.id)
    other = asks(story)
    with pytest.raises(KeyHeld) as refused:
        story.retry(dead)
    assert refused.value.job == other.job


SENSELESS: list[tuple[str | Unique, type[InvalidInput], str]] = [
    ("", InvalidOption, "unique"),
    ("k" * 256, InvalidOption, "unique"),
    ("a\0b", InvalidText, "unique"),
    (Unique(""), InvalidOption, "unique.key"),
    (Unique(7), InvalidOption, "unique.key"),  # type: ignore[arg-type]
    (Unique("k", while_="running"), InvalidOption, "unique.while"),  # type: ignore[arg-type]
    (Unique("k", on_conflict="ignore"), InvalidOption, "unique.on_conflict"),  # type: ignore[arg-type]
    (Unique("k", period="soon"), InvalidDuration, "unique.period"),
    (Unique("k", period=0), InvalidOption, "unique.period"),
]


def test_a_rule_that_makes_no_sense_is_refused(story: Story) -> None:
    before = story.dump()
    for rule, error, field in SENSELESS:
        with pytest.raises(error) as refused:
            asks(story, rule)
        assert refused.value.field == field
        assert story.dump() == before


def test_a_key_may_be_any_text(story: Story) -> None:
    for key in ("a" * 255, "ü'\"\\{,}", "NULL", "\U0001f511" * 255, " "):
        assert asks(story, key).new, key
        assert not asks(story, key).new, key


# --- who is kept to queues -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["k", Unique("k", on_conflict="reject"), Unique("k", on_conflict="replace")])
def test_a_holder_outside_the_queues_of_whoever_asks_is_not_named_to_them(story: Story, rule: str | Unique) -> None:
    foreign = story.submit(queue="other", unique="k")
    requests = [JobRequest("send"), JobRequest("send", unique=rule)]
    before = story.dump()
    with pytest.raises(KeyHeld) as refused:
        submit.submit(story.store, requests, actor="c", kept_to=["shop"])
    assert (refused.value.job, refused.value.index) == (0, 1)
    assert str(foreign) not in f"{refused.value} {refused.value.remedy}"
    with pytest.raises(KeyHeld):
        submit.submit_one(story.store, requests[1], actor="c", kept_to=["shop"])
    assert story.dump() == before
    story.cancel(foreign)
    told = submit.submit(story.store, requests, actor="c", kept_to=["shop"])
    assert [one.new for one in told] == [True, True]
    assert submit.submit(story.store, [JobRequest("send", unique="k")], actor="c", kept_to=["shop"])[0] == Receipt(
        told[1].job, new=False
    ), "of their own queues they see it"


def test_a_retry_names_no_holder_outside_the_queues_of_whoever_asks(story: Story) -> None:
    mine = story.submit(unique="k")
    story.cancel(mine)
    foreign = story.submit(queue="other", unique="k")
    for kept_to, job in ((["shop"], 0), (["other", "shop"], foreign), (None, foreign)):
        with pytest.raises(KeyHeld) as refused:
            control_jobs.retry(story.store, mine, actor="c", kept_to=kept_to)
        assert refused.value.job == job


# --- at once ----------------------------------------------------------------------------------------------------------


def at_once(stores: Sequence[Store], unique: Sequence[str | Unique]) -> list[list[Receipt]]:
    """Every store submits all of these in its own thread, each in an order of its own."""
    start = threading.Barrier(len(stores))

    def one(number: int) -> list[Receipt]:
        start.wait()
        order = [*unique[number:], *unique[:number]]
        told = [submit.submit(stores[number], [JobRequest("send", unique=rule)], actor="c")[0] for rule in order]
        return [told[(place - number) % len(unique)] for place in range(len(unique))]

    with ThreadPoolExecutor(len(stores)) as pool:
        return list(pool.map(one, range(len(stores))))


def test_submits_of_a_key_at_the_same_time_make_one_job_and_all_name_it(story: Story) -> None:
    told = at_once(story.bench.several(6), [f"k{number}" for number in range(10)])
    for receipts in zip(*told, strict=True):
        assert len({one.job for one in receipts}) == 1
        assert sum(one.new for one in receipts) == 1
    assert len(story.dump()["job"]) == 10


def test_keys_that_were_let_go_are_taken_over_by_one_of_many(story: Story) -> None:
    ended = [story.bring(State.SUCCEEDED, unique=f"k{number}") for number in range(5)]
    told = at_once(story.bench.several(5), [f"k{number}" for number in range(5)])
    for receipts in zip(*told, strict=True):
        assert len({one.job for one in receipts}) == 1
        assert sum(one.new for one in receipts) == 1
    assert len(story.dump()["job"]) == len(ended) + 5


def test_replacements_at_the_same_time_leave_one_that_is_alive(story: Story) -> None:
    stores = story.bench.several(5)
    told = [one for receipts in at_once(stores, [REPLACE] * 4) for one in receipts]
    assert all(one.new for one in told)
    states = [story.state(one.job) for one in told]
    assert states.count(State.QUEUED) == 1
    assert states.count(State.CANCELLED) == len(told) - 1


def test_whole_batches_with_the_same_keys_at_the_same_time_get_along(story: Story) -> None:
    stores, keys = story.bench.several(5), [f"k{number}" for number in range(50)]

    def one(number: int) -> list[Receipt]:
        order = keys[::-1] if number % 2 else keys
        told = submit.submit(stores[number], [JobRequest("send", unique=key) for key in order], actor="c")
        return told[::-1] if number % 2 else told

    with ThreadPoolExecutor(len(stores)) as pool:
        told = list(pool.map(one, range(len(stores))))
    assert len({tuple(one.job for one in receipts) for receipts in told}) == 1
    assert len(story.dump()["job"]) == 50


# --- cost -------------------------------------------------------------------------------------------------------------


def test_jobs_without_a_key_say_nothing_more_to_the_database(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    kind: type = story.store.write(type)
    for verb in ("rows", "many"):
        sound = getattr(kind, verb)

        def noting(tx: Any, name: str, /, *args: Any, _sound: Any = sound, **values: Any) -> Any:
            said.append(name)
            return _sound(tx, name, *args, **values)

        monkeypatch.setattr(kind, verb, noting)
    story.end(story.running(unique="k"))
    assert [name for name in said if name.startswith("key/")] == ["key/take"]
    said.clear()
    story.end(story.running())
    assert [name for name in said if name.startswith(("key/", "answer/"))] == []


# --- forgetting -------------------------------------------------------------------------------------------------------


def sweep_for(story: Story, length: int) -> None:
    """A server turns for so long."""
    sweep = Sweep(story.store, story.clock, Duration(10 * SECOND))
    end = story.clock.monotonic() + length
    while story.clock.monotonic() < end:
        story.clock.forward(max(SECOND, sweep.turn()))


def test_keys_of_ended_jobs_are_forgotten_a_batch_at_a_time_and_no_others(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mainspring.engine.sweep.TIDY_BATCH", 40)
    ended = story.submit_many([JobRequest("once", unique=f"e{n}") for n in range(90)])
    control_jobs.cancel_all(story.store, ended, actor="ann")
    waits, runs = story.submit(unique="w"), story.running(unique="r")
    later = story.bring(State.SUCCEEDED, unique="l")
    sweep_for(story, 3 * MINUTE)
    assert sorted(row[2] for row in story.dump()["unique_key"]) == [waits, runs]
    assert asks(story, "w") == Receipt(waits, new=False)
    assert asks(story, "l").job != later
