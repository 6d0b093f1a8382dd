"""Kinds of events, as those who ask for some of them write them: ``dead``, ``job.dead``, ``run.*``."""

from __future__ import annotations

from collections.abc import Iterable

from mainspring.domain.event import Happening
from mainspring.domain.joins import NodeState, RunState
from mainspring.domain.node_states import NodeCause
from mainspring.domain.run import RunEvent
from mainspring.domain.states import Cause, State
from mainspring.errors import InvalidInput, near

KINDS = frozenset({*map(str, State), *map(str, Cause), *map(str, RunState), *map(str, NodeState), *map(str, NodeCause)})
"""Target states and causes."""

SUBJECTS = ("job", "run", "node")
ANY = "*"


def checked_kinds(kinds: Iterable[str], field: str) -> tuple[str, ...]:
    """The same, if there are such kinds. Raises InvalidInput."""
    found = tuple(dict.fromkeys(kinds))
    for kind in found:
        subject, dot, word = kind.rpartition(".")
        if (dot and subject not in SUBJECTS) or (word not in KINDS and not (dot and word == ANY)):
            remedy = near(word, KINDS) or f"Kinds: {', '.join(sorted(KINDS))}; job.dead and run.* are kinds too."
            raise InvalidInput(f"{kind[:80]!r} is not a kind of event.", remedy=remedy, field=field)
    return found


def checked_job_kinds(kinds: Iterable[str]) -> None:
    """Whether these are states and causes of jobs, of which the history of jobs is asked for. Raises InvalidInput."""
    known = {*State, *Cause}
    for kind in kinds:
        if kind not in known:
            remedy = near(kind, known) or f"Kinds: {', '.join(sorted(known))}."
            raise InvalidInput(f"{kind[:80]!r} is not a kind of event.", remedy=remedy, field="kind")


def is_one_of(happening: Happening | RunEvent, kinds: Iterable[str]) -> bool:
    """Whether it is of one of these kinds."""
    for kind in kinds:
        subject, _, word = kind.rpartition(".")
        if subject in {"", happening.subject} and word in {ANY, happening.target, happening.cause}:
            return True
    return False
