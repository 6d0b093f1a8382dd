"""Processes are killed at each named fault point; the store is whole, nothing acknowledged is lost, nothing doubled."""

from __future__ import annotations

import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mainspring.clock import DAY, MINUTE, Instant
from mainspring.control import read, workflows
from mainspring.control import runs as control_runs
from mainspring.domain.ids import JobId
from mainspring.domain.job import JobFilter
from mainspring.domain.joins import Rule, RunState
from mainspring.domain.run import RunFilter
from mainspring.domain.states import Outcome, State
from mainspring.domain.workflow import Node, Workflow
from mainspring.faults import FaultPoint
from mainspring.store import Store, jobs
from mainspring.store.check import Level, check
from mainspring.transitions.errands import run_errands
from tests import postgres
from tests.contract import children
from tests.contract.engines import START, HandClock, PostgresBench, SqliteBench, asked, connection_of, unsound
from tests.contract.run_stories import Runs, node
from tests.contract.stories import LEASE, Story

NOW = START + DAY
KILLED = -9
ENDS = {"succeeded", "failed", "cancelled", "skipped", "dead"}
Tell = Callable[[Story], object]


class Case(NamedTuple):
    """One victim and what was found after it."""

    point: str
    nth: int
    url: str
    code: int
    told: list[Any]


class Ground(ABC):
    """Where victims die: copies of one database, in which a story has gone so far.

    ``hits``: at which hits of a point they are killed, of those that a test proposes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def hits(self, proposed: range) -> Sequence[int]:
        return proposed

    @abstractmethod
    def begin(self, tell: Tell) -> None:
        """Make the database that is copied."""

    @abstractmethod
    def copy(self, name: str) -> str:
        """A copy of it; its URL."""

    def sound(self, url: str) -> Store:
        """The database after the kill: opened again, and every job in one place."""
        store = Store.open(url)
        assert unsound(store) == []
        return store

    def victims(
        self, tell: Tell, action: str, points: list[FaultPoint], hits: range, *, each: bool = False
    ) -> list[Case]:
        """Kill at each point, at the first hit, the second, and so on; each on a copy. ``each``: leave out none."""
        self.begin(tell)
        plans = [(point, nth) for point in points for nth in (hits if each else self.hits(hits))]
        cases: list[list[Any]] = []
        for point, nth in plans:
            name = f"{point.value}.{nth}"
            cases.append([action, self.copy(name), str(self.folder / f"{name}.told"), NOW, f"{point.value}=kill@{nth}"])
        done = children.run("victim", json.dumps(cases))
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        found = []
        for (point, nth), case, code in zip(plans, cases, json.loads(done.stdout), strict=True):
            told = [json.loads(line) for line in Path(case[2]).read_text().splitlines()]
            found.append(Case(point.value, nth, case[1], code, told))
        return found

    def again(self, cases: list[Case], action: str) -> None:
        """The same program once more on each, unharmed: what a restart does."""
        more = [[action, case.url, str(self.folder / "again.told"), NOW + MINUTE, ""] for case in cases]
        done = children.run("victim", json.dumps(more))
        assert json.loads(done.stdout) == [0] * len(cases), done.stderr


class SqliteGround(Ground):
    """Files."""

    def begin(self, tell: Tell) -> None:
        (self.folder / "template").mkdir()
        bench = SqliteBench(self.folder / "template")
        tell(Story(bench))
        bench.close()

    def copy(self, name: str) -> str:
        for end in ("", ".logs"):
            shutil.copyfile(self.folder / "template" / f"m{end}.db", self.folder / f"{name}{end}.db")
        return f"sqlite:///{self.folder / name}.db"

    def sound(self, url: str) -> Store:
        store = super().sound(url)
        assert store.read(lambda tx: next(connection_of(tx).execute("pragma integrity_check"))) == ("ok",)
        return store


class PostgresGround(Ground):
    """Databases. To copy one takes a while, so there are fewer."""

    def __init__(self, folder: Path, databases: postgres.Databases) -> None:
        super().__init__(folder)
        self._databases = databases
        self._bench = PostgresBench(folder, databases)
        self._copies: list[str] = []

    def hits(self, proposed: range) -> Sequence[int]:
        return proposed[-1:]

    def begin(self, tell: Tell) -> None:
        tell(Story(self._bench))
        self._bench.close_stores()
        self._databases.let_go(self._bench.database)

    def copy(self, name: str) -> str:
        server = self._bench.server
        self._copies.append(f"k{postgres.unique()}")
        server.ask(f"create database {self._copies[-1]} template {self._bench.database}")
        return server.url(self._copies[-1])

    def end(self) -> None:
        """Take everything away."""
        for name in self._copies:
            postgres.drop_database(self._bench.server, name)
        self._bench.close()


@pytest.fixture(params=["sqlite", "postgres"])
def ground(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ground]:
    if request.param == "sqlite":
        yield SqliteGround(tmp_path)
    else:
        on_server = PostgresGround(tmp_path, request.getfixturevalue("postgres_databases"))
        yield on_server
        on_server.end()


def times(count: int, act: Tell) -> Tell:
    """The same so often."""

    def tell(story: Story) -> None:
        for _ in range(count):
            act(story)

    return tell


def states(store: Store) -> dict[int, State]:
    return {job.id: job.state for job in read.listed(store, JobFilter(limit=1000)).items}


def test_a_submit_that_is_killed_is_stored_whole_or_not_at_all(ground: Ground) -> None:
    points = [FaultPoint.SUBMIT_BEFORE_COMMIT, FaultPoint.SUBMIT_AFTER_COMMIT]
    for case in ground.victims(lambda _: None, "submits", points, range(1, 4)):
        assert case.code == KILLED, case
        assert len(case.told) == case.nth - 1, "as many answers as submits before the kill"
        committed = case.nth - (case.point == FaultPoint.SUBMIT_BEFORE_COMMIT)
        store = ground.sound(case.url)
        found = states(store)
        assert len(found) == 3 * committed
        assert {job for answer in case.told for job in answer} <= set(found)
        store.close()


def test_a_retry_by_hand_that_is_killed_happened_once_or_not_at_all(ground: Ground) -> None:
    points = [FaultPoint.SUBMIT_BEFORE_COMMIT, FaultPoint.SUBMIT_AFTER_COMMIT]
    start = times(3, lambda story: story.bring(State.DEAD))
    for case in ground.victims(start, "retries", points, range(2, 3)):
        assert case.code == KILLED, case
        store = ground.sound(case.url)
        assert len(states(store)) == 3 + 2 - (case.point == FaultPoint.SUBMIT_BEFORE_COMMIT)
        store.close()


def failed_in_parts(story: Story) -> None:
    """A run with nodes, items and nodes of a nested run to keep."""
    runs = Runs(story)
    workflows.put(story.store, Workflow("inner", (node("in"), node("out", "in"))), actor="ann")
    nested = Node("sub", workflow="inner")
    runs.start(*(node(f"n{number}") for number in range(4)), node("each", map=[1, 2, 3]), nested, node("bad"))
    runs.work_off(dict.fromkeys(("each[1]", "out", "bad"), Outcome.FAILED))


def test_a_resume_that_is_killed_amid_what_it_stores_leaves_nothing_behind(ground: Ground) -> None:
    points = [FaultPoint.SUBMIT_BEFORE_COMMIT, FaultPoint.SUBMIT_AFTER_COMMIT]
    cases = ground.victims(failed_in_parts, "resumes", points, range(1, 5))
    clock = HandClock(Instant(NOW + DAY))
    for case in cases:
        if case.code == 0:
            assert case.point == FaultPoint.SUBMIT_AFTER_COMMIT, "only the last transaction is told of"
        else:
            assert (case.code, case.told) == (KILLED, []), case
        store = Store.open(case.url, clock=clock)
        assert Level.FAULT not in {one.level for one in check(store)}, case
        while store.write(lambda tx: run_errands(tx, "sweeper").more):
            pass
        count = len(control_runs.listed(store, RunFilter()).items)
        began = case.code == 0 or case.point == FaultPoint.SUBMIT_AFTER_COMMIT
        assert count == 2 + 2 * began, case
        kept = asked(store, "select count(*) from node where origin is not null")
        parts = asked(store, "select count(*) from node_part")
        assert (kept, parts) == (([(5,)], [(3,)]) if began else ([(0,)], [(0,)])), case
        store.close()


def test_a_cancel_that_is_killed_happened_or_not(ground: Ground) -> None:
    points = [FaultPoint.CANCEL_BEFORE_COMMIT, FaultPoint.CANCEL_AFTER_COMMIT]
    start = times(4, lambda story: story.submit())
    for case in ground.victims(start, "cancels", points, range(1, 4)):
        assert case.code == KILLED, case
        committed = case.nth - (case.point == FaultPoint.CANCEL_BEFORE_COMMIT)
        store = ground.sound(case.url)
        found = states(store)
        assert list(found.values()).count(State.CANCELLED) == committed
        assert all(found[job] is State.CANCELLED for job in case.told)
        store.close()


def test_a_worker_that_is_killed_leaves_each_job_claimed_ended_or_waiting_and_all_are_done_later(
    ground: Ground,
) -> None:
    points = [
        FaultPoint.DISPATCH_BEFORE_COMMIT,
        FaultPoint.DISPATCH_AFTER_COMMIT,
        FaultPoint.START_BEFORE_SEND,
        FaultPoint.RENEW_BEFORE_WRITE,
    ]
    start = times(5, lambda story: story.submit())
    cases = ground.victims(start, "dispatches", points, range(1, 4))
    for case in cases:
        assert case.code == KILLED, case
        store = ground.sound(case.url)
        found = states(store)
        assert set(found.values()) <= {State.QUEUED, State.RUNNING, State.SUCCEEDED}
        assert list(found.values()).count(State.RUNNING) <= 2, "no more than it had slots for"
        started = {job for _, job, _ in case.told}
        assert started <= {job for job, state in found.items() if state is not State.QUEUED}
        store.close()
    ground.again(cases, "dispatches")
    for case in cases:
        store = ground.sound(case.url)
        assert set(states(store).values()) == {State.SUCCEEDED}, case
        for job in states(store):
            check_attempts(store, JobId(job))
        store.close()


def joined(story: Story) -> None:
    """A run with parts, items, a join that needs no worker, one that does, a nested run, and a callback."""
    workflows.put(story.store, Workflow("inner", (Node("in", "send"),)), actor="ann")
    nodes = (
        Node("A", "send"),
        Node("each", "send", map=[1, 2]),
        Node("join", needs=("A", "each")),
        Node("D", "send", needs=("join",)),
        Node("sub", workflow="inner", needs=("join",)),
        Node("callback", "send", needs=("D", "sub"), run_if=Rule.ALL_DONE),
    )
    Runs(story).start(*nodes)


COMMITS = 8
"""More than there are from the start of this run to its end."""


def test_a_run_whose_worker_is_killed_at_any_of_its_commits_ends_as_it_would_have(ground: Ground) -> None:
    """B189: also at the commit of the last member, of the join, and of the callback."""
    points = [FaultPoint.DISPATCH_BEFORE_COMMIT, FaultPoint.DISPATCH_AFTER_COMMIT]
    cases = ground.victims(joined, "dispatches", points, range(1, COMMITS), each=True)
    done: dict[str, list[int]] = {}
    for case in cases:
        store = Store.open(case.url)
        run = max(control_runs.listed(store, RunFilter()).items, key=lambda one: one.nodes)
        done.setdefault(case.point, []).append(sum(run.progress) - run.progress.waiting - run.progress.active)
        assert run.done or case.code == KILLED, case
        store.close()
    assert all(found == sorted(found) and found[-1] == 6 for found in done.values()), done
    assert {0, 5, 6} <= {one for found in done.values() for one in found}, "from the first commit to the last"
    ground.again(cases, "dispatches")
    for case in cases:
        store = Store.open(case.url)
        found = control_runs.listed(store, RunFilter()).items
        assert {one.state for one in found} == {RunState.SUCCEEDED}, case
        assert sorted(one.workflow for one in found) == ["flow", "inner"]
        assert len(states(store)) == 6
        for job in states(store):
            check_attempts(store, JobId(job))
        ends = [event for event in control_runs.events(store, found[-1].id) if event.target in ENDS]
        assert [event.node for event in ends if not event.job][-1] is None
        assert sorted(str(event.node) for event in ends) == sorted(
            ["A", "D", "None", "callback", "each", "each", "each", "join", "sub"]
        )
        assert Level.FAULT not in {one.level for one in check(store)}, case
        store.close()


def check_attempts(store: Store, job: JobId) -> None:
    """At most one lost attempt, then the one that succeeded."""
    outcomes = [attempt.outcome for attempt in store.read(lambda tx: jobs.attempts(tx, job))]
    assert outcomes in ([Outcome.SUCCEEDED], [Outcome.LOST, Outcome.SUCCEEDED])


def orphans(story: Story) -> None:
    """Three jobs whose worker is gone, one that is due, one that is late."""
    for _ in range(3):
        story.running()
    story.submit(delay="1m")
    story.submit("mail", expires="1m")
    story.clock.forward(2 * LEASE)


def test_a_sweep_that_is_killed_has_moved_each_job_once_or_not_at_all(ground: Ground) -> None:
    points = [FaultPoint.SWEEP_AFTER_READ, FaultPoint.SWEEP_BEFORE_COMMIT, FaultPoint.SWEEP_AFTER_COMMIT]
    cases = ground.victims(orphans, "sweeps", points, range(1, 3))
    for case in cases:
        assert case.code == KILLED, case
        ground.sound(case.url).close()
    ground.again(cases, "sweeps")
    for case in cases:
        store = ground.sound(case.url)
        found = states(store)
        assert [found[job] for job in sorted(found)] == [State.QUEUED] * 4 + [State.DEAD]
        for job in sorted(found)[:3]:
            lost = store.read(lambda tx, job=job: jobs.attempts(tx, job))  # type: ignore[misc]
            assert [(attempt.number, attempt.outcome) for attempt in lost] == [(1, Outcome.LOST)]
        store.close()
