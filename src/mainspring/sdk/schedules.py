"""Schedules as code declares them: ``app.schedule("nightly", cron("0 3 * * *", tz="Europe/Berlin"), backup)``.

What stands here is checked where it stands; the platform gets it with the catalog.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import msgspec

from mainspring.clock import duration_text, from_seconds
from mainspring.domain import plan as plans
from mainspring.domain.parameters import checked_json
from mainspring.domain.plan import DeclaredSchedule, Plan
from mainspring.domain.retry import Retry
from mainspring.domain.task import checked_name
from mainspring.errors import InvalidOption, near
from mainspring.sdk.codec import encode_other
from mainspring.sdk.options import Length
from mainspring.sdk.task import RegisteredTask
from mainspring.sdk.workflow import RegisteredWorkflow

if TYPE_CHECKING:
    from mainspring.domain.recurrence import Recurrence


class ScheduleOptions(TypedDict, total=False):
    """What ``app.schedule(...)`` takes besides name, recurrence, task and ``params``.

    ``overlap``: what a tick does that finds a job or run of this schedule unfinished: ``"skip"`` (default),
    ``"buffer_one"`` and ``"buffer_all"`` (it waits), ``"cancel_other"``, ``"allow"``; ``catch_up``: which ticks that
    came while no server ran still fire: ``"latest"`` (default), ``"all"`` (at most ``cap``, default 100) or ``"none"``,
    of those within ``window`` (default ``"1d"``); ``jitter``: how much later than its tick one may be made, at random
    (default 0); ``limit``: so many firings and no more; ``pause_after``: so many in a row that end dead or failed pause
    it; ``description``; the rest as in SubmitOptions, for tasks; ``tags`` for workflows too.
    """

    overlap: Literal["skip", "buffer_one", "buffer_all", "cancel_other", "allow"]
    catch_up: Literal["latest", "all", "none"]
    window: Length
    cap: int
    jitter: Length
    limit: int
    pause_after: int
    description: str
    queue: str
    priority: int
    retry: Retry | dict[str, Any]
    timeout: Length
    expires: Length
    tags: dict[str, str]
    meta: Any


_OPTIONS = ScheduleOptions.__optional_keys__


def declared_schedule(
    name: object, recurrence: Recurrence, task: object, params: Mapping[str, Any] | None, options: Mapping[str, Any]
) -> DeclaredSchedule:
    """Check a declaration. Raises InvalidOption, InvalidParameters, InvalidTask (a name), InvalidSchedule."""
    short = checked_name(name, "Schedule")
    if not isinstance(task, RegisteredTask | RegisteredWorkflow):
        raise InvalidOption(
            f"Schedule {short!r} is for {task!r:.80}, which is neither a task nor a workflow.",
            remedy="Write app.schedule(name, cron(...), backup), where backup has @app.task or @app.workflow.",
            field="task",
        )
    if not hasattr(recurrence, "document"):
        raise InvalidOption(
            f"The recurrence of schedule {short!r} is {recurrence!r:.80}.",
            remedy='Write cron("0 3 * * *", tz="Europe/Berlin") or every("30s").',
            field="recurrence",
        )
    for option in options:
        if option not in _OPTIONS:
            hint = near(option, _OPTIONS) or f"It may have: {', '.join(sorted(_OPTIONS))}."
            raise InvalidOption(f"A schedule has no option {option!r}.", remedy=hint, field=option)
    fields = {option: _plain(option, value) for option, value in options.items() if value is not None}
    kind = "task" if isinstance(task, RegisteredTask) else "workflow"
    bound = task.parameters.bind((), dict(params or {}))
    checked_json(bound, "params")
    plan: Plan = plans.read({**fields, "recurrence": recurrence.document(), kind: task.name, "params": bound})
    return DeclaredSchedule(short, plans.checked(plan))


def _plain(option: str, value: Any) -> Any:
    """An option as JSON has it."""
    if isinstance(value, timedelta):
        return duration_text(from_seconds(value.total_seconds()))
    if isinstance(value, Retry):
        return value.document()
    if option != "meta":
        return value
    try:
        return msgspec.to_builtins(value, enc_hook=encode_other)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidOption(f"meta can't be written as JSON: {error}.", field="meta") from error
