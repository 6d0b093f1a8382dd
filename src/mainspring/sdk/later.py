"""Names of the public contract that later versions bring: they can be imported, and refuse to be called."""

from __future__ import annotations

from typing import Any

from mainspring.errors import NotYetSupported


class Workflow:
    """A DAG of tasks, written out. Raises NotYetSupported."""

    def __init__(self, *_args: Any, **_options: Any) -> None:
        raise NotYetSupported("Workflow")


class Node:
    """A node of a Workflow. Raises NotYetSupported."""

    def __init__(self, *_args: Any, **_options: Any) -> None:
        raise NotYetSupported("Node")
