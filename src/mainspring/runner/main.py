"""Entry of a runner process: load the app, say hello, run what comes, until told to stop or until nobody is there.

Started as ``python -m mainspring runner TARGET`` with the two sockets whose numbers are in MAINSPRING_CONTROL_FD and
MAINSPRING_BULK_FD.
"""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import os
import signal
import socket
import sys
from contextlib import suppress

from mainspring import process
from mainspring.clock import SystemClock
from mainspring.domain.frame import PROTOCOL, Frame, Hello, ToRunner, Unusable
from mainspring.domain.secrecy import hiding
from mainspring.errors import AppNotLoadable, MainspringError
from mainspring.runner.capture import capture_logging, capture_streams, emit_here
from mainspring.runner.client import Answers, FrameClient, Inside, LoopClient, refuse_outside
from mainspring.runner.host import Host
from mainspring.runner.link import Link
from mainspring.sdk import connection
from mainspring.sdk.app import Mainspring
from mainspring.sdk.loading import load_app
from mainspring.sdk.tracing import is_used
from mainspring.worker.frames import Channel, to_runner

Channels = tuple[Channel[ToRunner], Channel[ToRunner]]


def main(argv: list[str]) -> int:
    """Be a runner for the app that ``argv[0]`` names. The exit status: 0, 1 when the coordinator is gone, 4 no app."""
    if len(argv) != 1 or "MAINSPRING_CONTROL_FD" not in os.environ:
        sys.stderr.write("mainspring runner MODULE:ATTR is started by a worker: mainspring worker --app MODULE:ATTR\n")
        return 2
    _prepare_process()
    channels = (_channel("MAINSPRING_CONTROL_FD"), _channel("MAINSPRING_BULK_FD"))
    capture_streams()
    connection.use_client(FrameClient(refuse_outside))
    try:
        app = load_app(argv[0])
        catalog = app.catalog()
    except MainspringError as error:
        _say_last(channels[0], Unusable(hiding(os.environ)(str(error))))
        return AppNotLoadable.exit_status
    capture_logging(app.name, emit_here)
    gc.collect()
    gc.freeze()  # what the imports made stays; collections need not look at it again
    channels[0].put(Hello(PROTOCOL, os.getpid(), "python", catalog, traced=is_used()))
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_serve(argv[0], app, channels))


async def _serve(target: str, app: Mainspring, channels: Channels) -> int:
    """Run jobs until told to stop (0), or until the coordinator is gone (at once: nothing could be reported)."""
    answers = Answers()

    def lost(reason: str) -> None:
        sys.stderr.write(f"mainspring runner {os.getpid()}: {reason} Ending.\n")
        os._exit(1)

    def receive(frame: ToRunner) -> None:
        host.receive(frame)

    link = Link(*channels, receive, lost)
    host = Host(target, {task.name: task for task in app.tasks.values()}, link, answers, SystemClock())
    connection.use_client(LoopClient(Inside(link, answers)))
    link.flush()
    await host.finished.wait()
    link.wait_in_place(lambda: link.idle)
    return 0


def _prepare_process() -> None:
    """Signals and the like, before anything of the user's runs."""
    process.die_with_parent(signal.SIGKILL, os.getppid())
    for number in (signal.SIGINT, signal.SIGTERM):
        # The coordinator decides. A handler, as programs that jobs start would inherit that it is ignored.
        signal.signal(number, lambda *_: None)
    stacks = os.environ.get("MAINSPRING_STACKS_FD")
    if stacks:
        faulthandler.enable(int(stacks))
    for name in ("MAINSPRING_CONTROL_FD", "MAINSPRING_BULK_FD", "MAINSPRING_STACKS_FD"):
        if name in os.environ:
            os.set_inheritable(int(os.environ[name]), False)


def _channel(variable: str) -> Channel[ToRunner]:
    return Channel(socket.socket(fileno=int(os.environ.pop(variable))), to_runner)


def _loop_factory() -> type[asyncio.AbstractEventLoop] | None:
    with suppress(ImportError):
        import uvloop

        return uvloop.Loop
    return None


def _say_last(control: Channel[ToRunner], frame: Frame) -> None:
    control.put(frame)
    control.socket.setblocking(True)
    control.flush()
