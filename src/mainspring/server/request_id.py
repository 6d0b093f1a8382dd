"""The id of a request: as whoever asks gave it, else made here. It goes back with the answer, and into what is logged.

It is known to all that runs for the request, in whatever thread: see ``within``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextvars import ContextVar, copy_context
from typing import TypeVar

from mainspring.chance import Chance

T = TypeVar("T")

HEADER = "x-request-id"

_FIT = re.compile(r"[A-Za-z0-9._:/+=@-]{1,100}")
_current: ContextVar[str] = ContextVar("request", default="")


def begin(headers: Iterable[tuple[str, str]], chance: Chance) -> str:
    """The id of a request that begins; one that came and can't be taken is replaced, as it is no reason to refuse."""
    given = [value for name, value in headers if name == HEADER]
    taken = given[0] if len(given) == 1 and _FIT.fullmatch(given[0]) else chance.incarnation()
    _current.set(taken)
    return taken


def current() -> str:
    """That of the request that is being worked on; an empty text where there is none."""
    return _current.get()


def bound() -> dict[str, str]:
    """The same, as what is logged has it."""
    return {"request": taken} if (taken := _current.get()) else {}


def within(work: Callable[..., T]) -> Callable[..., T]:
    """The same work, for another thread that is to know the request too."""
    context = copy_context()
    return lambda *values: context.run(work, *values)
