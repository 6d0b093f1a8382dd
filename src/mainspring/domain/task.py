"""Task: a definition as the catalog knows it, without its code."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any

import msgspec

from mainspring.domain.plan import DeclaredSchedule
from mainspring.domain.workflow import Workflow
from mainspring.errors import InvalidTask

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,199}")


class Executor(StrEnum):
    """Where the code of a task runs."""

    ASYNC = "async"  # on the event loop of a shared runner
    THREAD = "thread"  # in a thread of a shared runner
    PROCESS = "process"  # Python in a process of its own
    COMMAND = "command"  # an argv, without a shell


class Lodging(StrEnum):
    """What kind of room a claim needs; a part of the lane."""

    SHARED = "shared"  # a slot in a shared runner
    PROCESS = "process"  # a slot and a process of its own
    ALONE = "alone"  # a runner with nothing else in it


class Task(msgspec.Struct, frozen=True):
    """What an app declares of one task. JSON-ready; this is also the form in the catalog.

    ``name`` is the full name ``app.task``; ``schema``: JSON Schema of the parameters (an object); ``retry``: a policy
    document; ``timeout`` and ``grace``: durations as text or None; ``argv``: a command's words with ``{parameter}``
    placeholders; ``requires``: labels that a worker must have to run it; ``slots``: how many of a worker's each of its
    jobs takes; ``code_hash``: changes with what a result depends on: source, executor, schema, argv.
    """

    name: str
    app: str
    executor: Executor
    queue: str
    schema: dict[str, Any]
    retry: dict[str, Any]
    timeout: str | None = None
    grace: str = "5s"
    priority: int = 5
    sandbox: str = "S0"
    argv: tuple[str, ...] = ()
    description: str = ""
    code_hash: str = ""
    requires: dict[str, str] = {}
    slots: int = 1

    @property
    def short(self) -> str:
        """The name without the app."""
        return self.name[len(self.app) + 1 :]

    @property
    def lodging(self) -> Lodging:
        """The room that a first attempt needs."""
        return Lodging.PROCESS if self.executor in (Executor.PROCESS, Executor.COMMAND) else Lodging.SHARED


class Catalog(msgspec.Struct, frozen=True):
    """All tasks, workflows and schedules of an app, as one runner or program reports them.

    ``code_hash``: changes with anything of it.
    """

    app: str
    code_hash: str
    tasks: tuple[Task, ...]
    workflows: tuple[Workflow, ...] = ()
    schedules: tuple[DeclaredSchedule, ...] = ()


def checked_name(name: object, what: str, *, field: str = "name") -> str:
    """The name, if it is made of letters, digits, dot, dash and underscore. Raises InvalidTask."""
    if not isinstance(name, str) or not NAME.fullmatch(name) or ".." in name:
        raise InvalidTask(
            f"{what} name {name!r} is not allowed.",
            remedy="Use letters, digits, dot, dash and underscore (at most 200, no '..').",
            field=field,
        )
    return name
