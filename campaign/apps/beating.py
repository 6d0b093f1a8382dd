"""The app of the chaos campaign. Each job writes start, beats and end into a ledger outside the product.

start|beat|end  job  attempt  monotonic nanoseconds

One line is one small write at the end of the file, so lines of several processes are never mixed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from pathlib import Path

from mainspring import Context, Mainspring, Retry

BEAT = 0.1
"""Seconds between two beats."""

app = Mainspring("beating")
often = Retry(max_attempts=5, max_losses=20, delay="50ms", factor=2, max_delay="1s")


def note(kind: str, ctx: Context) -> None:
    """Append a line."""
    file = os.open(Path(os.environ["HOME"]) / "ledger", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, f"{kind} {ctx.job_id} {ctx.attempt} {time.monotonic_ns()}\n".encode())
    os.close(file)


@app.task(retry=often, grace="500ms")
async def drift(seconds: float, ctx: Context) -> str:
    """Async, in a runner that it shares."""
    note("start", ctx)
    try:
        for _ in range(round(seconds / BEAT)):
            await asyncio.sleep(BEAT)
            note("beat", ctx)
    finally:
        note("end", ctx)
    return f"attempt {ctx.attempt}"


@app.task(retry=often, grace="500ms")
def trudge(seconds: float, ctx: Context) -> str:
    """In a thread."""
    note("start", ctx)
    try:
        for _ in range(round(seconds / BEAT)):
            ctx.wait(BEAT)
            note("beat", ctx)
    finally:
        note("end", ctx)
    return f"attempt {ctx.attempt}"


@app.task(retry=often, grace="500ms", sandbox="S1")
def dwell(seconds: float, ctx: Context) -> str:
    """In a process of its own."""
    note("start", ctx)
    for _ in range(round(seconds / BEAT)):
        time.sleep(BEAT)
        note("beat", ctx)
    note("end", ctx)
    return f"attempt {ctx.attempt}"


@app.task(retry=often)
async def stumble(seconds: float, ctx: Context) -> None:
    """Fails at its first attempts, and writes to its log."""
    note("start", ctx)
    logging.getLogger(__name__).warning("attempt %s of job %s", ctx.attempt, ctx.job_id)
    await asyncio.sleep(seconds)
    note("end", ctx)
    if ctx.attempt < 3:
        raise RuntimeError("not yet")


@app.task(retry=often, grace="500ms", queue="narrow")
async def squeeze(seconds: float, ctx: Context) -> str:
    """In the queue that has a limit, with others that are sent there."""
    return await drift(seconds, ctx)
