"""The app of the fault tests. Each job writes start and end into a ledger outside the product, one line, one write.

start|end  job  attempt  pid  monotonic nanoseconds
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mainspring import Context, Mainspring, Retry

app = Mainspring("ledgers")
once = Retry(max_attempts=1)
soon = Retry(max_attempts=3, delay="20ms", factor=1, jitter=0)


def note(kind: str, ctx: Context) -> None:
    """Append a line; a single small write at the end of a file is never mixed with another."""
    file = os.open(Path(os.environ["HOME"]) / "ledger", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, f"{kind} {ctx.job_id} {ctx.attempt} {os.getpid()} {time.monotonic_ns()}\n".encode())
    os.close(file)


@contextmanager
def noted(ctx: Context) -> Iterator[None]:
    """Note the start, and the end unless the process dies first."""
    note("start", ctx)
    try:
        yield
    finally:
        note("end", ctx)


@app.task(retry=soon)
async def quick(ctx: Context) -> None:
    with noted(ctx):
        pass


@app.task(retry=soon)
async def nap(ctx: Context, seconds: float) -> str:
    with noted(ctx):
        await asyncio.sleep(seconds)
    return f"attempt {ctx.attempt}"


@app.task(retry=soon, grace="300ms")
def nap_thread(seconds: float, ctx: Context) -> None:
    with noted(ctx):
        ctx.wait(seconds)


@app.task(retry=soon, sandbox="S1", grace="300ms")
def nap_process(seconds: float, ctx: Context) -> str:
    with noted(ctx):
        time.sleep(seconds)
    return f"attempt {ctx.attempt}"


@app.task(retry=Retry(max_attempts=1, max_losses=0))
async def at_most_once(seconds: float, ctx: Context) -> None:
    with noted(ctx):
        await asyncio.sleep(seconds)


@app.task(retry=soon)
def spin_in_c(ctx: Context, *, first_only: bool) -> None:
    """Hold the interpreter lock inside one call of C for minutes; with ``first_only`` in the first attempt."""
    with noted(ctx):
        if ctx.attempt == 1 or not first_only:
            re.match(r"(a+)+$", "a" * 60 + "b")


@app.task(retry=soon)
def hold_the_lock(number: int, ctx: Context) -> int:
    """Hold the interpreter lock inside one call of C for a second or two a time, ``number`` times."""
    with noted(ctx):
        return sum(sum(range(60_000_000)) for _ in range(number)) % 7


@app.task(retry=soon, sandbox="S1", timeout="500ms", grace="300ms")
def deaf(ctx: Context) -> None:
    """Ignore SIGTERM."""
    with noted(ctx):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            try:
                time.sleep(60)
            except BaseException:  # noqa: BLE001 - as deaf as can be
                continue


@app.task(retry=once, sandbox="S1", grace="300ms")
def busy_process(ctx: Context) -> None:
    with noted(ctx):
        while True:
            pass


@app.task(retry=once, grace="10s")
def busy_thread(seconds: float, ctx: Context) -> str:
    """Heed nothing for a while, in a thread."""
    with noted(ctx):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                time.sleep(0.05)
            except BaseException:  # noqa: BLE001
                continue
    return "ran to its end"


@app.task(retry=Retry(max_attempts=3, delay="20ms", factor=1, jitter=0), sandbox="S1")
def die(ctx: Context) -> None:
    """Kill its own process."""
    note("start", ctx)
    os.kill(os.getpid(), signal.SIGKILL)


@app.task(retry=Retry(max_attempts=3, delay="20ms", factor=1, jitter=0))
def die_shared(ctx: Context) -> None:
    """Kill the runner that it shares with others."""
    note("start", ctx)
    time.sleep(0.2)  # until its neighbours have started
    os.kill(os.getpid(), signal.SIGKILL)


@app.task(retry=once, sandbox="S1", grace="300ms")
def breed(ctx: Context) -> None:
    """Start a child, a grandchild, one in a session of its own and one that lost its parent; each writes its pid."""
    # One write, as unbuffered prints of several processes into one pipe may be mixed.
    program = "import os, time; os.write(1, str(os.getpid()).encode() + bytes([10])); time.sleep(1000)"
    sleeper = [sys.executable, "-c", program]
    subprocess.Popen(sleeper)
    subprocess.Popen(sleeper, start_new_session=True)
    shell = f"'{sys.executable}' -c '{program}' & wait"
    subprocess.Popen(["sh", "-c", shell])
    subprocess.Popen(["sh", "-c", f"(setsid '{sys.executable}' -c '{program}' &)"])
    note("start", ctx)
    time.sleep(1000)


@app.task(retry=soon)
async def parent(count: int, ctx: Context) -> list[int]:
    """Submit children, wait for them."""
    with noted(ctx):
        handles = [await nap.asubmit(seconds=0.01) for _ in range(count)]
        for handle in handles:
            await handle.aresult(timeout="30s")
    return [handle.id for handle in handles]


@app.task(retry=soon, grace="300ms")
def wait_deep(ctx: Context, depth: int) -> int:
    """Wait for a child that waits for a child, so many deep; how many there were."""
    with noted(ctx):
        return 1 + wait_deep.submit(depth=depth - 1).result(timeout="30s") if depth else 1


@app.task(retry=soon, sandbox="S1", grace="300ms")
def wait_deep_process(ctx: Context, depth: int) -> int:
    """The same, each in a process of its own."""
    with noted(ctx):
        return 1 + wait_deep_process.submit(depth=depth - 1).result(timeout="30s") if depth else 1


@app.task(retry=soon, grace="300ms")
async def wait_for_many(count: int, task: str, ctx: Context) -> int:
    """Wait for several children at once."""
    with noted(ctx):
        handles = [await app.tasks[task].asubmit(depth=1) for _ in range(count)]
        return sum(await asyncio.gather(*[handle.aresult(timeout="30s") for handle in handles]))


@app.task(retry=once)
def echo(value: object) -> object:
    print(value)
    return value


@app.task(retry=soon)
def nul() -> str:
    print("printed\0nul")
    return "a\0b"


@app.task(retry=once)
def big(size: int) -> str:
    return "x" * size


shell = app.command("shell", ["sh", "-c", "{script}"], params={"script": str}, retry=once, grace="300ms")


@app.task(retry=once, grace="300ms")
async def block_on_child(ctx: Context) -> None:
    with noted(ctx):
        nap.submit(seconds=0.1).result()  # blocks the loop on which the child would have to run
