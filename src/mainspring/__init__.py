"""Mainspring: durable background jobs in one package. The public names, loaded when they are first used.

``import mainspring`` alone loads nothing else, so that a web application that merely may submit jobs starts as before.
"""

from __future__ import annotations

TYPE_CHECKING = False  # checkers know the name; importing typing alone would cost 15 ms
if TYPE_CHECKING:
    from mainspring import errors as errors
    from mainspring.domain.attempt import Attempt as Attempt
    from mainspring.domain.event import Event as Event
    from mainspring.domain.logline import LogLine as LogLine
    from mainspring.domain.retry import Retry as Retry
    from mainspring.domain.states import Outcome as Outcome
    from mainspring.domain.states import State as State
    from mainspring.errors import JobCancelled as JobCancelled
    from mainspring.errors import JobDead as JobDead
    from mainspring.errors import JobNotSucceeded as JobNotSucceeded
    from mainspring.errors import MainspringError as MainspringError
    from mainspring.errors import RetryAfter as RetryAfter
    from mainspring.errors import WaitTimeout as WaitTimeout
    from mainspring.sdk.app import Mainspring as Mainspring
    from mainspring.sdk.context import Context as Context
    from mainspring.sdk.context import current as current
    from mainspring.sdk.handle import Handle as Handle
    from mainspring.sdk.handle import Handle as Job  # noqa: F401 - public under both names
    from mainspring.sdk.later import Node as Node
    from mainspring.sdk.later import Unique as Unique
    from mainspring.sdk.later import Workflow as Workflow
    from mainspring.sdk.later import cron as cron
    from mainspring.sdk.later import every as every

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
    "Node": "sdk.later",
    "Outcome": "domain.states",
    "Retry": "domain.retry",
    "RetryAfter": "errors",
    "State": "domain.states",
    "Unique": "sdk.later",
    "WaitTimeout": "errors",
    "Workflow": "sdk.later",
    "cron": "sdk.later",
    "current": "sdk.context",
    "every": "sdk.later",
}
"""Where each name lives; behind a colon its name there."""

__all__ = [*_HOMES, "errors"]  # noqa: PLE0604 - all are texts


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
