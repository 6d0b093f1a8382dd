"""What an importer finds: the documents, the main one last, and what it had to leave out."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from mainspring.domain.workflow import Workflow
from mainspring.errors import InvalidWorkflow

REPLAY, OUTCOME = "imported.replay", "imported.outcome"
"""The tasks that stand in for what was found (stand_ins.py)."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.\-]+")


class Found(msgspec.Struct, frozen=True):
    """``workflows``: nested ones before those that nest them; ``notes``: what was left out, a sentence each."""

    workflows: tuple[Workflow, ...]
    notes: tuple[str, ...] = ()

    @property
    def main(self) -> Workflow:
        """The one that the file is about."""
        return self.workflows[-1]


def workflow_name(text: str) -> str:
    """The nearest name that a workflow can have."""
    name = _NOT_IN_NAMES.sub("-", text).strip("-.").replace("..", ".")[:150]
    return name if name and re.match(r"[A-Za-z0-9_]", name) else f"w{name}"


def taken(value: Any, key: str, kind: type, place: str) -> Any:
    """A field that must be there and of this kind. Raises InvalidWorkflow."""
    found = value.get(key) if isinstance(value, dict) else None
    if not isinstance(found, kind):
        raise InvalidWorkflow(
            f"{key!r} is missing, or not of the type {kind.__name__}",
            place=place,
            remedy="Is it a file of this format?",
        )
    return found
