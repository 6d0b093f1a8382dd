"""``mainspring up``: the whole platform, supervised."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from mainspring.cli import access as of
from mainspring.cli import flags, processes, show, systemlog
from mainspring.cli.access import Access
from mainspring.cli.flags import LoopFlags, ServerFlags, TreeFlags, WorkerFlags
from mainspring.clock import SystemClock
from mainspring.config.layers import Loaded, sqlite_file
from mainspring.domain.setting import Settings
from mainspring.errors import StoreUnreachable
from mainspring.supervisor import locks
from mainspring.supervisor.tree import End, Role, Tree


def up(
    *,
    work: WorkerFlags = flags.WORKER,
    listen: ServerFlags = flags.SERVER,
    tree: TreeFlags = flags.TREE,
    loops: LoopFlags = flags.LOOP,
    access: Access = of.DEFAULT,
) -> int:
    """Start server and workers, and keep them running. SIGTERM or Ctrl-C drains them, a second one hurries them."""
    loaded = access.load(flags.merged(work, listen, tree, loops))
    settings = loaded.settings
    processes.required_app(settings)
    processes.refuse_memory(settings.database_url)
    database = sqlite_file(settings.database_url)
    if database is None:
        raise StoreUnreachable(
            f"`mainspring up` can't use {settings.database_url!r} in this version.",
            remedy="Name a SQLite file: --db sqlite:///relative/path.db or sqlite:////absolute/path.db",
        )
    systemlog.start(settings.log_format)
    say = logging.getLogger("mainspring.up")
    held = locks.take(database, waiting=say.warning)
    try:
        _tell(loaded, database)
        end = Tree(_roles(settings), settings, tree_lock=held.tree, clock=SystemClock(), say=say.warning).run()
    finally:
        held.close()
    return _ended(end)


def _roles(settings: Settings) -> list[Role]:
    return [Role("server", ("server",), settings)] + [
        Role(f"worker {number}", ("worker",), _of_worker(settings, number)) for number in range(1, settings.workers + 1)
    ]


def _of_worker(settings: Settings, number: int) -> Settings:
    named = settings.name and settings.workers > 1
    return msgspec.structs.replace(settings, name=f"{settings.name}-{number}") if named else settings


def _tell(loaded: Loaded, database: Path) -> None:
    """Where everything is and how to end it."""
    settings = loaded.settings
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{host}:{settings.port}" if settings.port else f"http://{host}, on a free port"
    several = "1 worker" if settings.workers == 1 else f"{settings.workers} workers"
    show.line("mainspring starts; Ctrl-C drains and stops it.")
    show.line(f"  address   {address}")
    show.line(f"  database  {database} ({loaded.origins['database_url']})")
    show.line(f"  app       {settings.app} ({loaded.origins['app']})")
    show.line(f"  running   1 server, {several} with {settings.slots} slots")
    show.flush()


def _ended(end: End) -> int:
    if end.reason:
        show.complain(f"mainspring up has ended: {end.reason}")
    return end.status
