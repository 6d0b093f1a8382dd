"""Values with every field set, and what they are on the wire."""

from __future__ import annotations

from mainspring.clock import Instant
from mainspring.domain.attempt import Failure
from mainspring.domain.ids import JobId
from mainspring.domain.job import Job
from mainspring.domain.states import State

AT = Instant(1_795_921_200_000_001)
TEXT = "2026-11-29T03:00:00.000001Z"
FAILURE = Failure("ValueError", "no", "Traceback", ("ValueError", "Exception"), {"exit_code": 3})
ERROR = {"type": "ValueError", "message": "no", "traceback": "Traceback", "evidence": {"exit_code": 3}}

JOB = Job(
    id=JobId(7),
    task="shop.echo",
    state=State.RETRYING,
    queue="shop",
    priority=5,
    params={"a": 1},
    result=None,
    error=FAILURE,
    attempt=1,
    max_attempts=4,
    retry={"max_attempts": 4},
    timeout="30s",
    run_at=AT,
    created_at=AT,
    started_at=AT,
    finished_at=None,
    expires_at=None,
    worker="alpha",
    tags={"team": "mail"},
    meta=[1],
    parent=JobId(3),
    replay_of=JobId(2),
    replayed_by=None,
    cancel_requested=False,
    progress={"done": 1},
)
