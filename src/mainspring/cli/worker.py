"""``mainspring worker``: a worker alone."""

from __future__ import annotations

from mainspring.cli import access as of
from mainspring.cli import flags, processes
from mainspring.cli.access import Access
from mainspring.cli.flags import LoopFlags, WorkerFlags


def worker(*, work: WorkerFlags = flags.WORKER, loops: LoopFlags = flags.LOOP, access: Access = of.DEFAULT) -> int:
    """Start a worker alone, for one app. SIGTERM or Ctrl-C drains it, a second one hurries it."""
    loaded = access.load(flags.merged(work, loops))
    return processes.run("worker", loaded.of_worker(loaded.settings.name))
