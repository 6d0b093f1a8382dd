"""The writers of one process: a caller that commits by itself, or a thread that commits for all who wait.

Knows neither SQLite nor SQL: the engine makes the commit and gives the answers.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from mainspring.errors import StoreError

_GROUP = 500
"""Items in one commit at most."""


def nested() -> StoreError:
    """What a write inside another one of the same thread is told."""
    return StoreError("A write can't begin inside another transaction.", remedy="Do it in the same one.")


class Item:
    """One piece of work that waits for a commit.

    ``early``: others may see it before it is durable; ``put_off``: whoever asked for it waits for the disk later.
    """

    __slots__ = ("_answered", "_fine", "_value", "before_commit", "early", "put_off", "work")

    def __init__(
        self, work: Callable[[Any], Any], before_commit: Callable[[], None] | None, *, early: bool, put_off: bool
    ) -> None:
        self.work = work
        self.before_commit = before_commit
        self.early = early
        self.put_off = put_off
        self._fine = False
        self._value: Any = None
        self._answered: threading.Lock | None = None

    def queued(self) -> None:
        """Another thread will answer it."""
        self._answered = threading.Lock()
        self._answered.acquire()

    def answer(self, value: Any, *, fine: bool) -> None:
        """What its work returned, or the error that is to be raised."""
        self._value, self._fine = value, fine
        if self._answered is not None:
            self._answered.release()

    def result(self) -> Any:
        """Wait for the answer where it comes from another thread; raise it where it is an error."""
        if self._answered is not None:
            self._answered.acquire()
        if self._fine:
            return self._value
        raise self._value


Commit = Callable[[list[Item]], Callable[[], None]]
"""Commits a group; what it returns waits for the disk where that is still to be done, and answers each item."""


class Writer:
    """One writer at a time.

    While nobody writes, a caller commits by itself, as two hand-overs between threads cost more than its statements;
    what comes meanwhile is gathered by the writing thread, which commits once and answers all.
    """

    def __init__(self, commit: Commit) -> None:
        self._commit = commit
        self._queue: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._writing = 0  # the thread that holds the turn
        self._stopped = False
        self._thread = threading.Thread(target=self._loop, name="mainspring-writer", daemon=True)
        self._thread.start()

    def run(self, item: Item) -> Any:
        """What its work returns, once that is durable; raises what it raised."""
        if threading.get_ident() == self._writing:
            raise nested()
        with self._lock:  # so that nothing is queued behind the end, where nobody would answer it
            if self._stopped:
                raise StoreError("The store is closed.", remedy="Open it again.")
            free = self._queue.empty() and self._turn.acquire(blocking=False)
            if not free:
                item.queued()
                self._queue.put(item)
        if free:
            self._run([item])
        return item.result()

    def pause(self) -> list[threading.Lock]:
        """Take the turn, unless it is the caller's own."""
        if self._writing == threading.get_ident():
            return []
        self._turn.acquire()
        return [self._turn]

    def _run(self, group: list[Item]) -> None:
        """One commit; whoever calls holds the turn, which ends here: others may commit while we wait for the disk."""
        self._writing = threading.get_ident()
        try:
            answer = self._commit(group)
        finally:
            self._writing = 0
            self._turn.release()
        answer()

    def _loop(self) -> None:
        while True:
            first = self._queue.get()
            if first is None:
                return
            self._turn.acquire()
            group, last = [first], False
            while len(group) < _GROUP:
                try:
                    item = self._queue.get_nowait()
                except queue.Empty:
                    break
                if item is None:
                    last = True
                    break
                group.append(item)
            self._run(group)
            if last:
                return

    def stop(self) -> None:
        """Finish what is queued; nothing more is taken."""
        with self._lock:
            self._stopped = True
            self._queue.put(None)
        self._thread.join()
        with self._turn:  # a caller may still be committing by itself
            pass
