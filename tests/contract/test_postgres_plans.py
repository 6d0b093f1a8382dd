"""Plans on PostgreSQL: each hot statement finds its rows by an index, whatever the statistics say."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, ClassVar

from mainspring.domain.job import JobRequest
from mainspring.store import Transaction
from mainspring.store.statements import names, statement
from tests.contract.engines import PostgresBench, by_hand
from tests.contract.stories import Story
from tests.contract.test_plans import LARGE

WHOLE = (
    "audit/",
    "schema/",
    "session/",
    "log/",
    "move/",
    "export/",
    "prune/",
    "check/",
    "depth/scan",
)
"""Statements that read much on purpose, or are not asked while work goes on."""

MAY_SCAN = dict.fromkeys(
    (
        *("worker/all", "worker/one", "worker/beat_and_poll", "worker/poll", "worker/sweep_look", "queue/running"),
        *("queue/used", "sight/all"),
        *("worker/retire", "worker/forget", "explain/taken"),
    ),
    frozenset({"lease"}),
)
"""As many leases as jobs run; an index would cost each renewal."""


def scanned(plan: list[str]) -> set[str]:
    """The large tables that a plan reads from end to end."""
    found = {match[1] for step in plan if (match := re.search(r"Seq Scan on (\w+)", step))}
    return found & set(LARGE)


def plan_for_any_values(story: Story, name: str) -> list[str]:
    """What a session keeps for a statement that it has run several times, few or many rows of a state as there are."""
    assert isinstance(story.bench, PostgresBench)
    text = story.bench._numbered(name)
    nothing = ", ".join("null" for _ in statement(name, "postgres").parameters)

    def look(tx: Transaction) -> list[tuple[Any, ...]]:
        by_hand(tx, "set local plan_cache_mode = force_generic_plan")
        by_hand(tx, f"prepare kept as {text}")
        rows = by_hand(tx, f"explain (costs off) execute kept({nothing})")
        by_hand(tx, "deallocate kept")
        return rows

    return [line.strip() for (line,) in story.store.write(look)]


def check(story: Story) -> None:
    for name in names("postgres"):
        if name.startswith(WHOLE):
            continue
        plan = story.bench.plan(story.store, name)
        assert scanned(plan) <= MAY_SCAN.get(name, frozenset()), f"{name} reads a whole table: {plan}"
        assert not any("Bitmap" in step for step in plan), f"{name} finds rows without their order: {plan}"
        listed = [step for step in plan if step.startswith("Filter:") and "= ANY ((translate" in step]
        assert not listed, f"{name} reads a list anew for each row that it looks at: {plan}"


RUNS = ("node/children", "node/specs", "node/end", "node/count_needs", "node/count_items", "node/results", "run/hold")
"""Statements that move runs on. The tables of workflows are new and unknown to the server when the first run begins."""


class NewPostgresBench(PostgresBench):
    """A database that no other test uses, so that nobody has analyzed it."""

    settings: ClassVar[dict[str, str]] = {"application_name": "new"}


def check_keys(story: Story) -> None:
    for name in RUNS:
        plan = story.bench.plan(story.store, name)
        assert not any("Hash" in step or "Merge" in step for step in plan), f"{name} joins whole tables: {plan}"
        for step, condition in pairwise(plan):
            if match := re.search(r"Scan.* on (workflow_node|workflow_edge|node)\b", step):
                assert re.search(KEYS[match[1]], condition), f"{name} looks through many rows of {match[1]}: {plan}"


KEYS = {
    "workflow_node": r"^Index Cond: \(\(version = .* AND \(number = ",
    "workflow_edge": r"^Index Cond: \(\(version = .* AND \(source = ",
    "node": r"^Index Cond: \(\(run = .* AND \(number = ",
}
"""By what rows of these tables are found: the document or run, and the node in it."""


def test_what_moves_runs_on_finds_each_row_by_its_key_whatever_the_server_knows_of_new_tables(
    postgres_databases: object, tmp_path: object
) -> None:
    story = Story(NewPostgresBench(tmp_path, postgres_databases))  # type: ignore[arg-type]
    try:
        check_keys(story)
    finally:
        story.bench.close()


def test_no_hot_statement_reads_a_whole_table_while_all_are_small_nor_after_somebodys_analyze(
    postgres_databases: object, tmp_path: object
) -> None:
    story = Story(PostgresBench(tmp_path, postgres_databases))  # type: ignore[arg-type]
    try:
        story.submit_many([JobRequest("send"), JobRequest("mail", delay="1h")])
        check(story)
        story.bench.alter(story.store, "analyze")
        check(story)
        ordered = story.bench.plan(story.store, "job/reserve")
        assert any("ready_order" in step for step in ordered), ordered
        assert not any("Sort" in step for step in ordered), ordered
        for name in ("job/list_ended", "job/stride_ended", "job/count_ended", "run/list_ended", "run/stride_ended"):
            plan, table = plan_for_any_values(story, name), name.partition("/")[0]
            by_state = f"using {table}_ended on {table}"
            assert any(by_state in step for step in plan), f"{name} would look through others: {plan}"
            assert not any("using job_pkey on job job_1" in step for step in plan), plan
    finally:
        story.bench.close()
