"""Schedules: each due tick has one record and makes one job, whoever decides it, whatever is said of it meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from msgspec import structs

from mainspring import faults
from mainspring.clock import DAY, HOUR, MILLISECOND, MINUTE, SECOND, Duration, Instant, instant_text
from mainspring.control import read, schedules
from mainspring.control.catalog import declare
from mainspring.domain.access import ChangeFilter
from mainspring.domain.backfill import BackfillRequest
from mainspring.domain.job import Job, JobFilter
from mainspring.domain.plan import DeclaredSchedule, Plan
from mainspring.domain.states import Outcome as Ending
from mainspring.domain.states import State
from mainspring.domain.task import Catalog
from mainspring.domain.timetable import TRIGGER, Origin, Outcome, Schedule, Standing, Tick
from mainspring.engine.declaring import report
from mainspring.engine.fire import Fire
from mainspring.errors import (
    IllegalState,
    InvalidCursor,
    InvalidOption,
    InvalidSchedule,
    MainspringError,
    UnknownSchedule,
    UnknownTask,
)
from mainspring.faults import FaultPoint, InjectedFault
from mainspring.store import Store, ticks, trail
from tests.contract.stories import SHOP, Story, task

EVERY_MINUTE: dict[str, Any] = {"every": "1m"}


def put(story: Story, name: str = "pulse", recurrence: dict[str, Any] | None = None, **values: Any) -> Schedule:
    plan = Plan(recurrence or EVERY_MINUTE, **({"task": "send"} | values))
    return schedules.put(story.store, name, plan, origin=Origin.CLI, actor="ann")


def turn(story: Story, times: int = 1, store: Store | None = None) -> None:
    """What one server does, until nothing is left to do."""
    fire = Fire(store or story.store, story.clock)
    for _ in range(times):
        fire.turn()


def after(story: Story, length: int) -> None:
    """Time passes, then one server looks."""
    story.clock.forward(Duration(length))
    turn(story, 2)


def found(story: Story, name: str = "pulse") -> list[Tick]:
    """All ticks, oldest first."""
    page = schedules.listed_ticks(story.store, name, cursor=None, limit=1000)
    assert page.next is None
    return list(reversed(page.items))


def jobs(story: Story) -> list[Job]:
    return read.listed(story.store, JobFilter(limit=1000)).items


def outcomes(story: Story, name: str = "pulse") -> list[tuple[str, int]]:
    return [(tick.outcome.value, tick.ticks) for tick in found(story, name)]


def end_all(story: Story, ticks: Sequence[Tick], outcome: Ending = Ending.SUCCEEDED) -> None:
    """The jobs of these ticks run and end."""
    for tick in ticks:
        if tick.job is not None and story.state(tick.job) is State.QUEUED:
            story.claims |= story.claim(tick.job)
            story.end(tick.job, outcome)


# --- firing -----------------------------------------------------------------------------------------------------------


def test_a_tick_makes_one_job_with_the_parameters_of_its_schedule_and_the_next_one_is_stored(story: Story) -> None:
    made = put(story, params={"n": 7}, tags={"by": "clock"}, priority=3, queue="mail")
    assert made.next_tick == story.clock.now() // SECOND * SECOND + MINUTE
    turn(story)
    assert found(story) == []
    after(story, MINUTE)
    (tick,) = found(story)
    assert (tick.outcome, tick.nominal, tick.origin) == (Outcome.FIRED, made.next_tick, "regular")
    job = story.job(tick.job or 0)
    assert (job.params, job.tags, job.priority, job.queue) == ({"n": 7}, {"by": "clock"}, 3, "mail")
    assert job.run_at == tick.nominal
    again = schedules.one(story.store, "pulse")
    assert (again.last, again.fired) == (tick.nominal, 1)
    assert again.next_tick == tick.nominal + MINUTE


def test_two_servers_that_saw_the_same_tick_make_one_job(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    put(story)
    story.clock.forward(MINUTE)
    first, second = Fire(story.store, story.clock), Fire(story.store, story.clock)
    seen = second._store.read(second._look)
    first.turn()
    monkeypatch.setattr(second, "_look", lambda _: seen)
    second.turn()
    assert outcomes(story) == [("fired", 1)]
    assert len(jobs(story)) == 1


def test_a_job_that_is_unfinished_is_known_and_the_policy_says_what_happens(story: Story) -> None:
    for policy in ("skip", "buffer_one", "buffer_all", "cancel_other", "allow"):
        put(story, policy, overlap=policy)
    after(story, MINUTE)
    first = {policy: found(story, policy)[0].job for policy in ("skip", "cancel_other")}
    after(story, MINUTE)
    after(story, MINUTE)
    assert outcomes(story, "skip") == [("fired", 1), ("skipped", 1), ("skipped", 1)]
    assert f"job {first['skip']} is unfinished" in (found(story, "skip")[1].why or "")
    assert outcomes(story, "buffer_one") == [("fired", 1), ("waiting", 1), ("skipped", 1)]
    assert outcomes(story, "buffer_all") == [("fired", 1), ("waiting", 1), ("waiting", 1)]
    assert outcomes(story, "allow") == [("fired", 1)] * 3
    assert story.state(first["cancel_other"] or 0) is State.CANCELLED
    assert [tick.outcome for tick in found(story, "cancel_other")][:2] == [Outcome.FIRED, Outcome.FIRED]


def test_what_waited_fires_in_its_order_once_the_job_before_it_has_ended(story: Story) -> None:
    put(story, overlap="buffer_all")
    for _ in range(3):
        after(story, MINUTE)
    turn(story, 3)
    assert outcomes(story) == [("fired", 1), ("waiting", 1), ("waiting", 1)]
    end_all(story, found(story))
    turn(story, 3)
    assert outcomes(story) == [("fired", 1), ("fired", 1), ("waiting", 1)]
    end_all(story, found(story))
    turn(story)
    assert outcomes(story) == [("fired", 1)] * 3
    assert schedules.one(story.store, "pulse").fired == 3


@pytest.mark.parametrize(
    ("catch_up", "wanted"),
    [
        ("latest", [("missed", 119), ("fired", 1)]),
        ("all", [("missed", 117), ("fired", 1), ("fired", 1), ("fired", 1)]),
        ("none", [("missed", 119), ("fired", 1)]),
    ],
)
def test_what_was_missed_is_recorded_and_caught_up_as_was_said(
    story: Story, catch_up: str, wanted: list[tuple[str, int]]
) -> None:
    put(story, catch_up=catch_up, cap=3, overlap="allow")
    after(story, 2 * HOUR)
    assert outcomes(story) == wanted


def test_nothing_older_than_the_window_is_caught_up(story: Story) -> None:
    put(story, recurrence={"cron": "0 3 * * *"}, window="2h")
    story.clock.forward(Duration(10 * DAY))
    now = story.clock.now()
    story.clock.forward(Duration((8 * HOUR - now % DAY) % DAY))  # 08:00, five hours after the last tick
    turn(story, 2)
    assert {outcome for outcome, _ in outcomes(story)} == {"missed"}
    assert "within 2h" in (found(story)[-1].why or "")


def test_more_ticks_than_one_look_takes_are_all_recorded(story: Story) -> None:
    put(story, recurrence={"every": "1s"}, catch_up="all", cap=5, overlap="allow")
    story.clock.forward(Duration(12_000 * SECOND))
    turn(story, 10)
    ticks = found(story)
    assert sum(tick.ticks for tick in ticks) == 12_000
    assert [tick.outcome for tick in ticks].count(Outcome.FIRED) == 11, "5 caught up but for those still on time"
    for earlier, later in pairwise(ticks):
        assert later.nominal == earlier.last + SECOND


def test_a_clock_that_jumps_forward_and_back_repeats_nothing(story: Story) -> None:
    """What has fired is not repeated; what was missed meanwhile, and has not come, comes (test_clocks_gone_back.py)."""
    put(story, overlap="allow")
    after(story, MINUTE)
    after(story, HOUR)
    fired = {tick.nominal: tick.job for tick in found(story) if tick.outcome is Outcome.FIRED}
    story.clock.forward(Duration(-HOUR))
    for _ in range(61):
        after(story, MINUTE)
    ticks = found(story)
    assert len(ticks) == len({tick.nominal for tick in ticks}) > len(fired) == 2
    assert {tick.nominal: tick.job for tick in ticks if tick.nominal in fired} == fired
    assert len({tick.job for tick in ticks}) == len(ticks), "each has a job of its own"


def test_a_schedule_stops_at_its_limit_and_at_its_end(story: Story) -> None:
    put(story, "few", limit=2, overlap="allow")
    end = story.clock.now() + 3 * MINUTE + SECOND
    put(story, "short", recurrence={"every": "1m", "end": instant_text(Instant(end))}, overlap="allow")
    for _ in range(6):
        after(story, MINUTE)
    assert outcomes(story, "few") == [("fired", 1)] * 2
    assert schedules.one(story.store, "few").standing is Standing.ENDED
    assert outcomes(story, "short") == [("fired", 1)] * 3


def test_jobs_that_end_dead_in_a_row_pause_their_schedule(story: Story) -> None:
    put(story, task="once", pause_after=2)
    for _ in range(2):
        after(story, MINUTE)
        end_all(story, found(story), Ending.FAILED)
    after(story, MINUTE)
    one = schedules.one(story.store, "pulse")
    assert (one.standing, one.paused_by) == (Standing.PAUSED, "scheduler")
    assert "2 jobs in a row" in (one.note or "")
    assert outcomes(story) == [("fired", 1), ("fired", 1), ("skipped", 1)]


def test_a_task_that_takes_other_parameters_now_is_told_in_the_tick(story: Story) -> None:
    put(story)
    strict = task("shop.send", schema={"type": "object", "required": ["order"]}, code_hash="two")
    declare(story.store, Catalog("shop", "two", (strict, *SHOP.tasks[1:])))
    after(story, MINUTE)
    (tick,) = found(story)
    assert (tick.outcome, tick.job) == (Outcome.MISSED, None)
    assert "order" in (tick.why or "")


# --- what is said of them ---------------------------------------------------------------------------------------------


def test_a_change_never_fires_the_past_and_what_was_due_is_recorded(story: Story) -> None:
    put(story)
    story.clock.forward(Duration(HOUR))
    changed = schedules.change(story.store, "pulse", {"recurrence": {"every": "10m"}}, actor="ann")
    assert changed.next_tick is not None
    assert changed.next_tick > story.clock.now()
    turn(story, 2)
    assert outcomes(story) == [("missed", 60)]
    same = schedules.change(story.store, "pulse", {"params": {"n": 1}}, actor="ann")
    assert same.next_tick == changed.next_tick, "the ticks stay where they are"


def test_a_pause_is_shown_and_its_ticks_are_skipped_and_nothing_fires_at_resume(story: Story) -> None:
    put(story)
    paused = schedules.pause(story.store, "pulse", note="deploying", actor="ann")
    assert (paused.standing, paused.paused_by, paused.note) == (Standing.PAUSED, "ann", "deploying")
    after(story, 2 * MINUTE)
    story.clock.forward(Duration(HOUR))
    resumed = schedules.resume(story.store, "pulse", note=None, actor="bob")
    assert (resumed.standing, resumed.note) == (Standing.ACTIVE, None)
    turn(story, 2)
    assert {tick.outcome for tick in found(story)} == {Outcome.SKIPPED}
    assert sum(tick.ticks for tick in found(story)) == 62
    assert "deploying" in (found(story)[0].why or "")
    after(story, MINUTE)
    assert found(story)[-1].outcome is Outcome.FIRED


def test_what_was_decided_by_an_earlier_word_changes_nothing(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    put(story)
    story.clock.forward(MINUTE)
    slow = Fire(story.store, story.clock)
    seen = story.store.read(slow._look)
    schedules.pause(story.store, "pulse", note=None, actor="ann")
    monkeypatch.setattr(slow, "_look", lambda _: seen)
    slow.turn()
    assert [tick.outcome for tick in found(story)] == [Outcome.MISSED], "the pause recorded it"
    assert jobs(story) == []


def test_a_trigger_makes_a_job_now_even_of_one_that_is_paused(story: Story) -> None:
    put(story)
    schedules.pause(story.store, "pulse", note=None, actor="ann")
    first = schedules.trigger(story.store, "pulse", actor="ann")
    second = schedules.trigger(story.store, "pulse", actor="ann")
    assert (first.origin, first.decided_by, first.job == second.job) == (TRIGGER, "ann", False)
    assert story.state(first.job or 0) is State.QUEUED
    schedules.resume(story.store, "pulse", note=None, actor="ann")
    after(story, MINUTE)
    assert found(story)[-1].outcome is Outcome.SKIPPED, "the job made by hand is unfinished"


def test_a_removed_name_keeps_its_last_tick_and_may_be_used_again(story: Story) -> None:
    put(story)
    after(story, MINUTE)
    (tick,) = found(story)
    removed = schedules.remove(story.store, "pulse", actor="ann")
    assert removed.standing is Standing.REMOVED
    assert schedules.listed(story.store) == []
    with pytest.raises(UnknownSchedule):
        schedules.trigger(story.store, "pulse", actor="ann")
    story.clock.forward(Duration(-30 * SECOND))
    again = put(story)
    assert (again.id, again.last) == (removed.id, tick.nominal)
    assert again.next_tick is not None
    assert again.next_tick > tick.nominal


REFUSED: list[tuple[dict[str, Any], type[MainspringError], str]] = [
    ({"task": "nobody"}, UnknownTask, "nobody"),
    ({"task": None}, InvalidOption, "task"),
    ({"recurrence": {"cron": "61 * * * *"}}, InvalidSchedule, "61"),
    ({"recurrence": {"every": "1ms"}}, InvalidSchedule, "every"),
    ({"cap": 0}, InvalidOption, "cap"),
    ({"limit": 0}, InvalidOption, "limit"),
    ({"pause_after": 0}, InvalidOption, "pause_after"),
    ({"window": "soon"}, MainspringError, "soon"),
    ({"priority": 5000}, InvalidOption, "priority"),
]


def test_what_can_not_be_is_refused_and_nothing_is_kept(story: Story) -> None:
    for values, error, word in REFUSED:
        with pytest.raises(error, match=word):
            put(story, **values)
        assert schedules.listed(story.store) == []


def test_ticks_are_listed_newest_first_by_pages(story: Story) -> None:
    put(story, overlap="allow")
    for _ in range(5):
        after(story, MINUTE)
    page = schedules.listed_ticks(story.store, "pulse", cursor=None, limit=2)
    rest = schedules.listed_ticks(story.store, "pulse", cursor=page.next, limit=10)
    assert [*page.items, *rest.items] == list(reversed(found(story)))
    assert rest.next is None
    with pytest.raises(InvalidCursor):
        schedules.listed_ticks(story.store, "pulse", cursor="x", limit=10)


# --- code -------------------------------------------------------------------------------------------------------------


def shop(code_hash: str, *declared: DeclaredSchedule) -> Catalog:
    return Catalog("shop", code_hash, SHOP.tasks, schedules=declared)


def by_code(name: str = "nightly", **values: Any) -> DeclaredSchedule:
    return DeclaredSchedule(name, Plan(**({"recurrence": {"cron": "0 3 * * *"}, "task": "shop.send"} | values)))


def start_worker(story: Story, catalog: Catalog) -> list[str]:
    said: list[str] = []
    story.store.write(lambda tx: report(tx, catalog, said.append))
    return said


def test_old_code_never_overwrites_new_and_what_new_code_drops_is_withdrawn(story: Story) -> None:
    old = shop("a", by_code(), by_code("weekly"))
    new = shop("b", by_code(params={"n": 2}))
    start_worker(story, old)
    start_worker(story, new)
    start_worker(story, old)
    declare(story.store, old)
    nightly, weekly = schedules.listed(story.store)
    assert (nightly.plan.params, nightly.standing) == ({"n": 2}, Standing.ACTIVE)
    assert (weekly.standing, weekly.next_tick) == (Standing.WITHDRAWN, None)
    start_worker(story, shop("c", by_code(), by_code("weekly")))
    assert {one.standing for one in schedules.listed(story.store)} == {Standing.ACTIVE}


def test_a_program_that_only_submits_withdraws_nothing(story: Story) -> None:
    start_worker(story, shop("a", by_code(), by_code("weekly")))
    declare(story.store, shop("b", by_code()))
    assert {one.standing for one in schedules.listed(story.store)} == {Standing.ACTIVE}


def test_what_an_operator_changed_stays_through_deploys_until_it_is_reset(story: Story) -> None:
    start_worker(story, shop("a", by_code()))
    changed = schedules.change(story.store, "nightly", {"params": {"n": 9}, "overlap": "allow"}, actor="ann")
    assert changed.overridden == ("overlap", "params")
    start_worker(story, shop("b", by_code(params={"n": 2}, priority=1)))
    kept = schedules.one(story.store, "nightly")
    assert (kept.plan.params, kept.plan.priority, kept.declared.params) == ({"n": 9}, 1, {"n": 2})
    again = schedules.reset(story.store, "nightly", actor="ann")
    assert (again.plan.params, again.plan.overlap, again.overridden) == ({"n": 2}, "skip", ())


def test_a_schedule_that_code_declares_can_not_be_removed_until_it_is_withdrawn(story: Story) -> None:
    start_worker(story, shop("a", by_code()))
    with pytest.raises(IllegalState, match="shop"):
        schedules.remove(story.store, "nightly", actor="ann")
    start_worker(story, shop("b"))
    assert schedules.remove(story.store, "nightly", actor="ann").standing is Standing.REMOVED


def test_a_name_that_the_code_of_another_app_has_is_not_taken(story: Story) -> None:
    start_worker(story, shop("a", by_code()))
    bank = Catalog("bank", "x", (task("bank.pay"),), schedules=(by_code(task="bank.pay"),))
    assert "shop" in start_worker(story, bank)[0]
    with pytest.raises(InvalidSchedule, match="shop"):
        declare(story.store, bank)
    assert schedules.one(story.store, "nightly").app == "shop"


def test_code_that_declares_a_name_of_an_operator_is_overridden_by_what_he_said(story: Story) -> None:
    put(story, "nightly", params={"n": 1})
    start_worker(story, shop("a", by_code(params={"n": 2})))
    one = schedules.one(story.store, "nightly")
    assert (one.origin, one.plan.params, set(one.overridden)) == (Origin.CODE, {"n": 1}, {"params", "recurrence"})


# --- servers that die -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "point", [FaultPoint.FIRE_AFTER_READ, FaultPoint.FIRE_BEFORE_COMMIT, FaultPoint.FIRE_AFTER_COMMIT]
)
def test_a_server_that_dies_while_it_fires_doubles_and_loses_nothing(story: Story, point: FaultPoint) -> None:
    for number in range(3):
        put(story, f"pulse-{number}", overlap="allow")
    story.clock.forward(MINUTE)

    def die(at: FaultPoint) -> None:
        if at is point:
            raise InjectedFault(at)

    faults.arm(die)
    try:
        with pytest.raises(InjectedFault):
            turn(story)
    finally:
        faults.arm(None)
    turn(story, 2)
    assert [outcomes(story, f"pulse-{number}") for number in range(3)] == [[("fired", 1)]] * 3
    assert len(jobs(story)) == 3


# --- backfills --------------------------------------------------------------------------------------------------------


def test_a_backfill_makes_what_was_not_made_a_few_at_a_time(story: Story) -> None:
    put(story)
    began = story.clock.now()
    for _ in range(3):
        after(story, MINUTE)  # the first fires; the others find its job unfinished
    wanted = BackfillRequest(began, story.clock.now(), at_once=1)
    dry = schedules.backfill(story.store, "pulse", structs.replace(wanted, dry=True), actor="ann")
    begun = schedules.backfill(story.store, "pulse", wanted, actor="ann")
    skipped = [tick.nominal for tick in found(story) if tick.outcome is Outcome.SKIPPED]
    assert (dry.ticks, dry.backfill) == (skipped, None)
    assert begun.ticks == skipped
    assert len(skipped) == 2
    for made in (1, 2):
        turn(story, 3)
        filled = [tick for tick in found(story) if tick.origin == "backfill-1"]
        assert [tick.nominal for tick in filled] == skipped[:made]
        end_all(story, filled)
    turn(story, 2)
    (one,) = schedules.listed_backfills(story.store, "pulse")
    assert (one.made, one.ended_at is not None) == (2, True)


def test_a_backfill_in_the_other_order_with_a_limit_and_again(story: Story) -> None:
    put(story, overlap="allow")
    began = story.clock.now()
    for _ in range(4):
        after(story, MINUTE)
    wanted = BackfillRequest(began, story.clock.now(), limit=3, newest_first=True, at_once=10, again=True)
    schedules.backfill(story.store, "pulse", wanted, actor="ann")
    turn(story, 2)
    regular = [tick.nominal for tick in found(story) if tick.origin == "regular"]
    assert [tick.nominal for tick in found(story) if tick.origin == "backfill-1"] == regular[1:]


def test_ticks_that_two_backfills_have_in_common_fire_once(story: Story) -> None:
    put(story, overlap="allow")
    began = story.clock.now()
    schedules.pause(story.store, "pulse", note="", actor="ann")
    for _ in range(4):
        after(story, MINUTE)
    skipped = [tick.nominal for tick in found(story)]
    early = BackfillRequest(began, skipped[2], newest_first=True)
    late = BackfillRequest(skipped[1], story.clock.now(), at_once=10)
    for wanted in (early, late, late):
        schedules.backfill(story.store, "pulse", wanted, actor="ann")
    for _ in range(8):
        turn(story, 2)
        end_all(story, [tick for tick in found(story) if tick.origin == "backfill-1"])
    made = [(tick.origin, tick.nominal) for tick in found(story) if tick.outcome is Outcome.FIRED]
    assert made == [(f"backfill-{number}", nominal) for number, nominal in zip((1, 1, 1, 2), skipped, strict=True)]
    assert all(one.ended_at for one in schedules.listed_backfills(story.store, "pulse"))


def test_what_is_to_be_caught_up_or_waits_is_not_made_by_a_backfill_as_well(story: Story) -> None:
    put(story, overlap="buffer_all", catch_up="all")
    began = story.clock.now()
    story.clock.forward(Duration(3 * MINUTE))  # no server ran, and somebody is faster than the first that does
    schedules.backfill(story.store, "pulse", BackfillRequest(began, story.clock.now(), at_once=10), actor="ann")
    turn(story, 4)
    assert [(tick.origin, tick.outcome) for tick in found(story)] == [
        ("regular", Outcome.FIRED),
        ("regular", Outcome.WAITING),
        ("regular", Outcome.WAITING),
    ]
    assert schedules.listed_backfills(story.store, "pulse")[0].made == 0


def test_a_backfill_of_what_is_yet_to_come_or_of_too_much_is_refused(story: Story) -> None:
    put(story, recurrence={"cron": "* * * * *"})
    now = story.clock.now()
    with pytest.raises(InvalidOption, match="yet to come"):
        schedules.backfill(story.store, "pulse", BackfillRequest(now, Instant(now + DAY)), actor="ann")
    with pytest.raises(InvalidOption, match="before it begins"):
        schedules.backfill(story.store, "pulse", BackfillRequest(now, Instant(now - DAY)), actor="ann")
    with pytest.raises(InvalidOption, match="10,000"):
        schedules.backfill(story.store, "pulse", BackfillRequest(Instant(now - 30 * DAY), now), actor="ann")


def test_old_records_of_ticks_are_forgotten_but_for_those_that_wait(story: Story) -> None:
    put(story, overlap="buffer_one")
    for _ in range(3):
        after(story, MINUTE)
    assert outcomes(story) == [("fired", 1), ("waiting", 1), ("skipped", 1)]
    cut = story.clock.now()
    assert story.store.write(lambda tx: ticks.forget(tx, cut, 100)) == 1, "the last was decided just now"
    assert story.store.write(lambda tx: ticks.forget(tx, Instant(cut + 1), 100)) == 1
    assert outcomes(story) == [("waiting", 1)]
    assert schedules.one(story.store, "pulse").last is not None, "the schedule remembers it"


def test_how_long_records_are_kept_may_change_while_a_server_runs(story: Story) -> None:
    fire = Fire(story.store, story.clock, keep=Duration(90 * DAY))
    put(story, overlap="allow")
    after(story, MINUTE)
    story.clock.forward(Duration(2 * DAY))
    while fire.turn() <= MILLISECOND:
        pass
    first, *rest = found(story)
    fire.adopt(Duration(DAY))
    fire.turn()
    assert found(story) == rest, "the first was decided more than a day ago"
    assert first not in rest


def test_what_operators_do_is_in_the_audit_trail(story: Story) -> None:
    put(story)
    schedules.change(story.store, "pulse", {"overlap": "allow"}, actor="bob")
    schedules.pause(story.store, "pulse", note="why", actor="ann")
    schedules.resume(story.store, "pulse", note=None, actor="ann")
    schedules.remove(story.store, "pulse", actor="bob")
    page = reversed(story.store.read(lambda tx: trail.page(tx, ChangeFilter("schedule pulse"))))
    told = [(change.actor, change.action) for change in page]
    verbs = ("put", "change", "pause", "resume", "remove")
    assert told == list(zip(("ann", "bob", "ann", "ann", "bob"), [f"schedule.{verb}" for verb in verbs], strict=True))
