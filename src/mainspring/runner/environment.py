"""The environment of a job with a process of its own: an allow-list, so that no secret of the worker gets in."""

from __future__ import annotations

import os

from mainspring.domain.frame import Start

ALLOWED = frozenset({"PATH", "HOME", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "TMPDIR", "VIRTUAL_ENV"})
ALLOWED_STARTS = ("LC_", "PYTHON")
TREE = "MAINSPRING_RUNNER"
"""Marks all that comes from one runner, so that it can be found when its guard was killed."""
CLAIM = "MAINSPRING_CLAIM"


def job_environment(start: Start) -> dict[str, str]:
    """What the job's process gets; its private directory comes in as TMPDIR when that is made."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in ALLOWED or name.startswith(ALLOWED_STARTS) or name == TREE
    }
    trace = {"TRACEPARENT": start.trace} if start.trace else {}
    return (
        kept
        | trace
        | {
            "MAINSPRING_JOB": str(start.job),
            "MAINSPRING_ATTEMPT": str(start.attempt),
            CLAIM: str(start.claim),
        }
    )
