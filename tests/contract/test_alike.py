"""Rows that are alike go as one statement on SQLite: what they write is what goes row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mainspring.domain.job import JobRequest
from mainspring.domain.states import Outcome
from mainspring.domain.task import Lodging
from mainspring.engine.claiming import Claimer
from mainspring.engine.held import Limits, Room, RunnerView
from mainspring.store import Transaction, alike, lanes, runs
from mainspring.transitions.ended import Ends, Report
from tests.contract.engines import Dump, MemoryBench
from tests.contract.run_stories import Runs, node
from tests.contract.stories import LEASE, Story

ROW_BY_ROW = 1_000_000
WIDTH = 9


def a_life(story: Story) -> Dump:
    """Jobs and nodes of all kinds are born, claimed and end: many that are alike, some that are not."""
    plain = JobRequest("send", {"to": "ann"}, tags={"a": "b"})
    later = JobRequest("send", delay="5m")
    several = [JobRequest("send", {"n": n}, priority=n % 2, expires="1h") for n in range(WIDTH)]
    story.submit_many([plain, *[later] * WIDTH, *several, *[plain] * WIDTH])
    flows = Runs(story)
    names = [f"n{number}" for number in range(WIDTH)]
    below = [node(name, "top", priority=number % 2) for number, name in enumerate(names)]
    ends = [
        node("one", *names[:2]),
        node("other", *names[2:], run_if="all_done"),
        node("never", *names, when="results.n0 == 5"),
    ]
    run = flows.start(node("top"), *below, *ends, node("each", map=[1, 2, 3, 4, 5], params={"n": {"$item": True}}))
    flows.end("top")
    bear(story, *(job.id for name, job in sorted(flows.waiting().items()) if name in names[:6]))
    flows.work_off({"n7": Outcome.FAILED})
    assert flows.run(run).progress.failed
    return story.dump()


def bear(story: Story, *ended: Any) -> None:
    """These are claimed and end; what that lets go is leased at once."""
    story.claim(*ended)

    def work(tx: Transaction) -> None:
        links = runs.links(tx, ended)
        claimer = Claimer(story.worker, LEASE, "worker:1", story.clock)
        room = Room(Limits(100, 1), {}, [RunnerView(1, Lodging.SHARED, frozenset())])
        reports = [
            Report(story.ending(job, Outcome.SUCCEEDED), story.policy(tx, job), alone=False, link=links[job])
            for job in ended
        ]
        free = claimer.free(lanes.read_map(tx), room, None)
        assert free is not None
        Ends(tx, reports, "worker:1", free=free).settle()

    story.store.write(work)


def without_random_numbers(dump: Dump) -> Dump:
    """Claims are random; the events of one job are in order, and those of several needn't be."""
    events = [row[1:] for row in sorted(dump["event"], key=lambda row: (row[1], row[0]))]
    leases = [(*row[:1], *row[2:]) for row in dump["lease"]]
    return {name: sorted(found, key=repr) for name, found in (dump | {"event": events, "lease": leases}).items()}


def test_rows_that_are_alike_are_written_as_those_that_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    for fewest in (1, alike.FEWEST, ROW_BY_ROW):
        monkeypatch.setattr(alike, "FEWEST", fewest)
        bench = MemoryBench(tmp_path)
        written.append(without_random_numbers(a_life(Story(bench))))
        bench.close()
    for name, found in written[-1].items():
        assert written[0][name] == found, name
        assert written[1][name] == found, name
