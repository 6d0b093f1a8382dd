"""``mainspring server``: a server alone."""

from __future__ import annotations

from mainspring.cli import access as of
from mainspring.cli import flags, processes
from mainspring.cli.access import Access
from mainspring.cli.declaring import declare_schedules
from mainspring.cli.flags import KeepFlags, LoopFlags, ServerFlags


def server(
    *,
    listen: ServerFlags = flags.SERVER,
    keep: KeepFlags = flags.KEEP,
    loops: LoopFlags = flags.LOOP,
    access: Access = of.DEFAULT,
) -> int:
    """Start a server alone: REST API, health, sweep, retention. SIGTERM or Ctrl-C ends it."""
    loaded = access.load(flags.merged(listen, keep, loops))
    processes.refuse_memory(loaded.settings.database_url)
    declare_schedules(access)
    return processes.run("server", loaded)
