"""Two locks beside the database file, so that one platform runs there once.

``<database>.up.lock`` is held by the supervisor alone: a second live ``up`` is refused at once. Its children share
``<database>.tree.lock`` and keep it when the supervisor is killed: a new ``up`` waits until the old tree has ended.
The kernel's lock decides; the number in the file is only for people.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from mainspring.errors import AlreadyUp, StoreReadOnly


class TreeLocks:
    """Both locks, taken. ``tree`` is the file descriptor to pass to children."""

    def __init__(self, up: int, tree: int) -> None:
        self._up = up
        self.tree = tree

    def close(self) -> None:
        """Let go of what this process holds; children keep their share of the tree lock."""
        os.close(self.tree)
        os.close(self._up)


def take(database: Path, *, waiting: Callable[[str], None], shown: str = "", beside: str = "") -> TreeLocks:
    """Take both locks, the second after waiting for what is left of an older tree.

    ``shown``: the database as people know it; ``beside``: where else another tree may run on it; ``waiting`` is told
    once when there is something to wait for. Raises AlreadyUp, naming the process, and StoreReadOnly when the directory
    can't be written.
    """
    up = _open(Path(f"{database}.up.lock"))
    try:
        fcntl.flock(up, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = _holder(up)
        os.close(up)
        raise AlreadyUp(
            f"Another `mainspring up` runs on {shown or database}{holder}.",
            remedy=f"Stop it first, or name another database with --db{beside}. To add to it: mainspring worker",
            field="db",
        ) from None
    os.ftruncate(up, 0)
    os.pwrite(up, f"{os.getpid()}\n".encode(), 0)
    try:
        tree = _open(Path(f"{database}.tree.lock"))
        _wait_for_tree(tree, waiting)
    except BaseException:
        os.close(up)
        raise
    return TreeLocks(up, tree)


def _wait_for_tree(tree: int, waiting: Callable[[str], None]) -> None:
    try:
        fcntl.flock(tree, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        waiting(
            "The server and workers of an earlier `mainspring up` are still draining; waiting until they have ended."
        )
        fcntl.flock(tree, fcntl.LOCK_EX)


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreReadOnly(
            f"{path} can't be written: {error.strerror}.", remedy="Use a database in a directory that you may write to."
        ) from error


def _holder(descriptor: int) -> str:
    with suppress(OSError, ValueError):
        return f" (process {int(os.pread(descriptor, 32, 0))})"
    return ""
