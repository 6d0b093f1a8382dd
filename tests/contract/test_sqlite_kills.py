"""Processes are killed at each named fault point; the file is whole, nothing acknowledged is lost, nothing doubled."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mainspring.clock import DAY, MINUTE
from mainspring.control import read
from mainspring.domain.ids import JobId
from mainspring.domain.job import JobFilter
from mainspring.domain.states import Outcome, State
from mainspring.faults import FaultPoint
from mainspring.store import Store, jobs
from tests.contract import children
from tests.contract.engines import START, SqliteBench, connection_of, unsound
from tests.contract.stories import LEASE, Story

NOW = START + DAY
KILLED = -9


class Case(NamedTuple):
    """One victim and what was found after it."""

    point: str
    nth: int
    path: Path
    code: int
    told: list[Any]


def victims(folder: Path, template: Path, action: str, points: list[FaultPoint], hits: range) -> list[Case]:
    """Kill at each point, at the first hit, the second, and so on; each on a copy of the template."""
    plans = [(point, nth) for point in points for nth in hits]
    cases: list[list[Any]] = []
    for point, nth in plans:
        path = folder / f"{point.value}.{nth}.db"
        for end in (".db", ".logs.db"):
            shutil.copyfile(template.with_suffix(end), path.with_suffix("").with_name(path.stem + end))
        cases.append([action, str(path), NOW, f"{point.value}=kill@{nth}"])
    done = children.run("victim", json.dumps(cases))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    found = []
    for (point, nth), case, code in zip(plans, cases, json.loads(done.stdout), strict=True):
        path = Path(case[1])
        told = [json.loads(line) for line in Path(f"{path}.told").read_text().splitlines()]
        found.append(Case(point.value, nth, path, code, told))
    return found


def again(cases: list[Case], action: str) -> None:
    """The same program once more on each, unharmed: what a restart does."""
    done = children.run("victim", json.dumps([[action, str(case.path), NOW + MINUTE, ""] for case in cases]))
    assert json.loads(done.stdout) == [0] * len(cases), done.stderr


def sound(path: Path) -> Store:
    """The database after the kill: opened again, whole, and every job in one place."""
    store = Store.open(f"sqlite:///{path}")
    assert store.read(lambda tx: next(connection_of(tx).execute("pragma integrity_check"))) == ("ok",)
    assert unsound(store) == []
    return store


def states(store: Store) -> dict[int, State]:
    return {job.id: job.state for job in read.listed(store, JobFilter(limit=1000)).items}


@pytest.fixture
def template(tmp_path: Path) -> Callable[[Callable[[Story], object]], Path]:
    """A closed database in which the story has gone so far."""

    def made(tell: Callable[[Story], object]) -> Path:
        (tmp_path / "template").mkdir()
        bench = SqliteBench(tmp_path / "template")
        tell(Story(bench))
        bench.close()
        return tmp_path / "template" / "m.db"

    return made


Template = Callable[[Callable[[Story], object]], Path]


def test_a_submit_that_is_killed_is_stored_whole_or_not_at_all(tmp_path: Path, template: Template) -> None:
    points = [FaultPoint.SUBMIT_BEFORE_COMMIT, FaultPoint.SUBMIT_AFTER_COMMIT]
    for case in victims(tmp_path, template(lambda _: None), "submits", points, range(1, 4)):
        assert case.code == KILLED, case
        assert len(case.told) == case.nth - 1, "as many answers as submits before the kill"
        committed = case.nth - (case.point == FaultPoint.SUBMIT_BEFORE_COMMIT)
        store = sound(case.path)
        found = states(store)
        assert len(found) == 3 * committed
        assert {job for answer in case.told for job in answer} <= set(found)
        store.close()


def test_a_retry_by_hand_that_is_killed_happened_once_or_not_at_all(tmp_path: Path, template: Template) -> None:
    points = [FaultPoint.SUBMIT_BEFORE_COMMIT, FaultPoint.SUBMIT_AFTER_COMMIT]
    start = template(lambda story: [story.bring(State.DEAD) for _ in range(3)])
    for case in victims(tmp_path, start, "retries", points, range(2, 3)):
        assert case.code == KILLED, case
        store = sound(case.path)
        assert len(states(store)) == 3 + 2 - (case.point == FaultPoint.SUBMIT_BEFORE_COMMIT)
        store.close()


def test_a_cancel_that_is_killed_happened_or_not(tmp_path: Path, template: Template) -> None:
    points = [FaultPoint.CANCEL_BEFORE_COMMIT, FaultPoint.CANCEL_AFTER_COMMIT]
    start = template(lambda story: [story.submit() for _ in range(4)])
    for case in victims(tmp_path, start, "cancels", points, range(1, 4)):
        assert case.code == KILLED, case
        committed = case.nth - (case.point == FaultPoint.CANCEL_BEFORE_COMMIT)
        store = sound(case.path)
        found = states(store)
        assert list(found.values()).count(State.CANCELLED) == committed
        assert all(found[job] is State.CANCELLED for job in case.told)
        store.close()


def test_a_worker_that_is_killed_leaves_each_job_claimed_ended_or_waiting_and_all_are_done_later(
    tmp_path: Path, template: Template
) -> None:
    points = [
        FaultPoint.DISPATCH_BEFORE_COMMIT,
        FaultPoint.DISPATCH_AFTER_COMMIT,
        FaultPoint.START_BEFORE_SEND,
        FaultPoint.RENEW_BEFORE_WRITE,
    ]
    start = template(lambda story: [story.submit() for _ in range(5)])
    cases = victims(tmp_path, start, "dispatches", points, range(1, 4))
    for case in cases:
        assert case.code == KILLED, case
        store = sound(case.path)
        found = states(store)
        assert set(found.values()) <= {State.QUEUED, State.RUNNING, State.SUCCEEDED}
        assert list(found.values()).count(State.RUNNING) <= 2, "no more than it had slots for"
        started = {job for _, job, _ in case.told}
        assert started <= {job for job, state in found.items() if state is not State.QUEUED}
        store.close()
    again(cases, "dispatches")
    for case in cases:
        store = sound(case.path)
        assert set(states(store).values()) == {State.SUCCEEDED}, case
        for job in states(store):
            check_attempts(store, JobId(job))
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


def test_a_sweep_that_is_killed_has_moved_each_job_once_or_not_at_all(tmp_path: Path, template: Template) -> None:
    points = [FaultPoint.SWEEP_AFTER_READ, FaultPoint.SWEEP_BEFORE_COMMIT, FaultPoint.SWEEP_AFTER_COMMIT]
    start = template(orphans)
    cases = victims(tmp_path, start, "sweeps", points, range(1, 3))
    for case in cases:
        assert case.code == KILLED, case
        sound(case.path).close()
    again(cases, "sweeps")
    for case in cases:
        store = sound(case.path)
        found = states(store)
        assert [found[job] for job in sorted(found)] == [State.QUEUED] * 4 + [State.DEAD]
        for job in sorted(found)[:3]:
            lost = store.read(lambda tx, job=job: jobs.attempts(tx, job))  # type: ignore[misc]
            assert [(attempt.number, attempt.outcome) for attempt in lost] == [(1, Outcome.LOST)]
        store.close()
