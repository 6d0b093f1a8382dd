"""Async functions, as tasks on the runner's event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from mainspring.domain.frame import Ended
from mainspring.runner.conclusion import raised, returned, stopped
from mainspring.runner.running import Running, here
from mainspring.sdk.context import enter

ASK_AGAIN = 1.0
"""Seconds after which code that swallowed its cancellation is cancelled once more."""


class Tasks:
    """The async attempts of a runner. ``over`` is called with each attempt's end."""

    def __init__(self, over: Callable[[Running, Ended], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._over = over

    def start(
        self, running: Running, function: Callable[..., Coroutine[Any, Any, Any]], arguments: dict[str, Any]
    ) -> None:
        """Run it as a task of its own, under a copy of the context of this call."""
        running.handle = self._loop.create_task(self._run(running, function, arguments))

    async def _run(self, running: Running, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
        if running.asked is not None:
            self._over(running, stopped(running, running.asked))
            return
        running.began = True
        here.set(running)
        if running.context is not None:
            enter(running.context)
        try:
            value = await function(**arguments)
        except BaseException as error:  # noqa: BLE001 - whatever user code raises is its end, not the loop's
            self._over(running, raised(running, error))
        else:
            self._over(running, returned(running, value))

    def interrupt(self, running: Running) -> None:
        """Cancel it; one that has not begun ends by itself when its turn comes."""
        if running.began:
            running.handle.cancel()
