"""Pipelines of other systems: read with the meaning that each gives them, refused where they are wrong, else run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from campaign.cases_runs import Case, own_names, run_all
from mainspring.domain.graph import compiled
from mainspring.errors import InvalidInput, MainspringError
from mainspring.importers import pipeline

SCALE = 0.1
"""Of sleeps and time-outs: seconds instead of tens of seconds, with time to spare on a busy machine."""

_WORDS = {
    "succe": "succeeded",
    "runs": "succeeded",
    "executed": "succeeded",
    "fail": "failed",
    "times out": "failed",
    "skipped": "skipped",
    "omitted": "skipped",
}


def check(folder: Path, engines: Sequence[str], say: Callable[[str], None]) -> list[str]:
    """Files that are taken or refused wrongly, and runs that don't end as they should."""
    faults: list[str] = []
    cases = list(_read(folder / "pipelines", faults, say))
    say(f"  {len(cases)} pipelines were read")
    return faults + run_all(cases, engines, say) if cases else faults


def _read(folder: Path, faults: list[str], say: Callable[[str], None]) -> Iterator[Case]:
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_bytes())
        if "nodes" not in document:
            continue
        refused: MainspringError | None = None
        try:
            found = pipeline.read(document, scale=SCALE)
            for one in found.workflows:
                compiled(one)
        except InvalidInput as error:
            refused = error
        if document.get("valid") is False:
            if refused is None:
                faults.append(f"{path.name}: taken although {document.get('defect')}")
            else:
                say(f"  {path.name} is refused: {refused.args[0]}")
        elif refused is not None:
            faults.append(f"{path.name}: refused: {refused}")
        else:
            yield Case(path.name, own_names(found, path.stem), *_said(document))


def _said(document: dict[str, Any]) -> tuple[dict[str, str], str | None]:
    """States that the file tells, by node and of the run, in our words."""
    told = document.get("expect") or {}
    names = {node["name"] for node in document["nodes"]}
    states = {name: _word(str(text)) for name, text in told.items() if name in names}
    if isinstance(told.get("executed"), list):
        states |= dict.fromkeys(told["executed"], "succeeded")
    whole = told.get("workflow")
    return {name: word for name, word in states.items() if word}, _word(str(whole)) if whole else None


def _word(text: str) -> str:
    if re.match(r"\d+ attempts, the last succeeds", text):
        return "succeeded"
    if re.match(r"\d+ attempts, then", text):
        return "failed"
    return next((ours for theirs, ours in _WORDS.items() if theirs in text), "")
