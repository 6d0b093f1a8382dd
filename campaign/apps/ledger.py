"""The tasks of imported workflows, which also tell a file outside the product when they ran and for which node."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from typing import Any

from mainspring import Context, Mainspring
from mainspring.clock import SystemClock

app = Mainspring("imported")
clock = SystemClock()


class ToldToFail(Exception):
    """The case says that this node fails."""


def tell(**line: Any) -> None:
    """One line, whole, at the end of the file, whoever else writes."""
    data = (json.dumps(line) + "\n").encode()
    file = os.open(os.environ["CASES_LEDGER"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, data)
    finally:
        os.close(file)


@app.task(retry={"max_attempts": 1})
async def replay(ctx: Context, node: str = "", seconds: float = 0.0) -> None:
    """As the stand-in of the importer."""
    await outcome.function(ctx, node, None, 0, seconds)  # type: ignore[misc]


@app.task(retry={"max_attempts": 1})
async def outcome(ctx: Context, node: str = "", result: Any = None, failures: int = 0, seconds: float = 0.0) -> Any:
    """As the stand-in of the importer."""
    began = clock.monotonic()
    tell(node=node, job=ctx.job_id, attempt=ctx.attempt, began=began)
    if seconds > 0:
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), seconds)
    tell(node=node, job=ctx.job_id, attempt=ctx.attempt, ended=clock.monotonic())
    if ctx.attempt <= failures:
        raise ToldToFail(f"attempt {ctx.attempt} of {failures}")
    return result
