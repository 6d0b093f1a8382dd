"""Schedules of workflows: each tick begins one run, overlap looks at runs, and the jobs of a run know their tick."""

from __future__ import annotations

from typing import Any

import pytest

from mainspring.clock import MINUTE, SECOND, Instant, instant_text
from mainspring.control import read, replays, runs, schedules, workflows
from mainspring.domain.backfill import BackfillRequest
from mainspring.domain.ids import JobId
from mainspring.domain.job import JobFilter
from mainspring.domain.plan import Plan
from mainspring.domain.run import RunFilter
from mainspring.domain.states import Outcome as Ending
from mainspring.domain.states import State
from mainspring.domain.timetable import Origin, Outcome, Schedule, Standing
from mainspring.domain.workflow import Workflow
from mainspring.errors import InvalidOption, InvalidParameters, MainspringError, WorkflowNotKnown
from mainspring.store import rows
from tests.contract.run_stories import Runs, node
from tests.contract.stories import Story
from tests.contract.test_schedules import after, found, jobs, outcomes, turn

DAY = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}


@pytest.fixture(autouse=True)
def flow(story: Story) -> Runs:
    """Two tasks in a row, and a day that the first of them takes."""
    document = Workflow("flow", (node("a"), node("b", "a")), parameters=DAY)
    workflows.put(story.store, document, actor="ann")
    return Runs(story)


def put(story: Story, name: str = "nightly", **values: Any) -> Schedule:
    plan = Plan({"every": "1m"}, **({"workflow": "flow", "params": {"day": "today"}} | values))
    return schedules.put(story.store, name, plan, origin=Origin.CLI, actor="ann")


def test_a_tick_begins_one_run_with_its_parameters_and_its_jobs_know_the_tick(story: Story, flow: Runs) -> None:
    made = put(story, tags={"by": "clock"})
    after(story, MINUTE)
    (tick,) = found(story, "nightly")
    assert (tick.outcome, tick.job, tick.nominal) == (Outcome.FIRED, None, made.next_tick)
    run = flow.run(tick.run or 0)
    assert (run.workflow, run.params, run.tags) == ("flow", {"day": "today"}, {"by": "clock"})
    assert run.tick is not None
    assert (run.tick.schedule, run.tick.at) == ("nightly", tick.nominal)
    assert flow.job(run.id, "a").tick == run.tick
    assert rows.tick(load(story, flow.job(run.id, "a").id)) == run.tick, "what the runner is sent"
    flow.work_off()
    assert [one.state for one in found(story, "nightly")] == ["succeeded"]
    again = replays.restart(story.store, run.id, actor="ann").run
    assert again.tick == run.tick


def load(story: Story, job: int) -> str | None:
    text: str | None = story.store.read(lambda tx: tx.rows("job/load", jobs=rows.text([job]))[0][5])
    return text


def test_overlap_knows_what_really_runs(story: Story, flow: Runs) -> None:
    for policy in ("skip", "buffer_one", "cancel_other", "allow"):
        put(story, policy, overlap=policy)
    after(story, MINUTE)
    first = {policy: found(story, policy)[0].run for policy in ("skip", "cancel_other")}
    after(story, MINUTE)
    assert outcomes(story, "skip") == [("fired", 1), ("skipped", 1)]
    assert f"run {first['skip']} is unfinished" in (found(story, "skip")[1].why or "")
    assert outcomes(story, "buffer_one") == [("fired", 1), ("waiting", 1)]
    assert outcomes(story, "allow") == [("fired", 1)] * 2
    flow.errands()
    turn(story, 2)
    assert flow.run(first["cancel_other"] or 0).state == "cancelled"
    assert outcomes(story, "cancel_other") == [("fired", 1)] * 2
    flow.work_off()
    turn(story, 2)
    assert outcomes(story, "buffer_one") == [("fired", 1)] * 2
    after(story, MINUTE)
    assert outcomes(story, "skip")[-1] == ("fired", 1), "its run has ended"


def test_runs_that_fail_in_a_row_pause_their_schedule(story: Story, flow: Runs) -> None:
    put(story, pause_after=2)
    for _ in range(2):
        after(story, MINUTE)
        flow.work_off({"a": Ending.FAILED})
    after(story, MINUTE)
    one = schedules.one(story.store, "nightly")
    assert (one.standing, one.note) == (Standing.PAUSED, "2 runs in a row have not succeeded")


def test_a_trigger_and_a_backfill_begin_runs_too(story: Story, flow: Runs) -> None:
    put(story)
    began = story.clock.now()
    after(story, MINUTE)
    after(story, MINUTE)
    tick = schedules.trigger(story.store, "nightly", actor="ann")
    assert flow.run(tick.run or 0).tick is not None
    wanted = BackfillRequest(began, story.clock.now())
    assert len(schedules.backfill(story.store, "nightly", wanted, actor="ann").ticks) == 1, "the second was skipped"
    turn(story, 2)
    origins = [one.tick.origin for one in runs.listed(story.store, RunFilter()).items if one.tick is not None]
    assert origins == ["backfill-1", "trigger", "regular"]


def test_the_newest_version_of_a_workflow_begins_and_what_fits_no_more_is_told(story: Story, flow: Runs) -> None:
    put(story, overlap="allow")
    newer = Workflow("flow", (node("only"),), parameters=DAY)
    workflows.put(story.store, newer, actor="ann")
    after(story, MINUTE)
    (tick,) = found(story, "nightly")
    assert list(flow.nodes(tick.run or 0)) == ["only"]
    strict = Workflow("flow", (node("only"),), parameters={"type": "object", "required": ["week"]})
    workflows.put(story.store, strict, actor="ann")
    after(story, MINUTE)
    last = found(story, "nightly")[-1]
    assert (last.outcome, last.run) == (Outcome.MISSED, None)
    assert "week" in (last.why or "")


def test_runs_with_more_nodes_than_one_transaction_takes_begin_whole(story: Story, flow: Runs) -> None:
    count = 12
    document = Workflow("wide", tuple(node(f"n{number}") for number in range(40)))
    workflows.put(story.store, document, actor="ann")
    for number in range(count):
        put(story, f"s{number}", workflow="wide", params={})
    story.clock.forward(MINUTE)
    turn(story, 3)
    flow.errands()
    waiting = read.listed(story.store, JobFilter(state=State.QUEUED, limit=1000)).items
    assert len(runs.listed(story.store, RunFilter(limit=1000)).items) == count
    assert len(waiting) == 40 * count
    assert {job.tick.schedule for job in waiting if job.tick is not None} <= {f"s{number}" for number in range(count)}


REFUSED: list[tuple[dict[str, Any], type[MainspringError], str]] = [
    ({"workflow": "nobody"}, WorkflowNotKnown, "nobody"),
    ({"task": "send"}, InvalidOption, "workflow"),
    ({"params": {}}, InvalidParameters, "day"),
    ({"queue": "mail"}, InvalidOption, "queue"),
    ({"timeout": "1s"}, InvalidOption, "timeout"),
]


def test_what_can_not_be_is_refused(story: Story) -> None:
    for values, error, word in REFUSED:
        with pytest.raises(error, match=word):
            put(story, **values)
        assert schedules.listed(story.store) == []


def test_a_job_shows_the_tick_that_made_it(story: Story) -> None:
    plan = Plan({"at": instant_text(Instant(story.clock.now() + 5 * SECOND))}, task="send")
    schedules.put(story.store, "once", plan, origin=Origin.CLI, actor="ann")
    after(story, MINUTE)
    (job,) = jobs(story)
    assert job.tick is not None
    assert (job.tick.schedule, job.tick.origin) == ("once", "regular")
    assert read.job(story.store, story.submit()).tick is None


def test_a_lost_job_is_in_nobody_s_way(story: Story) -> None:
    plan = Plan({"every": "1m"}, task="once")
    schedules.put(story.store, "pulse", plan, origin=Origin.CLI, actor="ann")
    after(story, MINUTE)
    (tick,) = found(story)
    story.claim(tick.job or JobId(0))
    after(story, MINUTE)
    assert outcomes(story) == [("fired", 1), ("skipped", 1)], "it runs on a node that has just died"
    story.lose(*story.seen())
    assert story.state(tick.job or 0) is State.DEAD
    after(story, MINUTE)
    assert outcomes(story)[-1] == ("fired", 1)
