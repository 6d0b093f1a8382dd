"""The request that this thread works for: its id, known to all that runs for it, whatever thread that is in.

Only the server begins one (server/request_id.py); everything else may ask, and hands it on with its work.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TypeVar

T = TypeVar("T")

_current: ContextVar[str] = ContextVar("request", default="")


def begin(taken: str) -> None:
    """What runs here from now on is for this request."""
    _current.set(taken)


def current() -> str:
    """The id of the request that is being worked on; an empty text where there is none."""
    return _current.get()


def within(work: Callable[..., T]) -> Callable[..., T]:
    """The same work, for another thread that is to know the request too."""
    context = copy_context()
    return lambda *values: context.run(work, *values)
