"""The tasks that imported workflows name: an app of our own, which a worker must host for their runs.

``replay`` takes the time that was measured, at a scale; ``outcome`` ends as it is told. Start a worker with
``mainspring worker --app mainspring.importers.stand_ins:app``.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from mainspring.sdk.app import Mainspring
from mainspring.sdk.context import Context, current

app = Mainspring("imported")


class ToldToFail(Exception):
    """The import said that this node fails."""


@app.task(retry={"max_attempts": 1})
async def replay(node: str = "", seconds: float = 0.0) -> None:
    """Take the time that a task of an imported workflow took, and do nothing. ``node``: of which node it is."""
    await _pause(seconds, node)


@app.task(retry={"max_attempts": 1})
async def outcome(ctx: Context, node: str = "", result: Any = None, failures: int = 0, seconds: float = 0.0) -> Any:
    """End as a node of an imported pipeline does: give the result, after so many failed attempts."""
    await _pause(seconds, node)
    if ctx.attempt <= failures:
        raise ToldToFail(f"attempt {ctx.attempt} of {failures} that are to fail")
    return result


async def _pause(seconds: float, node: str) -> None:
    if seconds > 0:
        current().log.info("%s takes %s s", node, seconds)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), seconds)
