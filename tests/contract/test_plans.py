"""Plans: each hot statement finds its rows by an index, and a claim does not slow down with what waits."""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mainspring.clock import Instant
from mainspring.domain.ids import ClaimId, LaneId
from mainspring.domain.job import JobRequest
from mainspring.store import Transaction, jobs
from mainspring.store.jobs import Birth, Grant, Look
from tests.contract.engines import Bench, SqliteBench
from tests.contract.stories import LEASE, Story

WAITING = 200_000
LARGE = ("job", "event", "attempt", "ready", "due", "lease", "expiry", "log")

PLANS: dict[str, tuple[str, ...]] = {
    "attempt/of_job": ("SEARCH attempt USING PRIMARY KEY (job=?)", "SEARCH lease USING INTEGER PRIMARY KEY"),
    "event/reach": ("SEARCH event USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",),
    "event/after": ("SEARCH event USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",),
    "event/of_job": ("SEARCH event USING INDEX event_job (job=? AND rowid>?)",),
    "job/enter_ended": ("SEARCH job USING INTEGER PRIMARY KEY (rowid=?)",),
    "job/expired": ("SEARCH expiry USING COVERING INDEX expiry_at (at<?)",),
    "job/heads": (
        "SEARCH first USING COVERING INDEX ready_order (lane=? AND (priority,due)>(?,?))",
        "SEARCH following USING COVERING INDEX ready_order (lane=? AND (priority,due)>(?,?))",
    ),
    "job/claimable": (
        "SEARCH ready USING INDEX ready_order (lane=? AND (priority,due)>(?,?))",
        "SEARCH job USING INTEGER PRIMARY KEY (rowid=?)",
    ),
    "job/enter_lease_set": ("SEARCH ready USING INTEGER PRIMARY KEY (rowid=?)",),
    "event/insert_claims": ("SEARCH ready USING INTEGER PRIMARY KEY (rowid=?)",),
    "job/leave_ready_set": ("SEARCH ready USING INTEGER PRIMARY KEY (rowid=?)",),
    "job/holding": ("SEARCH lease USING INTEGER PRIMARY KEY (rowid=?)",),
    "attempt/insert_set": ("SEARCH lease USING INTEGER PRIMARY KEY (rowid=?)",),
    "job/enter_ended_set": (
        "SEARCH job USING INTEGER PRIMARY KEY (rowid=?)",
        "SEARCH lease USING INTEGER PRIMARY KEY (rowid=?)",
    ),
    "event/insert_successes": ("SEARCH lease USING INTEGER PRIMARY KEY (rowid=?)",),
    "job/leave_lease_set": ("SEARCH lease USING INTEGER PRIMARY KEY (rowid=?)",),
    "job/reserve": ("SEARCH ready USING COVERING INDEX ready_order (lane=? AND (priority,due)>(?,?))",),
    "lane/firsts": ("SEARCH other USING COVERING INDEX ready_order (lane=? AND (priority,due)>(?,?))",),
    "job/heads_known": (
        "SEARCH ready USING COVERING INDEX ready_order (lane=?)",
        "SEARCH job USING INTEGER PRIMARY KEY",
    ),
    "job/last_details": ("SEARCH attempt USING PRIMARY KEY (job=?)",),
    "job/last_replay": ("SEARCH job USING INDEX job_replay (replay_of=?)",),
    "job/leave_due": ("SEARCH due USING INTEGER PRIMARY KEY (rowid=?)",),
    "job/leave_due_come": ("SEARCH due USING COVERING INDEX due_at (at<?)", "SEARCH due USING INTEGER PRIMARY KEY"),
    "job/leave_lease": ("SEARCH lease USING INTEGER PRIMARY KEY (rowid=?)",),
    "job/leave_lease_lost": ("SEARCH lease USING INTEGER PRIMARY KEY (rowid=?)",),
    "job/leave_ready": ("SEARCH ready USING INTEGER PRIMARY KEY (rowid=?)",),
    "job/leave_ready_claimed": ("SEARCH ready USING INTEGER PRIMARY KEY (rowid=?)",),
    "job/count_any": ("SEARCH job USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",),
    "job/count_due": ("SEARCH due USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",),
    "job/count_ended": ("SEARCH job USING INDEX job_ended (state=? AND id>? AND id<?)",),
    "job/count_queued": ("SEARCH ready USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",),
    "job/count_running": ("SEARCH lease USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",),
    "job/list_any": ("SEARCH job USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",),
    "job/list_due": (
        "SEARCH due USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
        "SEARCH job USING INTEGER PRIMARY KEY",
    ),
    "job/list_ended": ("SEARCH job USING INDEX job_ended (state=? AND id>? AND id<?)",),
    "job/list_queued": (
        "SEARCH ready USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
        "SEARCH job USING INTEGER PRIMARY KEY",
    ),
    "job/list_running": (
        "SEARCH lease USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
        "SEARCH job USING INTEGER PRIMARY KEY",
    ),
    "job/stride_any": ("SEARCH job USING INTEGER PRIMARY KEY (rowid<?)",),
    "job/stride_due": ("SEARCH due USING INTEGER PRIMARY KEY (rowid<?)",),
    "job/stride_ended": ("SEARCH job USING COVERING INDEX job_ended (state=? AND id<?)",),
    "job/stride_queued": ("SEARCH ready USING INTEGER PRIMARY KEY (rowid<?)",),
    "job/stride_running": ("SEARCH lease USING INTEGER PRIMARY KEY (rowid<?)",),
    "run/list_any": ("SEARCH run USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",),
    "run/list_ended": ("SEARCH run USING INDEX run_ended (state=? AND id>? AND id<?)",),
    "run/list_live": ("SEARCH run USING INDEX run_live (id>? AND id<?)",),
    "run/stride_any": ("SEARCH run USING INTEGER PRIMARY KEY (rowid<?)",),
    "run/stride_ended": ("SEARCH run USING COVERING INDEX run_ended (state=? AND id<?)",),
    "run/stride_live": ("SEARCH run USING INDEX run_live (id<?)",),
    "depth/uncounted": ("SEARCH event USING INTEGER PRIMARY KEY (rowid>?)", "SEARCH job USING INTEGER PRIMARY KEY"),
    "depth/oldest": (
        "SEARCH ready USING COVERING INDEX ready_order (lane=? AND priority>?)",
        "SEARCH ready USING COVERING INDEX ready_order (lane=? AND priority=?)",
    ),
    "job/load": ("SEARCH job USING INTEGER PRIMARY KEY (rowid=?)",),
    "job/mark_cancel": ("SEARCH lease USING INTEGER PRIMARY KEY (rowid=?)",),
    "job/note_details": ("SEARCH lease USING INTEGER PRIMARY KEY (rowid=?)",),
    "job/one": ("SEARCH job USING INTEGER PRIMARY KEY (rowid=?)",),
    "job/ready_lane": ("SEARCH ready USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH job USING INTEGER PRIMARY KEY"),
    "job/renew": ("SEARCH lease USING INTEGER PRIMARY KEY (rowid=?)",),
    "job/tally": ("SEARCH attempt USING PRIMARY KEY (job=?)",),
    "job/unfinished_descendants": ("SEARCH job USING INDEX job_parent (parent=?)",),
    "job/where": ("SEARCH job USING INTEGER PRIMARY KEY (rowid=?)",),
    "answer/expired": ("SEARCH idempotency_key USING COVERING INDEX idempotency_key_until (until<?)",),
    "answer/find": ("SEARCH idempotency_key USING PRIMARY KEY (key=?)",),
    "key/after": (
        "SEARCH unique_key USING COVERING INDEX unique_key_job (job>?)",
        "SEARCH job USING INTEGER PRIMARY KEY",
    ),
    "key/forget": ("SEARCH unique_key USING INDEX unique_key_job (job=?)",),
    "key/look": (
        "SEARCH unique_key USING PRIMARY KEY (task=? AND key=?)",
        "SEARCH job USING INTEGER PRIMARY KEY",
        "SEARCH ready USING INTEGER PRIMARY KEY",
        "SEARCH due USING INTEGER PRIMARY KEY",
    ),
    "key/retake": ("SEARCH unique_key USING PRIMARY KEY (task=? AND key=?)",),
    "node/end_alike": ("SEARCH node USING PRIMARY KEY (run=? AND number=?)",),
    "node/children": (
        "SEARCH workflow_edge USING PRIMARY KEY (version=? AND source=? AND target>?)",
        "SEARCH workflow_node USING PRIMARY KEY (version=? AND number=?)",
    ),
    "log/after": ("SEARCH log USING PRIMARY KEY (job=? AND seq>?)",),
    "log/last": ("SEARCH log USING PRIMARY KEY (job=?)",),
    "worker/beat_and_poll": (
        *("ready_order (lane=? AND (priority,due)>(?,?))", "due_at", "expiry_at", "lease_cancel"),
        "SEARCH worker USING INTEGER PRIMARY KEY",
    ),
    "worker/poll": (
        *("ready_order (lane=? AND (priority,due)>(?,?))", "due_at", "expiry_at", "lease_cancel"),
        "SEARCH worker USING INTEGER PRIMARY KEY",
    ),
    "worker/sweep_look": ("due_at", "expiry_at"),
    "sight/all": ("due_at", "expiry_at", "next_tick_at", "tick_waiting", "backfill_open"),
}
"""What must stand in the plan of each hot statement."""

_LOOKS = ("worker/beat_and_poll", "worker/poll", "worker/sweep_look", "sight/all")
_FEW = {"webhook/all": {"webhook"}, "webhook/waiting": {"webhook"}, "sight/all": {"lease", "webhook"}}
MAY_SCAN = dict.fromkeys(_LOOKS, frozenset({"lease"})) | _FEW
"""Leases are looked through for those that end soon: as many as jobs run; an index would cost each renewal. There are a
hundred webhooks at most."""


def scanned(plan: list[str]) -> set[str]:
    """The large tables that a plan reads from end to end. To look at one end of an index is no scan."""
    found = set()
    for step in plan:
        match = re.match(r"SCAN (\w+)(.*)", step)
        if match and match[1] in LARGE and "due_at" not in step and "expiry_at" not in step:
            found.add(match[1])
    return found


def check_plans(story: Story) -> None:
    for name, wanted in PLANS.items():
        plan = story.bench.plan(story.store, name)
        for part in wanted:
            assert any(part in step for step in plan), f"{name} should say {part!r}: {plan}"
        assert scanned(plan) <= MAY_SCAN.get(name, set()), f"{name} reads a whole table: {plan}"
        sorts = [step for step in plan if "TEMP B-TREE FOR ORDER BY" in step]
        assert not sorts or name in {"attempt/of_job", "job/unfinished_descendants", "lane/firsts"}, (
            f"{name} sorts: {plan}"
        )


@pytest.fixture
def life(tmp_path: Path) -> Callable[[type[Bench]], Story]:
    def begun(bench_type: type[Bench]) -> Story:
        story = Story(bench_type(tmp_path))
        story.submit_many([JobRequest("send"), JobRequest("mail", delay="1h")])
        return story

    return begun


def fill(story: Story) -> None:
    """Many waiting jobs in one lane, as born() would store them."""
    lane, policy = LaneId(1), 1

    def births(tx: Transaction) -> None:
        birth = Birth("shop.send", lane, 5, policy, tx.now, None, None, None, None, None, "{}")
        jobs.insert(tx, [birth] * 20_000, "client")

    for _ in range(WAITING // 20_000):
        story.store.write(births)
        story.clock.forward()


def claim_times(story: Story, rounds: int) -> list[float]:
    """What finding and claiming ten jobs costs, without the commit; ten are born for each round, so that it can go on.

    As time on the processor: what else the machine does must not fail a test.
    """
    birth = Birth("shop.send", LaneId(1), 5, 1, story.clock.now(), None, None, None, None, None, "{}")

    def turn(tx: Transaction) -> float:
        jobs.insert(tx, [birth] * 10, "client")
        began = time.thread_time()
        heads = jobs.heads(tx, [Look({LaneId(1): 10}, 10)], {}, None)
        left, _ = jobs.leave_ready(tx, [head.job for _, head in heads], 0)
        grants = [Grant(row, ClaimId(tx.chance.claim_id())) for row in left.values()]
        jobs.enter_leased(tx, grants, story.worker, Instant(tx.now + LEASE), "worker:1")
        taken = time.thread_time() - began
        assert len(grants) == 10
        return taken

    return [story.store.write(turn) for _ in range(rounds)]


def p99(times: list[float]) -> float:
    return statistics.quantiles(times, n=100)[-1]


def test_hot_statements_use_their_indices_and_claims_stay_fast_with_many_waiting(
    life: Callable[[type[Bench]], Story],
) -> None:
    """One database for all of it, as filling it takes the time. Rounds before and after are measured alike."""
    story = life(SqliteBench)
    check_plans(story)
    empty = [p99(claim_times(story, 100)) for _ in range(3)]
    fill(story)
    check_plans(story)
    full = [p99(claim_times(story, 100)) for _ in range(3)]
    print(
        f"claim of ten, p99: {[round(one * 1e6) for one in empty]} us empty, {[round(one * 1e6) for one in full]} full"
    )
    assert statistics.median(full) <= 3 * statistics.median(empty)
    story.bench.close()


def test_a_plan_does_not_change_with_statistics(life: Callable[[type[Bench]], Story]) -> None:
    """Somebody ran ANALYZE while the tables were all but empty; the next store that is opened puts that right."""
    story = life(SqliteBench)
    story.bench.alter(story.store, "analyze")
    assert any("SCAN ready" in step for step in story.bench.plan(story.store, "job/leave_ready_claimed"))
    story.bench.open()
    check_plans(story)
    story.bench.close()


def test_a_statement_is_compiled_once_whatever_values_are_bound(life: Callable[[type[Bench]], Story]) -> None:
    """SQLite built with STAT4 compiles anew for other values, unless told not to: 30 times the work of a poll."""
    story = life(SqliteBench)
    poll = {"worker": 1, "lanes": "[]", "app": "shop"}

    def cost(tx: Transaction, number: int) -> float:
        began = time.thread_time()
        tx.rows("worker/poll", horizon=number, **poll)
        return time.thread_time() - began

    story.bench.alter(story.store, "analyze")
    first = story.store.write(lambda tx: cost(tx, 0))
    later = [story.store.write(lambda tx, n=n: cost(tx, n)) for n in range(1, 50)]  # type: ignore[misc]
    assert min(later) < first / 8, (first, min(later))
    story.bench.close()


def test_the_plan_check_finds_what_it_looks_for() -> None:
    assert scanned(["SCAN job", "SEARCH ready USING INDEX x"]) == {"job"}
    assert scanned(["SCAN event USING INDEX event_job", "SCAN due USING COVERING INDEX due_at"]) == {"event"}
    assert scanned(["SCAN json_each VIRTUAL TABLE INDEX 1:", "SCAN lane"]) == set()
