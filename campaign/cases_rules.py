"""The trigger-rule table: what a rule makes of the states of its needs, row by row."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from mainspring.domain.joins import GO, WAIT, Needs, Reason, Rule, Skip, decide


def check(folder: Path, engines: Sequence[str], say: Callable[[str], None]) -> list[str]:
    """Rows that come out otherwise. Rows about removed tasks have no counterpart here, and are told as such."""
    del engines
    path = folder / "pipelines" / "trigger_rules.json"
    if not path.is_file():
        return []
    faults, out_of_scope = [], 0
    rows = json.loads(path.read_text())["rows"]
    for number, row in enumerate(rows):
        counts = row["upstream"]
        if row["rule"] not in set(Rule) or row["outcome"] == "removed":
            say(f"  row {number} is out of scope: {row['rule']} -> {row['outcome']}")
            out_of_scope += 1
            continue
        needs = Needs(
            counts["unfinished"], counts["success"], counts["failed"] + counts["upstream_failed"], counts["skipped"]
        )
        told = decide(Rule(row["rule"]), needs)
        wanted = {
            "run": GO,
            "wait": WAIT,
            "skipped": Skip(Reason.RULE),
            "upstream_failed": Skip(Reason.UPSTREAM_FAILED),
        }[row["outcome"]]
        if told != wanted:
            faults.append(f"row {number} ({row['source_test']}): {told} where {row['outcome']} is right")
    say(f"  {len(rows) - out_of_scope} rows of trigger rules, {out_of_scope} out of scope")
    return faults
