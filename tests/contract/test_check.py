"""``db check`` on every engine: a sound store is called sound, and each kind of damage is named."""

from __future__ import annotations

import threading

import psycopg
import pytest

from mainspring.clock import MINUTE
from mainspring.control import schedules
from mainspring.domain.plan import Plan
from mainspring.domain.states import State
from mainspring.domain.timetable import Origin
from mainspring.engine.fire import Fire
from mainspring.store import Store
from mainspring.store.check import Finding, Level, check
from tests.contract.engines import Bench
from tests.contract.run_stories import Runs, node
from tests.contract.stories import LEASE, Story


def found(store: Store, *, old_snapshot: int = 60) -> dict[str, Finding]:
    return {one.name: one for one in check(store, old_snapshot=old_snapshot)}


def test_a_store_with_jobs_in_every_state_is_sound_and_nothing_is_amiss(story: Story) -> None:
    for state in set(State) - {State.NEW}:
        story.bring(state)
    told = found(story.store)
    assert {name: one.level for name, one in told.items()} == dict.fromkeys(
        ("integrity", "places", "orphans", "runs", "schedules", "counts", "sweep", "room", "snapshots", "wake-ups"),
        Level.OK,
    ), told
    assert "schema version" in told["integrity"].text


def test_a_job_that_is_nowhere_or_twice_is_named(story: Story, bench: Bench) -> None:
    gone, twice = story.submit(), story.running()
    bench.alter(story.store, f"delete from ready where job = {gone}")
    bench.alter(
        story.store, f"insert into ready select id, lane, priority, due, 1, created from job where id = {twice}"
    )
    places = found(story.store)["places"]
    assert places.level is Level.FAULT
    assert set(places.details) == {f"job {gone} is in 0 places", f"job {twice} is in 2 places"}


def test_rows_of_no_job_are_named_by_their_table(story: Story, bench: Bench) -> None:
    job = story.bring(State.SUCCEEDED)
    bench.alter(story.store, f"delete from job where id = {job}")
    orphans = found(story.store)["orphans"]
    assert orphans.level is Level.FAULT
    assert {f"attempt: job {job}", f"event: job {job}"} <= set(orphans.details)


def test_wrong_counts_and_ends_of_runs_are_named(story: Story, bench: Bench) -> None:
    runs = Runs(story)
    run = runs.start(node("A"), node("B"), node("C", "A", "B"), node("each", map=[1, 2], parallel=1))
    over = runs.start(node("A"))
    runs.end("A")
    runs.end("each[0]")
    runs.end("A")
    assert found(story.store)["runs"].level is Level.OK
    bench.alter(story.store, f"update node_waiting set open = 2 where run = {run}")
    bench.alter(story.store, f"update node set failed = 0, succeeded = 2 where run = {run} and number = 4")
    bench.alter(story.store, f"update run set state = 'failed' where id = {over}")
    gone = runs.start(node("A"))
    bench.alter(story.store, f"delete from run where id = {gone}")
    stuck = runs.start(node("A"))
    bench.alter(story.store, f"delete from node where run = {stuck}")
    told = found(story.store)["runs"]
    assert told.level is Level.FAULT
    assert set(told.details) == {
        f"run {run}, node 3: its counts are not what the rows say",
        f"run {run}, node 4: its counts are not what the rows say",
        f"run {over} is failed; its nodes make it succeeded",
        f"node: run {gone}, which is not there",
        f"run {stuck} has not ended, and nothing would move it on",
    }


PLANTED = {
    "delete from next_tick": "schedule without what is to come of it",
    "delete from schedule": "tick of no schedule",
    "update tick set job = null": "tick that has fired and made not exactly one job or run",
    "update tick set outcome = 'missed'": "tick that has not fired and made something",
    "update next_tick set nominal = last": "tick that would come again",
    "update tick set ticks = 2, last = last + 60000000 where nominal = (select min(nominal) from tick)": (
        "tick that another record tells of as well"
    ),
    "create table loose as select * from tick; drop table tick; alter table loose rename to tick; "
    "insert into tick select * from tick": "tick that is recorded twice",
}


@pytest.mark.parametrize("bench", ["sqlite", "postgres"], indirect=True)
@pytest.mark.parametrize("fault", PLANTED)
def test_schedules_and_ticks_that_do_not_fit_are_named(story: Story, bench: Bench, fault: str) -> None:
    plan = Plan({"every": "1m"}, task="send", overlap="allow")
    one = schedules.put(story.store, "pulse", plan, origin=Origin.CLI, actor="ann")
    fire = Fire(story.store, story.clock)
    for _ in range(2):
        story.clock.forward(MINUTE)
        fire.turn()
    assert found(story.store)["schedules"].level is Level.OK
    for statement in fault.split("; "):
        bench.alter(story.store, statement)
    told = found(story.store)["schedules"]
    assert told.level is Level.FAULT
    assert any(line.startswith(f"schedule {one.id}") and line.endswith(PLANTED[fault]) for line in told.details), told


def test_what_nobody_sweeps_is_a_warning_after_a_minute(story: Story) -> None:
    story.running()
    story.submit(delay="1s")
    story.clock.forward(LEASE)
    assert found(story.store)["sweep"].level is Level.OK
    story.clock.forward(2 * MINUTE)
    sweep = found(story.store)["sweep"]
    assert sweep.level is Level.WARNING
    assert [detail.partition(",")[0] for detail in sweep.details] == [
        "1 leases are past their end",
        "1 jobs have been due",
    ]


@pytest.mark.parametrize("bench", ["postgres"], indirect=True)
def test_a_foreign_snapshot_is_told_with_its_process_and_age(story: Story, bench: Bench) -> None:
    with psycopg.connect(bench.url, application_name="the report") as stranger:
        stranger.execute("set transaction isolation level repeatable read")
        stranger.execute("select 1")
        assert found(story.store)["snapshots"].level is Level.OK, "it is young"
        held = found(story.store, old_snapshot=0)["snapshots"]
        assert held.level is Level.WARNING
        assert f"session pid {stranger.info.backend_pid}, the report: " in "\n".join(held.details)


@pytest.mark.parametrize("bench", ["postgres"], indirect=True)
def test_an_index_that_the_server_gave_up_is_damage(story: Story, bench: Bench) -> None:
    story.bring(State.SUCCEEDED)
    story.bring(State.SUCCEEDED)
    with psycopg.connect(bench.url, autocommit=True) as hand:
        with pytest.raises(psycopg.errors.UniqueViolation):
            hand.execute("create unique index concurrently twice on mainspring.job (task)")
        integrity = found(story.store)["integrity"]
        hand.execute("drop index mainspring.twice")
    assert (integrity.level, integrity.details) == (Level.FAULT, ["index twice is not valid: reindex it"])


@pytest.mark.parametrize("bench", ["sqlite"], indirect=True)
def test_bells_that_can_not_be_made_are_a_warning(story: Story, bench: Bench) -> None:
    (bench.place / "m.db.bells").write_text("in the way")
    assert found(story.store)["wake-ups"].level is Level.WARNING


def test_a_check_lets_others_write(story: Story) -> None:
    """It looks at snapshots: a busy store is not unsound because it moves under the check's eyes."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            story.bring(State.SUCCEEDED)

    busy = threading.Thread(target=work)
    busy.start()
    try:
        for _ in range(5):
            assert [one for one in check(story.store) if one.level is not Level.OK] == []
    finally:
        stop.set()
        busy.join()
