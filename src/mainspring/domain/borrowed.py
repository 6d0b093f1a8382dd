"""A database connection of the caller's own, on its way from a submit to the store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple


class Borrowed(NamedTuple):
    """``wait``: for connections of async code, what waits for an awaitable on the caller's loop; else None."""

    connection: Any
    wait: Callable[[Awaitable[Any]], Any] | None = None
