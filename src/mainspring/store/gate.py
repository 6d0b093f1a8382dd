"""The gate of a database that is on the move or was moved: triggers refuse every write and tell where to go.

A text inside the database, as processes of any age that have it open must be told, not only those that look.
"""

from __future__ import annotations

from typing import NamedTuple

from mainspring.errors import StoreMoved

_MARK = "moved: "
_PARTS = "\n"


class Gate(NamedTuple):
    """What a database on the move says. ``move``: the same word at both ends; ``progress``: how far, in JSON."""

    move: str
    told: str
    progress: str


def telling(message: str, remedy: str) -> str:
    """What the triggers raise."""
    return f"{_MARK}{message}{_PARTS}{remedy}"


def is_refusal(said: str) -> bool:
    """Whether an error of a trigger comes from a gate."""
    return _MARK in said


def refusal(said: str) -> StoreMoved:
    """The error that a gate stands for."""
    message, _, remedy = said.partition(_MARK)[2].partition(_PARTS)
    return StoreMoved(message, remedy=remedy)
