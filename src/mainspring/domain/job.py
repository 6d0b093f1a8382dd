"""Job: one durable request to run a task with parameters."""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.clock import Instant
from mainspring.domain.attempt import Failure
from mainspring.domain.ids import JobId
from mainspring.domain.states import State

PAYLOAD_LIMIT = 1_048_576
PRIORITY_FIRST, PRIORITY_DEFAULT, PRIORITY_LAST = -1000, 5, 1000


class JobRequest(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a client asks for. Texts are as people write them; control/submit.py checks and completes them.

    ``task``: full or (where unique) short name; ``params``: an object; ``queue``, ``priority`` (lower goes first,
    default 5), ``retry``, ``timeout`` (per attempt): the task's own where left out; ``delay`` (a duration) or
    ``run_at`` (ISO 8601): when it is due; ``expires`` (a duration after submit): dead if it has not started by then;
    ``tags``: text to text; ``meta``: any JSON, kept and shown.
    """

    task: str
    params: dict[str, Any] = {}
    queue: str | None = None
    priority: int | None = None
    delay: str | float | None = None
    run_at: str | None = None
    retry: dict[str, Any] | None = None
    timeout: str | float | None = None
    expires: str | float | None = None
    tags: dict[str, str] = {}
    meta: Any = None
    unique: Any = None  # refused until uniqueness is built


class Job(msgspec.Struct, frozen=True):
    """A job as questions answer it. Times are instants; ``result`` and ``params`` are parsed JSON.

    ``attempt`` is the number of the last claimed attempt (0 before the first). ``error`` is the failure of the end,
    or of the last attempt while it is retried.
    """

    id: JobId
    task: str
    state: State
    queue: str
    priority: int
    params: Any
    result: Any
    error: Failure | None
    attempt: int
    max_attempts: int
    retry: dict[str, Any]
    timeout: str | None
    run_at: Instant
    created_at: Instant
    started_at: Instant | None
    finished_at: Instant | None
    expires_at: Instant | None
    worker: str | None
    tags: dict[str, str]
    meta: Any
    parent: JobId | None
    replay_of: JobId | None
    replayed_by: JobId | None
    cancel_requested: bool
    progress: Any = None


class JobFilter(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which jobs a list shows; newest first. ``since`` and ``until`` bound ``created_at``; ``tag`` is ``key=value``."""

    state: State | None = None
    task: str | None = None
    queue: str | None = None
    tag: str | None = None
    since: Instant | None = None
    until: Instant | None = None
    cursor: str | None = None
    limit: int = 50


class JobPage(msgspec.Struct, frozen=True):
    """One page of a list and the cursor of the next (None at the end)."""

    items: list[Job]
    next: str | None
