"""Retention: old ended jobs go with all that is theirs, what somebody still needs stays."""

from __future__ import annotations

from collections import Counter

import pytest

from mainspring import faults
from mainspring.clock import DAY, HOUR, MILLISECOND, SECOND, Duration
from mainspring.control import read, replays, workflows
from mainspring.control import runs as control_runs
from mainspring.control import workers as control_workers
from mainspring.domain.ids import JobId
from mainspring.domain.job import JobFilter, JobRequest
from mainspring.domain.logline import LogChunk
from mainspring.domain.run import RunFilter, RunRequest
from mainspring.domain.states import Outcome, State
from mainspring.domain.steps import header_of
from mainspring.domain.worker import WorkerState
from mainspring.domain.workflow import Node, Workflow
from mainspring.engine.retention import ROUND, Retention
from mainspring.errors import UnknownJob, UnknownRun
from mainspring.faults import FaultPoint, InjectedFault
from mainspring.store import audit, workers
from mainspring.store import workflows as store_workflows
from mainspring.store.check import Level, check
from mainspring.transitions import brought
from tests.contract.engines import Bench, asked
from tests.contract.run_stories import Runs, node
from tests.contract.stories import LEASE, Story

KEEP = {State.SUCCEEDED: Duration(7 * DAY), State.DEAD: Duration(30 * DAY), State.CANCELLED: Duration(30 * DAY)}


def prune(story: Story, *, dry: bool = False) -> Counter[State]:
    """One walk through everything."""
    walk = Retention(story.store, story.clock, KEEP, dry=dry)
    while walk.turn() < ROUND:
        pass
    return +walk.removed


def left(story: Story) -> set[int]:
    return {job.id for job in story.store.read(audit.written)}


def newest(story: Story) -> int:
    """A job whose event is the newest, which keeps that of the others from being it."""
    return story.submit()


def test_each_state_is_kept_for_its_own_time_and_what_has_not_ended_for_ever(story: Story) -> None:
    jobs = {state: story.bring(state) for state in State if state is not State.NEW}
    newest(story)
    story.clock.forward(7 * DAY)
    assert prune(story) == Counter(), "seven days are kept, not less"
    story.clock.forward(HOUR)
    assert prune(story, dry=True) == {State.SUCCEEDED: 1}
    assert jobs[State.SUCCEEDED] in left(story), "a dry run takes nothing"
    assert prune(story) == {State.SUCCEEDED: 1}
    assert jobs[State.SUCCEEDED] not in left(story)
    story.clock.forward(30 * DAY)
    assert prune(story) == {State.DEAD: 1, State.CANCELLED: 1}
    assert set(jobs.values()) & left(story) == {
        jobs[state] for state in (State.SCHEDULED, State.QUEUED, State.RUNNING, State.RETRYING)
    }


def test_a_job_goes_with_its_attempts_events_and_output(story: Story, bench: Bench) -> None:
    job = story.running()
    story.end(job, Outcome.FAILED)
    story.clock.forward(HOUR)
    story.promote()
    story.claim(job)
    story.end(job)
    stays = story.bring(State.CANCELLED)
    for one in (job, stays):
        story.store.logs.append([(one, 1, 1, LogChunk(story.clock.now(), "stdout", "hello\n"))])
    newest(story)
    story.clock.forward(8 * DAY)
    assert prune(story) == {State.SUCCEEDED: 1}
    with pytest.raises(UnknownJob):
        read.job(story.store, job)
    assert story.store.read(lambda tx: audit.tried_of(tx, job)) == []
    assert {row[1] for row in story.store.read(lambda tx: audit.events(tx, 0))} == {stays, *left(story)}
    assert story.store.logs.lines(job, attempt=None, after=0, limit=9) == []
    assert len(story.store.logs.lines(stays, attempt=None, after=0, limit=9)) == 1
    assert Level.FAULT not in {one.level for one in check(story.store)}


def test_what_an_unfinished_job_belongs_to_stays(story: Story) -> None:
    parent = story.running()
    awaited = story.submit(parent=parent)
    story.claim(awaited)
    story.end(awaited)
    over = story.running()
    child = story.submit(parent=over, delay="60d")
    story.end(over)
    failed = story.bring(State.DEAD)
    replay = story.retry(failed).id
    newest(story)
    story.clock.forward(31 * DAY)
    assert prune(story) == Counter()
    assert {awaited, over, failed} <= left(story)
    story.cancel(replay)
    story.cancel(child)
    story.end(parent)
    assert prune(story) == {State.SUCCEEDED: 2, State.DEAD: 1}, "now nobody needs them"
    assert not {awaited, over, failed} & left(story)


def test_no_event_number_is_given_twice_however_much_goes(story: Story) -> None:
    """A reader's cursor would pass over what comes next, for ever."""
    for _ in range(3):
        story.bring(State.SUCCEEDED)
    cursor = read.last_event(story.store)
    story.clock.forward(8 * DAY)
    prune(story)
    story.submit()
    assert [event.seq > cursor for event in read.history(story.store, after=cursor, job=None, kinds=(), limit=9)] == [
        True
    ]


def test_a_walk_goes_in_bites_and_passes_over_what_stays(story: Story) -> None:
    for _ in range(60):
        story.bring(State.SUCCEEDED)
        story.submit(delay="90d")
    newest(story)
    story.clock.forward(8 * DAY)
    walk = Retention(story.store, story.clock, KEEP)
    walk.turn()
    first = walk.removed[State.SUCCEEDED]
    assert 0 < first < 60, "others can write between two bites"
    late = story.bring(State.SUCCEEDED)
    while walk.turn() < ROUND:
        pass
    assert +walk.removed == {State.SUCCEEDED: 60}
    assert late in left(story), "it ended just now"
    story.clock.forward(8 * DAY)
    newest(story)
    while walk.turn() < ROUND:
        pass
    assert late not in left(story), "the next walk begins at the first job again"


def test_commits_that_take_long_whatever_they_hold_make_no_small_bites(story: Story) -> None:
    """On a busy machine a walk fell to 65 jobs a second, which many a platform ends."""
    jobs = story.submit_many([JobRequest("send")] * 400)
    story.claim(*jobs)
    for job in jobs:
        story.end(job)
    newest(story)
    story.clock.forward(8 * DAY)
    began, walk = story.clock.monotonic(), Retention(story.store, story.clock, KEEP)

    def dawdle(point: FaultPoint) -> None:
        if point is FaultPoint.RETENTION_BEFORE_COMMIT:
            story.clock.forward(Duration(30 * MILLISECOND))

    faults.arm(dawdle)
    try:
        while walk.removed[State.SUCCEEDED] < len(jobs):
            story.clock.forward(walk.turn())
    finally:
        faults.arm(None)
    assert story.clock.monotonic() - began < 2 * SECOND


def test_a_walk_that_is_cut_short_leaves_whole_jobs_and_the_next_goes_on(story: Story) -> None:
    jobs = story.submit_many([JobRequest("send")] * 20)
    story.claim(*jobs)
    for job in jobs:
        story.end(job)
    newest(story)
    story.clock.forward(8 * DAY)

    def fail(point: FaultPoint) -> None:
        if point is FaultPoint.RETENTION_BEFORE_COMMIT:
            raise InjectedFault(point.value)

    faults.arm(fail)
    try:
        with pytest.raises(InjectedFault):
            Retention(story.store, story.clock, KEEP).turn()
    finally:
        faults.arm(None)
    assert set(jobs) <= left(story)
    assert Level.FAULT not in {one.level for one in check(story.store)}
    assert prune(story) == {State.SUCCEEDED: 20}
    assert not {JobId(job) for job in jobs} & left(story)


# --- workers ----------------------------------------------------------------------------------------------------------


def shown(story: Story) -> list[tuple[str, WorkerState]]:
    return [(worker.name, worker.state) for worker in read.all_workers(story.store)]


def test_a_worker_that_has_ended_is_asked_for_nothing_any_more_and_still_listed_for_a_week(story: Story) -> None:
    last_seen = story.clock.now()
    story.clock.forward(2 * HOUR)
    living, stopped = story.hello("beta"), story.hello("gamma")
    story.store.write(lambda tx: workers.beat(tx, stopped, WorkerState.STOPPED, LEASE))
    prune(story)
    assert [row[0] for row in story.dump()["beat"]] == [living]
    assert shown(story) == [
        ("gamma", WorkerState.STOPPED),
        ("beta", WorkerState.ACTIVE),
        ("alpha", WorkerState.LOST),
    ]
    assert read.all_workers(story.store)[-1].beat_at == last_seen
    assert control_workers.one(story.store, story.worker).state is WorkerState.LOST
    story.store.write(lambda tx: workers.beat(tx, story.worker, WorkerState.ACTIVE, LEASE))
    assert shown(story)[-1] == ("alpha", WorkerState.ACTIVE), "it was only silent"
    story.clock.forward(8 * DAY)
    prune(story)
    assert shown(story) == []


def test_a_worker_that_holds_a_job_is_not_taken_for_ended(story: Story) -> None:
    story.running()
    story.clock.forward(8 * DAY)
    prune(story)
    assert shown(story) == [("alpha", WorkerState.LOST)]
    assert len(story.dump()["beat"]) == 1


def test_an_old_worker_is_kept_as_long_as_a_job_that_may_name_it(story: Story) -> None:
    job = story.bring(State.DEAD)
    story.clock.forward(20 * DAY)
    newest(story)
    prune(story)
    assert shown(story) == []
    assert read.job(story.store, job).worker == "alpha"
    assert {one.worker for one in read.attempts(story.store, job)} == {"alpha"}
    story.clock.forward(11 * DAY)
    assert prune(story) == {State.DEAD: 1}
    assert story.dump()["worker"] == [], "the job that is left was submitted after it had ended"


def test_thousands_of_dead_workers_hide_no_living_one(story: Story) -> None:
    for number in range(30):
        story.hello(f"dead-{number}")
    story.clock.forward(2 * HOUR)
    story.store.write(lambda tx: workers.beat(tx, story.worker, WorkerState.ACTIVE, LEASE))
    prune(story)
    found = story.store.read(lambda tx: workers.all_workers(tx, 10))
    assert (len(found), found[-1].name, found[0].name) == (11, "alpha", "dead-29")


def test_a_run_stays_as_long_as_another_has_parts_of_it_and_resumes_that_never_began_go(story: Story) -> None:
    runs = Runs(story)
    workflows.put(story.store, Workflow("inner", (node("in"), node("out", "in"))), actor="ann")
    nodes = (node("bad"), Node("sub", workflow="inner"), node("each", map=[1, 2]))
    run = runs.start(*nodes, parallel=1)
    runs.work_off(dict.fromkeys(("bad", "out", "each[1]"), Outcome.FAILED))
    story.clock.forward(20 * DAY)
    second = replays.resume(story.store, run, actor="ann").run.id
    runs.cancel(second)
    runs.work_off()
    newest(story)
    story.clock.forward(20 * DAY)
    prune(story)
    assert {one.id for one in control_runs.listed(story.store, RunFilter()).items} >= {run, second}
    story.clock.forward(20 * DAY)
    for _ in range(3):
        prune(story)
    assert control_runs.listed(story.store, RunFilter()).items == []
    for table in ("node", "node_part"):
        assert asked(story.store, f"select count(*) from {table}") == [(0,)], table
    assert Level.FAULT not in {one.level for one in check(story.store)}


def versions(story: Story) -> set[str]:
    """The names in the documents that are kept."""
    return {one for (one,) in asked(story.store, "select cast(header as text) from workflow_version")}


def test_versions_go_that_no_name_and_no_run_refers_to(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brought, "AT_ONCE", 2)
    runs = Runs(story)
    shape = (node("A"), *(node(f"n{number}", "A") for number in range(40)))
    named = workflows.put(story.store, Workflow("named", shape, description="first"), actor="ann")
    workflows.put(story.store, Workflow("named", shape, description="second"), actor="ann")
    inline = runs.start(*shape, name="inline")
    running = runs.start(node("A"), name="running", parameters={"type": "object"})
    unfinished = header_of(Workflow("unfinished", shape))
    story.store.write(lambda tx: store_workflows.insert(tx, "of one whose client was killed", unfinished, 41))

    def kept() -> set[str]:
        texts = " ".join(versions(story))
        return {one for one in ("first", "second", "inline", "running", "unfinished") if one in texts}

    prune(story)
    assert kept() == {"first", "second", "inline", "running", "unfinished"}, "something may be about to refer to them"
    story.clock.forward(25 * HOUR)
    prune(story)
    assert kept() == {"second", "inline", "running"}
    runs.cancel(inline)
    newest(story)
    story.clock.forward(31 * DAY)
    prune(story)
    assert kept() == {"second", "inline", "running"}, "its run has only just gone"
    again = runs.start(*shape, name="inline")
    story.clock.forward(25 * HOUR)
    prune(story)
    assert kept() == {"second", "inline", "running"}, "it is referred to again"
    assert runs.nodes(again).keys() == {one.name for one in shape}
    assert workflows.one(story.store, "named").hash != named.hash
    assert len(workflows.one(story.store, "named").document.nodes) == 41
    assert runs.run(running).nodes == 1
    for table, least in (("workflow_node", 42 + 42 + 2), ("workflow_edge", 81 + 81 + 2)):
        assert asked(story.store, f"select count(*) from {table}") == [(least,)], table


def test_a_version_that_is_brought_again_while_it_goes_is_whole(story: Story) -> None:
    shape = Workflow("w", tuple(node(f"n{number}") for number in range(300)))
    first = workflows.kept(story.store, shape)
    prune(story)
    story.clock.forward(25 * HOUR)
    walk = Retention(story.store, story.clock, KEEP)
    edges = "select count(*) from workflow_edge"
    while asked(story.store, edges) == [(600,)]:
        walk.turn()
    assert workflows.kept(story.store, shape) == first
    while walk.turn() < ROUND:
        pass
    assert asked(story.store, edges) == [(600,)]
    assert walk.removed_versions == 0
    run = control_runs.start(story.store, RunRequest(shape), actor="ann").id
    assert len(Runs(story).work_off()) == 300
    assert control_runs.one(story.store, run).done


def test_an_old_run_goes_with_its_nodes_and_then_its_jobs(story: Story) -> None:
    runs = Runs(story)
    workflows.put(story.store, Workflow("inner", (node("X"), node("skipped", "X", run_if="all_failed"))), actor="ann")
    names = [f"n{number}" for number in range(12)]
    run = runs.start(
        *(node(name) for name in names), node("last", *names, run_if="all_done"), Node("sub", workflow="inner")
    )
    runs.work_off({"n3": Outcome.FAILED})
    resumed = replays.resume(story.store, run, actor="ann").run.id
    runs.work_off()
    live = runs.start(node("A"))
    newest(story)
    story.clock.forward(8 * DAY)
    assert prune(story, dry=True) == Counter(), "jobs stay as long as their runs"
    assert prune(story) == {State.SUCCEEDED: 2}, (
        "those of the run that succeeded; the failed one is kept with all of its"
    )
    with pytest.raises(UnknownRun):
        control_runs.one(story.store, resumed)
    assert len(control_runs.nodes(story.store, run)[0].jobs) == 1
    story.clock.forward(30 * DAY)
    for _ in range(2):  # the run, then what it had nested
        prune(story)
    left_over = {one.id for one in control_runs.listed(story.store, RunFilter()).items}
    assert left_over == {live}, f"{run} and {resumed} are gone with all that is theirs"
    for table in ("node", "event"):
        ((told,),) = asked(story.store, f"select count(*) from {table} where run is not null and run <> {live}")
        assert told == 0, table
    assert {job.run for job in read.listed(story.store, JobFilter(limit=100)).items} == {live, None}
    assert Level.FAULT not in {one.level for one in check(story.store)}
