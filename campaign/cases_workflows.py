"""Scientific workflows (WfFormat) at no time: each runs to its end, each task once and behind its parents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from campaign.cases_runs import Case, own_names, run_all
from mainspring.domain.graph import compiled
from mainspring.errors import MainspringError
from mainspring.importers import wfformat


def check(folder: Path, engines: Sequence[str], say: Callable[[str], None]) -> list[str]:
    """Files that can't be read, and runs that don't end as they should."""
    faults: list[str] = []
    cases = list(_read(folder / "workflows", faults))
    say(f"  {len(cases)} workflows of {sum(len(case.found.main.nodes) for case in cases):,} tasks were read")
    return faults + run_all(cases, engines, say) if cases else faults


def _read(folder: Path, faults: list[str]) -> Iterator[Case]:
    for path in sorted(folder.glob("*.json")):
        if path.name == "INDEX.json":
            continue
        try:
            found = wfformat.read(json.loads(path.read_bytes()))
            graph = compiled(found.main)
        except (MainspringError, ValueError) as error:
            faults.append(f"{path.name}: {error}")
            continue
        tasks = json.loads(path.read_bytes())["workflow"]["specification"]["tasks"]
        if sum(map(len, graph.needs)) != sum(len(task["parents"]) for task in tasks):
            faults.append(f"{path.name}: edges were lost")
        yield Case(path.name, own_names(found, path.stem), ends="succeeded")
