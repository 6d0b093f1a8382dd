"""The app that the benchmarks run: jobs that do next to nothing."""

from __future__ import annotations

import asyncio
import os
import time

from mainspring import Mainspring, Retry

app = Mainspring("bench")
once = Retry(max_attempts=1)


@app.task(retry=once)
async def noop() -> None:
    """Nothing."""


@app.task(retry=once)
def noop_thread() -> None:
    """Nothing, in a thread."""


@app.task(retry=once)
async def sleep() -> None:
    """Five milliseconds of waiting for something else."""
    await asyncio.sleep(0.005)


@app.task(retry=once)
async def stamp(number: int) -> None:
    """Write when its first line ran."""
    _note(number, time.monotonic_ns())


@app.task(retry=once)
async def hop(left: int) -> None:
    """Write when its first line ran, then submit the next of the chain."""
    _note(left, time.monotonic_ns())
    if left:
        await hop.asubmit(left=left - 1)


def _note(number: int, at: int) -> None:
    file = os.open(os.environ["BENCH_LEDGER"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{number} {at}\n".encode())
    os.close(file)


if "BENCH_TRACE" in os.environ and "MAINSPRING_RUNNER" in os.environ:
    from benchmarks.trace import arm

    arm("runner")
