"""Job: one durable request to run a task with parameters."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import msgspec

from mainspring.clock import Instant
from mainspring.domain.attempt import Failure
from mainspring.domain.ids import JobId, RunId
from mainspring.domain.states import State
from mainspring.domain.timetable import MadeBy
from mainspring.errors import InvalidInput

PAYLOAD_LIMIT = 1_048_576
ATOMIC = 2_000
"""Jobs of one submit that are stored all or none; more go in transactions of this size, so that none holds the lock
for longer than about 50 ms."""

PRIORITY_FIRST, PRIORITY_DEFAULT, PRIORITY_LAST = -1000, 5, 1000


class Unique(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, rename={"while_": "while"}):
    """At most one job of a task holds a key at a time, whatever runs at once. Keys of other tasks are other keys.

    ``key``: 1 to 255 characters; ``while_``: until when the job holds it: ``"unfinished"`` until it has ended, through
    retries and crashes (default), or ``"waiting"`` until it is first claimed; ``period`` (a duration): and no longer
    than this from the submit; ``on_conflict``: what a submit does that finds another job with the key: ``"return"``
    gives that job (default), ``"reject"`` raises KeyHeld, ``"replace"`` cancels it and takes its place if it still
    waits, else raises KeyHeld.
    """

    key: str
    while_: Literal["waiting", "unfinished"] = "unfinished"
    period: str | float | None = None
    on_conflict: Literal["return", "replace", "reject"] = "return"


class JobRequest(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a client asks for. Texts are as people write them; transitions/prepared.py checks and completes them.

    ``task``: full or (where unique) short name; ``params``: an object; ``queue``, ``priority`` (lower goes first,
    default 5), ``retry``, ``timeout`` (per attempt): the task's own where left out; ``delay`` (a duration) or
    ``run_at`` (ISO 8601): when it is due; ``expires`` (a duration after submit): dead if it has not started by then;
    ``tags``: text to text; ``meta``: any JSON, kept and shown; ``unique``: a Unique, or its key.
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
    unique: str | Unique | None = None


class Receipt(msgspec.Struct, frozen=True, array_like=True):
    """What a submit answers for a request. ``new`` false: ``job`` held the unique key already; nothing was stored."""

    job: JobId
    new: bool = True


class Link(NamedTuple):
    """What a job is in a run: a node by its number, and of a map the item."""

    run: RunId
    node: int
    item: int | None = None


class Job(msgspec.Struct, frozen=True):
    """A job as questions answer it. Times are instants; ``result`` and ``params`` are parsed JSON.

    ``attempt`` is the number of the last claimed attempt (0 before the first). ``error`` is the failure of the end,
    or of the last attempt while it is retried. ``run``, ``node`` and ``item`` are of a workflow's job; ``tick`` is that
    of the schedule that made it, or its run. ``params_open``: the parameters hold references into its run that are not
    filled in here.
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
    run: RunId | None = None
    node: str | None = None
    item: int | None = None
    tick: MadeBy | None = None
    params_open: bool = False


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


def checked_tag(tag: str | None) -> str | None:
    """The same, if it is a tag to look for. Raises InvalidInput."""
    if tag is not None and not tag.partition("=")[1]:
        raise InvalidInput(f"tag is {tag[:80]!r}.", remedy="Write key=value, such as team=mail.", field="tag")
    return tag


class JobCount(msgspec.Struct, frozen=True):
    """How many jobs of a part of the list match, and the cursor of the next part (None at the end): they add up."""

    count: int
    next: str | None


class JobPage(msgspec.Struct, frozen=True):
    """One page of a list and the cursor of the next (None at the end).

    Where few of very many jobs match, a page may hold fewer than asked for, or none, before the end.
    """

    items: list[Job]
    next: str | None
