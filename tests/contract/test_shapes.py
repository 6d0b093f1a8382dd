"""What is below the nodes of a definition is read once by a process, and never taken for that of another definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mainspring.domain.ids import JobId, RunId
from mainspring.domain.states import Outcome
from mainspring.store import Transaction, jobs, lanes, runs
from mainspring.store.runs import Below, Held
from mainspring.store.shapes import MOST, Shapes
from mainspring.transitions import ended
from mainspring.transitions.ended import Report
from tests.contract.run_stories import Runs, node
from tests.contract.stories import Story

DIAMOND = (node("top"), node("left", "top"), node("right", "top"), node("end", "left", "right"))
CHAIN = (node("top"), node("left", "top"), node("right", "left"), node("end", "left", "right"))


class Noting:
    """A transaction that notes what is asked."""

    def __init__(self, tx: Transaction, asked: list[str]) -> None:
        self._tx = tx
        self._asked = asked

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    def rows(self, name: str, /, **values: Any) -> list[tuple[Any, ...]]:
        self._asked.append(name)
        return self._tx.rows(name, **values)

    def together(self, *wanted: tuple[str, Any]) -> list[list[tuple[Any, ...]]]:
        self._asked += [name for name, _ in wanted]
        return self._tx.together(*wanted)


def work_off(flows: Runs, shapes: Shapes) -> tuple[list[list[str]], list[str]]:
    """End all jobs that come, as one worker does: by turn the nodes that went, and what was asked for it."""
    story, went, asked = flows.story, list[list[str]](), list[str]()

    def end(tx: Transaction, now: Sequence[JobId]) -> None:
        links = runs.links(tx, now)
        reports = [
            Report(
                story.ending(job, Outcome.SUCCEEDED, result=b"1"), story.policy(tx, job), alone=False, link=links[job]
            )
            for job in now
        ]
        ended.end(Noting(tx, asked), reports, "worker:1", shapes)

    while waiting := flows.waiting():
        went.append(sorted(waiting))
        now = [job.id for job in waiting.values()]
        story.claim(*now)
        story.store.write(lambda tx, now=now: end(tx, now))  # type: ignore[misc]
    return went, asked


def test_a_second_run_of_a_definition_asks_for_nothing_that_the_first_has_read(story: Story) -> None:
    flows, shapes = Runs(story), Shapes()
    turns = [["top"], ["left", "right"], ["end"]]
    first = flows.start(*DIAMOND)
    went, asked = work_off(flows, shapes)
    assert (went, flows.run(first).state) == (turns, "succeeded")
    assert asked.count("node/children") == 3
    second = flows.start(*DIAMOND)
    went, asked = work_off(flows, shapes)
    assert (went, flows.run(second).state) == (turns, "succeeded")
    assert asked.count("node/children") == 1, "of which definition it is, is told by the first look"


def test_runs_of_definitions_that_look_alike_are_told_apart(story: Story) -> None:
    flows, shapes = Runs(story), Shapes()
    for nodes, turns in ((DIAMOND, 3), (CHAIN, 4), (DIAMOND, 3), (CHAIN, 4)):
        run = flows.start(*nodes)
        went, _ = work_off(flows, shapes)
        assert (len(went), flows.run(run).state) == (turns, "succeeded")
    both = [flows.start(*DIAMOND), flows.start(*CHAIN)]
    work_off(flows, shapes)
    assert [flows.run(run).state for run in both] == ["succeeded", "succeeded"]


def test_a_number_that_another_definition_has_now_is_not_mistaken() -> None:
    shapes = Shapes()
    below = [Below(0, 2, 1, 0, "{}", "{}", "next", 0)]
    shapes.learn({RunId(1): held(1, "old")}, {(RunId(1), 1): below})
    shapes.learn({RunId(2): held(2, "new")}, {})
    assert (shapes.below((RunId(1), 1)), shapes.below((RunId(2), 1))) == (below, None)


def test_what_is_known_has_a_bound() -> None:
    shapes = Shapes()
    for run in range(3):
        one = RunId(run)
        shapes.learn({one: held(run, str(run))}, {(one, number): [] for number in range(MOST // 2)})
    known = [shapes.below((RunId(run), number)) for run in range(3) for number in range(MOST // 2)]
    assert 0 < sum(one is not None for one in known) <= MOST


def held(run: int, content: str) -> Held:
    return Held(RunId(run), 7, "continue", None, None, None, None, None, None, None, None, content)


def test_what_is_known_of_jobs_that_were_just_born_is_what_would_be_read_of_them(story: Story) -> None:
    """A worker claims them in the transaction that made them, and reads nothing of them again."""
    flows = Runs(story)
    made_by = '{"schedule":"nightly","origin":"regular","at":1}'
    flows.start(
        node("top"),
        node("plain", "top", priority=1),
        node("takes", "top", params={"n": {"$node": "top"}, "m": 1}),
        node("expires", "top", expires="1h"),
        node("map", "top", map=[1, 2], params={"n": {"$item": True}}),
    )
    story.bench.alter(story.store, f"update run set tick = '{made_by}'")
    (top,) = flows.waiting().values()
    story.claim(top.id)

    def work(tx: Transaction) -> None:
        report = Report(
            story.ending(top.id, Outcome.SUCCEEDED, result=b"1"),
            story.policy(tx, top.id),
            alone=False,
            link=runs.links(tx, [top.id])[top.id],
        )
        born = ended.end(tx, [report], "worker:1").advanced.born
        rules = lanes.read_map(tx).rules
        _, told = jobs.leave_ready(tx, list(born), rules, born)
        _, read = jobs.leave_ready(tx, list(born), rules)
        assert (told, len(told)) == (read, 5)
        assert {one.tick for one in told.values()} == {made_by}

    story.store.write(work)
