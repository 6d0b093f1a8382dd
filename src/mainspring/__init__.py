"""Mainspring: durable background jobs in one package. The public names, loaded when they are first used.

``import mainspring`` alone loads nothing else, so that a web application that merely may submit jobs starts as before.
"""

from __future__ import annotations

TYPE_CHECKING = False  # checkers know the name; importing typing alone would cost 15 ms
if TYPE_CHECKING:
    from mainspring import errors
    from mainspring.domain.attempt import Attempt
    from mainspring.domain.event import Event
    from mainspring.domain.job import Unique
    from mainspring.domain.logline import LogLine
    from mainspring.domain.retry import Retry, RetryAfter
    from mainspring.domain.states import Outcome, State
    from mainspring.errors import JobCancelled, JobDead, JobNotSucceeded, MainspringError, WaitTimeout
    from mainspring.sdk.app import Mainspring
    from mainspring.sdk.context import Context, current
    from mainspring.sdk.drawing import index, item
    from mainspring.sdk.handle import Handle
    from mainspring.sdk.handle import Handle as Job
    from mainspring.sdk.times import at, cron, every, rrule
    from mainspring.sdk.workflow import Node, Workflow

__version__ = "0.1.0"

_HOMES = {
    "Attempt": "domain.attempt",
    "Context": "sdk.context",
    "Event": "domain.event",
    "Handle": "sdk.handle",
    "Job": "sdk.handle:Handle",
    "JobCancelled": "errors",
    "JobDead": "errors",
    "JobNotSucceeded": "errors",
    "LogLine": "domain.logline",
    "Mainspring": "sdk.app",
    "MainspringError": "errors",
    "Node": "sdk.workflow",
    "Outcome": "domain.states",
    "Retry": "domain.retry",
    "RetryAfter": "domain.retry",
    "State": "domain.states",
    "Unique": "domain.job",
    "WaitTimeout": "errors",
    "Workflow": "sdk.workflow",
    "at": "sdk.times",
    "cron": "sdk.times",
    "current": "sdk.context",
    "every": "sdk.times",
    "index": "sdk.drawing",
    "item": "sdk.drawing",
    "rrule": "sdk.times",
}
"""Where each name lives; behind a colon its name there."""

__all__ = [
    "Attempt",
    "Context",
    "Event",
    "Handle",
    "Job",
    "JobCancelled",
    "JobDead",
    "JobNotSucceeded",
    "LogLine",
    "Mainspring",
    "MainspringError",
    "Node",
    "Outcome",
    "Retry",
    "RetryAfter",
    "State",
    "Unique",
    "WaitTimeout",
    "Workflow",
    "at",
    "cron",
    "current",
    "errors",
    "every",
    "index",
    "item",
    "rrule",
]


if not TYPE_CHECKING:  # else checkers would believe in any name

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name == "errors":
            return import_module("mainspring.errors")
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module 'mainspring' has no attribute {name!r}")
        module, _, there = home.partition(":")
        found: object = getattr(import_module(f"mainspring.{module}"), there or name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
