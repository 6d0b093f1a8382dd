"""Exports: every job and event, in order, each once, as they were at one moment."""

from __future__ import annotations

from itertools import pairwise

import psycopg
import pytest

from mainspring.clock import MINUTE
from mainspring.control import read, schedules
from mainspring.domain.attempt import Attempt
from mainspring.domain.event import Event
from mainspring.domain.job import Job, JobRequest
from mainspring.domain.plan import Plan
from mainspring.domain.states import State
from mainspring.domain.timetable import Origin, Outcome, Tick
from mainspring.engine.fire import Fire
from mainspring.errors import StoreUnreachable
from mainspring.store import Store, export
from tests.contract.engines import Bench
from tests.contract.stories import Story


def all_jobs(store: Store) -> list[tuple[Job, list[Attempt]]]:
    found: list[tuple[Job, list[Attempt]]] = []
    export.jobs(store, lambda job, tried: found.append((job, tried)))
    return found


def all_events(store: Store) -> list[Event]:
    found: list[Event] = []
    export.events(store, found.append)
    return found


def test_an_export_holds_what_the_questions_answer_for_each_job(story: Story) -> None:
    jobs = [story.bring(state, tags={"a": "b"}) for state in State if state is not State.NEW]
    story.retry(jobs[-1])
    found = all_jobs(story.store)
    assert {job.state for job, _ in found} == set(State) - {State.NEW}
    for job, tried in found:
        assert job == read.job(story.store, job.id)
        assert tried == read.attempts(story.store, job.id)
    assert all_events(story.store) == read.history(story.store, after=0, job=None, kinds=(), limit=10_000)


def test_pages_meet_without_a_gap_and_large_jobs_make_them_small(story: Story) -> None:
    small = story.submit_many([JobRequest("send")] * 1_200)
    large = [story.submit(meta="x" * 600_000) for _ in range(12)]
    found = [job for job, _ in all_jobs(story.store)]
    assert [job.id for job in found] == [*small, *large]
    assert [len(job.meta) for job in found if job.meta] == [600_000] * 12
    seqs = [event.seq for event in all_events(story.store)]
    assert len(seqs) == 1_212
    assert all(one < other for one, other in pairwise(seqs))


@pytest.mark.parametrize("bench", ["sqlite", "postgres"], indirect=True)
def test_what_is_stored_while_an_export_runs_is_not_in_it(story: Story) -> None:
    first = story.submit_many([JobRequest("send")] * 600)
    found: list[Job] = []

    def take(job: Job, tried: list[Attempt]) -> None:
        if not found:
            story.submit()
            story.cancel(first[-1])
        found.append(job)

    export.jobs(story.store, take)
    assert [job.id for job in found] == first
    assert {job.state for job in found} == {State.QUEUED}
    assert len(all_jobs(story.store)) == 601


@pytest.mark.parametrize("bench", ["postgres"], indirect=True)
def test_an_export_whose_connection_is_cut_says_so_and_repeats_nothing(story: Story, bench: Bench) -> None:
    story.submit_many([JobRequest("send")] * 600)
    found: list[int] = []

    def take(job: Job, tried: list[Attempt]) -> None:
        if not found:
            with psycopg.connect(bench.url, autocommit=True) as hand:
                hand.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity "
                    "where datname = current_database() and pid <> pg_backend_pid()"
                )
        found.append(job.id)

    with pytest.raises(StoreUnreachable, match="amid the export"):
        export.jobs(story.store, take)
    assert len(found) == len(set(found)) == 500


def test_an_export_of_ticks_names_their_schedules_also_removed_ones(story: Story) -> None:
    plan = Plan({"every": "1m"}, task="send")
    for name in ("a", "b"):
        schedules.put(story.store, name, plan, origin=Origin.CLI, actor="ann")
    for _ in range(2):
        story.clock.forward(MINUTE)
        Fire(story.store, story.clock).turn()
    schedules.remove(story.store, "b", actor="ann")
    found: list[tuple[str, Tick]] = []
    export.ticks(story.store, lambda name, tick: found.append((name, tick)))
    assert [(name, tick.outcome) for name, tick in found] == [
        (name, outcome) for name in ("a", "b") for outcome in (Outcome.FIRED, Outcome.SKIPPED)
    ]
    assert found[0][1] == schedules.listed_ticks(story.store, "a", cursor=None, limit=9).items[-1]
