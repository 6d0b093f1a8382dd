"""Jobs for the tests of the runner: each does one thing that a job may do to its runner."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from mainspring import Context, Mainspring, MainspringError, RetryAfter, current

app = Mainspring("jobs")


@app.task
async def noop() -> None:
    return None


@app.task
async def echo(value: Any) -> Any:
    return value


@app.task
def echo_thread(value: Any) -> Any:
    return value


@app.task(sandbox="S1")
def echo_process(value: Any) -> Any:
    return value


@app.task(sandbox="S1")
async def echo_process_async(value: Any) -> Any:
    await asyncio.sleep(0)
    return value


@app.task
async def talk(name: str, lines: int) -> None:
    for number in range(lines):
        print(f"{name} {number}")
        await asyncio.sleep(0)


@app.task
def talk_thread(name: str, lines: int) -> None:
    for number in range(lines):
        print(f"{name} {number}")
        time.sleep(0.001)


@app.task
async def say(text: str, end: str = "\n") -> None:
    print(text, end=end)


@app.task
def say_in_parts(parts: list[str], password: str = "") -> None:
    for part in parts:
        sys.stdout.write(part)
        sys.stdout.flush()
    raise ValueError(f"can't go on with {password}")


@app.task(sandbox="S1")
def say_in_parts_process(parts: list[str], password: str = "") -> None:
    say_in_parts(parts, password)


@app.task
async def say_half() -> None:
    print("half \udc80")


@app.task
async def say_everywhere(ctx: Context) -> None:
    print("to stdout")
    print("to stderr", file=sys.stderr)
    ctx.log.info("to the log")
    logging.getLogger("elsewhere").warning("a warning of %s", "others")
    sys.stdout.buffer.write(b"bytes \xff and \x00\n")
    await asyncio.to_thread(print, "from a thread")
    try:
        int("nine")
    except ValueError:
        ctx.log.exception("it broke")


@app.task
def flood(mebibytes: int) -> None:
    line = "x" * 99 + "\n"
    for _ in range(mebibytes * 1_048_576 // 100):
        sys.stdout.write(line)


@app.task
async def flood_loop(mebibytes: int) -> None:
    line = "x" * 99 + "\n"
    for _ in range(mebibytes * 1_048_576 // 100):
        sys.stdout.write(line)


@app.task
async def say_and_wait() -> None:
    print("first line")
    await asyncio.sleep(1000)


class Unpaid(Exception):
    """An error of the app's own."""


@app.task
async def fail(text: str) -> None:
    inner(text)


@app.task
def fail_thread(text: str) -> None:
    inner(text)


@app.task(sandbox="S1")
def fail_process(text: str) -> None:
    inner(text)


def inner(text: str) -> None:
    raise Unpaid(text)


@app.task
async def fail_later(delay: str = "7s") -> None:
    raise RetryAfter(delay, "busy")


@app.task
async def fail_with_attribute() -> None:
    error = Unpaid("limit")
    error.retry_after = 3  # type: ignore[attr-defined]
    raise error


@app.task
async def fail_badly() -> None:
    class Odd(Exception):
        retry_after = object()

        def __str__(self) -> str:
            raise RuntimeError("no text")

    raise Odd


@app.task
async def leave(where: str) -> None:
    if where == "loop":
        raise SystemExit(3)
    raise MemoryError


@app.task
def leave_thread() -> None:
    sys.exit(3)


@app.task(sandbox="S1")
def leave_process(code: int) -> None:
    print("leaving", flush=True)
    os._exit(code)


@app.task
async def give(kind: str) -> Any:
    return {
        "large": "x" * 2_000_000,
        "nan": {"a": [1, float("nan")]},
        "nul": {"a": ["b\0"]},
        "object": {"a": object()},
        "surrogate": "\udc80",
    }[kind]


@app.task
async def die(signum: int, first: str = "") -> None:
    if first:
        print(first)
    os.kill(os.getpid(), signum)
    await asyncio.sleep(1000)


@app.task(sandbox="S1")
def die_process(signum: int) -> None:
    print("last words")
    os.kill(os.getpid(), signum)
    time.sleep(1000)


@app.task
async def wait_long(ctx: Context) -> str:
    print("waiting")
    try:
        await asyncio.sleep(1000)
    finally:
        print(f"cleaned up, cancelled={ctx.cancelled}")
    return "never"


@app.task
async def swallow() -> str:
    print("waiting")
    try:
        await asyncio.sleep(1000)
    except asyncio.CancelledError:
        print("swallowed")
    return "as if nothing had been"


@app.task
async def ignore(times: int) -> None:
    print("waiting")
    for _ in range(times):
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            print("ignored")


@app.task
async def break_on_the_way_out() -> None:
    print("waiting")
    try:
        await asyncio.sleep(1000)
    finally:
        raise Unpaid("while cleaning up")


@app.task
def wait_thread(ctx: Context) -> None:
    try:
        print("waiting")
        while True:
            time.sleep(0.01)
    finally:
        print(f"cleaned up, cancelled={ctx.cancelled}")


@app.task
def wait_politely(ctx: Context) -> str:
    print("waiting")
    ctx.wait("1000s")
    return f"stopped={ctx.cancelled}"


@app.task
def block_thread(seconds: float) -> None:
    print("waiting")
    time.sleep(seconds)


@app.task
def stubborn_thread() -> None:
    while True:
        try:
            print("waiting")
            time.sleep(1000)
        except BaseException:  # noqa: BLE001 - what stubborn code does
            print("ignored")


@app.task(sandbox="S1")
def wait_process(ctx: Context) -> None:
    try:
        print(f"pid {os.getpid()}")
        while True:
            time.sleep(0.01)
    finally:
        print(f"cleaned up, cancelled={ctx.cancelled}")


@app.task(sandbox="S1")
async def wait_process_async(ctx: Context) -> None:
    try:
        print(f"pid {os.getpid()}")
        await asyncio.sleep(1000)
    finally:
        print(f"cleaned up, cancelled={ctx.cancelled}")


@app.task(sandbox="S1")
def stubborn_process() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(f"pid {os.getpid()}")
    time.sleep(1000)


@app.task(sandbox="S1")
def fork_away() -> None:
    """A child of a child in a session of its own, by fork alone: no variable marks it."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(write, f"pid {os.getpid()}\n".encode())
            time.sleep(1000)
        os._exit(0)
    print(os.read(read, 100).decode(), end="", flush=True)


@app.task(sandbox="S1")
def look_around() -> dict[str, Any]:
    return {
        "env": dict(os.environ),
        "cwd": str(Path.cwd()),
        "umask": os.umask(0),
        "session": os.getsid(0) == os.getpid(),
        "fds": [str(place.readlink()) for place in Path("/proc/self/fd").iterdir() if place.is_socket()],
    }


@app.task
async def spin() -> None:
    print("spinning")
    sum(range(10**12))


@app.task
def spin_thread() -> None:
    print("spinning")
    sum(range(10**12))


@app.task
async def tell(ctx: Context) -> Any:
    before = ctx.details
    ctx.progress(1, 4)
    ctx.heartbeat({"row": 7})
    return before


@app.task(sandbox="S1")
def tell_process(ctx: Context) -> Any:
    before = ctx.details
    ctx.progress(3, 4)
    ctx.heartbeat({"row": 8})
    return before


@app.task
async def tell_often(ctx: Context, times: int) -> None:
    for number in range(times):
        ctx.progress(number, times)
        await asyncio.sleep(0)


@app.task
async def publish_async() -> int:
    return await app.apublish("paid", {"order_id": 7})


@app.task
def publish_thread() -> int:
    return app.publish("paid", {"order_id": 7})


@app.task(sandbox="S1")
def publish_process() -> int:
    return app.publish("paid", {"order_id": 7})


@app.task
def subscribe_thread() -> str:
    return app.subscribe("paid", noop, params={"fixed": True}, after=0).name


@app.task
async def submit_async() -> int:
    return (await noop.asubmit()).id


@app.task
async def submit_in_place() -> int:
    return noop.submit().id


@app.task
def submit_thread() -> int:
    return noop.submit().id


@app.task(sandbox="S1")
def submit_process() -> int:
    return noop.submit().id


@app.task
def wait_for_an_answer() -> None:
    print("waiting")
    app.client().last_event()


@app.task
async def submit_wrong() -> str:
    try:
        app.job(999)
    except MainspringError as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


@app.task
def submit_from_bare_thread() -> str:
    said = []

    def ask() -> None:
        try:
            noop.submit()
        except MainspringError as error:
            said.append(f"{type(error).__name__}: {error}")

    bare = threading.Thread(target=contextvars.Context().run, args=(ask,))
    bare.start()
    bare.join()
    return said[0]


@app.task
async def whoami() -> list[Any]:
    context = current()
    return [context.job_id, context.attempt, context.task]


@app.task
def start_and_forget() -> None:
    """A process that a thread job leaves behind in the shared runner."""
    started = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    print(f"pid {started.pid}")


shell = app.command("shell", ["sh", "-c", "{script}"], params={"script": str})
words = app.command(
    "words",
    [
        sys.executable,
        "-c",
        "import sys, json; print(json.dumps(sys.argv[1:]))",
        "--",
        "{text}",
        "{number}",
        "{flag}",
        "{many}",
    ],
    params={"text": str, "number": float, "flag": bool, "many": list[str]},
)
missing = app.command("missing", ["no-such-program-at-all"])
unexecutable = app.command("unexecutable", [__file__])
