"""Names of the public contract that later versions bring: they can be imported, and refuse to be called."""

from __future__ import annotations

from typing import Any, NoReturn

from mainspring.errors import NotYetSupported


def cron(*_args: Any, **_options: Any) -> NoReturn:
    """A schedule by cron expression. Raises NotYetSupported."""
    raise NotYetSupported("cron")


def every(*_args: Any, **_options: Any) -> NoReturn:
    """A schedule by interval. Raises NotYetSupported."""
    raise NotYetSupported("every")


class Workflow:
    """A DAG of tasks, written out. Raises NotYetSupported."""

    def __init__(self, *_args: Any, **_options: Any) -> None:
        raise NotYetSupported("Workflow")


class Node:
    """A node of a Workflow. Raises NotYetSupported."""

    def __init__(self, *_args: Any, **_options: Any) -> None:
        raise NotYetSupported("Node")
