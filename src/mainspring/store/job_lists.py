"""Lists of jobs, newest first, and how many match: what people look through. Each function works inside a look.

A list is walked by the place that its state names, or by number, so that no filter needs an index that each submit
would have to write. Where few match, a walk ends after so many rows whatever it has found, and says where to go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mainspring.domain.job import Job, JobFilter
from mainspring.domain.states import LIVE, State
from mainspring.store import rows
from mainspring.store.transaction import Transaction

_BY_STATE = {State.QUEUED: "queued", State.SCHEDULED: "due", State.RETRYING: "due", State.RUNNING: "running"}

STRIDES = (1_000, 10_000, 40_000)
"""Rows that are passed, in steps, so that what stands near the top costs little: some tens of milliseconds in all."""


class Walk(NamedTuple):
    """Jobs that match, and the number below which there may be more; None where there is none."""

    jobs: list[Job]
    below: int | None


def walked(tx: Transaction, wanted: JobFilter, tasks: Sequence[str] | None, before: int) -> Walk:
    """Jobs that match, with ids below ``before``, newest first. ``tasks``: full names, or None for all.

    One more than the limit is answered where there are so many.
    """
    variant, values = _variant(wanted.state), _filter(wanted, tasks)
    most = wanted.limit + 1

    def listed(before: int, floor: int, limit: int) -> list[Job]:
        found = tx.rows(f"job/list_{variant}", **values, before=before, floor=floor, limit=limit)
        return [rows.job(row) for row in found]

    if not _narrows(wanted):
        found = listed(before, 0, most)
        return Walk(found, found[-1].id if len(found) == most else None)
    found = []
    for stride in STRIDES:
        floor = _stride(tx, wanted, before, stride)
        found += listed(before, floor or 0, most - len(found))
        if len(found) == most:
            return Walk(found, found[-1].id)
        if floor is None:
            return Walk(found, None)
        before = floor
    return Walk(found, before)


def _stride(tx: Transaction, wanted: JobFilter, before: int, stride: int) -> int | None:
    """The last number of so many rows below one; None where there are no more than these."""
    state = {"state": wanted.state} if _variant(wanted.state) == "ended" else {}
    (found,) = tx.rows(f"job/stride_{_variant(wanted.state)}", **state, before=before, stride=stride)
    floor, passed = found
    return int(floor) if passed == stride else None


def counted(tx: Transaction, wanted: JobFilter, tasks: Sequence[str] | None) -> int:
    """How many jobs match, from their rows."""
    return int(tx.rows(f"job/count_{_variant(wanted.state)}", **_filter(wanted, tasks))[0][0])


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
