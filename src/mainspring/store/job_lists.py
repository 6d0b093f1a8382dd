"""Lists of jobs, newest first, and how many match: what people look through. Each function works inside a look.

A list is walked (walk.py) by the place that its state names, or by number.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from mainspring.domain.job import Job, JobFilter
from mainspring.domain.states import LIVE, State
from mainspring.store import rows, walk
from mainspring.store.transaction import Transaction
from mainspring.store.walk import Count, Walk

_BY_STATE = {State.QUEUED: "queued", State.SCHEDULED: "due", State.RETRYING: "due", State.RUNNING: "running"}


def walked(tx: Transaction, wanted: JobFilter, tasks: Sequence[str] | None, before: int) -> Walk[Job]:
    """Jobs that match, with ids below ``before``, newest first. ``tasks``: full names, or None for all.

    One more than the limit is answered where there are so many.
    """
    variant, values = _variant(wanted.state), _filter(wanted, tasks)

    def listed(before: int, floor: int, limit: int) -> list[Job]:
        found = tx.rows(f"job/list_{variant}", **values, before=before, floor=floor, limit=limit)
        return [rows.job(row) for row in found]

    if not _narrows(wanted):
        return walk.straight(listed, before, wanted.limit + 1)
    return walk.walked(listed, partial(_reach, tx, wanted), before, wanted.limit + 1)


def counted(tx: Transaction, wanted: JobFilter, tasks: Sequence[str] | None, before: int) -> Count:
    """How many of the jobs that one walk passes match, from their rows."""
    variant, values = _variant(wanted.state), _filter(wanted, tasks)

    def matching(before: int, floor: int) -> int:
        return int(tx.rows(f"job/count_{variant}", **values, before=before, floor=floor)[0][0])

    return walk.counted(matching, partial(_reach, tx, wanted), before)


def _reach(tx: Transaction, wanted: JobFilter, before: int, stride: int) -> int | None:
    """The last number of so many rows below one; None where there are no more than these."""
    state = {"state": wanted.state} if _variant(wanted.state) == "ended" else {}
    ((floor, passed),) = tx.rows(f"job/stride_{_variant(wanted.state)}", **state, before=before, stride=stride)
    return int(floor) if passed == stride else None


def _narrows(wanted: JobFilter) -> bool:
    """Whether a walk may pass by jobs that don't match."""
    said = (wanted.task, wanted.queue, wanted.tag, wanted.since, wanted.until)
    return _variant(wanted.state) == "due" or any(one is not None for one in said)  # two states are in one place there


def _variant(state: State | None) -> str:
    if state is None:
        return "any"
    return _BY_STATE[state] if state in LIVE else "ended"


def _filter(wanted: JobFilter, tasks: Sequence[str] | None) -> dict[str, Any]:
    key, _, value = (wanted.tag or "").partition("=")
    narrowed = {"state": wanted.state} if _variant(wanted.state) in {"due", "ended"} else {}
    return narrowed | {
        "tasks": None if tasks is None else rows.text(tasks),
        "queue": wanted.queue,
        "tag": key if wanted.tag else None,
        "tag_value": value,
        "since": wanted.since,
        "until": wanted.until,
    }
