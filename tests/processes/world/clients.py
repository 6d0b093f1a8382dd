"""Somebody who submits over REST without end, and notes what was acknowledged and what was refused."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from types import TracebackType
from typing import Self

from tests.processes.world.driver import World


class Submitter:
    """A thread that submits jobs of one task to a port of this machine, one after the other, until its block ends."""

    def __init__(self, world: World, port: int, task: str = "quick") -> None:
        self.acknowledged: list[int] = []
        self.refused: list[str] = []
        self._world = world
        self._request = urllib.request.Request(
            f"http://127.0.0.1:{port}/api/v1/jobs",
            data=json.dumps({"task": task}).encode(),
            headers={"Content-Type": "application/json"},
        )
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._submit_all)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._enough.set()
        self._thread.join()

    def until(self, count: int) -> None:
        """Wait until so many were acknowledged."""
        self._world.eventually(lambda: len(self.acknowledged) >= count, what=f"{count} jobs")

    def until_refused(self) -> None:
        """Wait until one is refused from now on."""
        self.refused.clear()
        self._world.eventually(lambda: self.refused, what="a submit that is refused")

    def _submit_all(self) -> None:
        while not self._enough.is_set():
            try:
                with urllib.request.urlopen(self._request, timeout=40) as answer:
                    self.acknowledged.append(json.load(answer)["id"])
            except (OSError, urllib.error.URLError) as error:
                self.refused.append(str(error))
                self._enough.wait(0.02)
