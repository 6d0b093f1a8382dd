"""Ids as types, and their text forms."""

from __future__ import annotations

from typing import NewType

JobId = NewType("JobId", int)
WorkerId = NewType("WorkerId", int)
ClaimId = NewType("ClaimId", int)
LaneId = NewType("LaneId", int)
EventSeq = NewType("EventSeq", int)
RunId = NewType("RunId", int)

LARGEST = 2**63 - 1


def job_id(text: str | int) -> JobId | None:
    """Read ``10482``, ``"10482"`` or ``"job 10482"``; None for anything else."""
    if isinstance(text, bool):
        return None
    if isinstance(text, int):
        return JobId(text) if 0 < text <= LARGEST else None
    digits = text.strip().removeprefix("job").strip().removeprefix("#")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 19:
        return None
    return job_id(int(digits))
