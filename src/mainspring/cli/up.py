"""``mainspring up``: the whole platform, supervised."""

from __future__ import annotations

import logging
from contextlib import closing, suppress

from mainspring.cli import access as of
from mainspring.cli import flags, processes, show, systemlog
from mainspring.cli.access import Access
from mainspring.cli.declaring import declare_schedules
from mainspring.cli.flags import KeepFlags, LoopFlags, ServerFlags, TreeFlags, WorkerFlags
from mainspring.clock import SystemClock
from mainspring.config.layers import Loaded, lock_place, sqlite_file
from mainspring.domain.address import is_postgres, shown
from mainspring.domain.job import JobFilter
from mainspring.domain.states import State
from mainspring.errors import MainspringError
from mainspring.supervisor import locks
from mainspring.supervisor.tree import End, Role, Tree

_WAITING = (State.QUEUED, State.SCHEDULED, State.RETRYING)


def up(  # noqa: PLR0913 - the groups of its options
    *,
    work: WorkerFlags = flags.WORKER,
    listen: ServerFlags = flags.SERVER,
    keep: KeepFlags = flags.KEEP,
    tree: TreeFlags = flags.TREE,
    loops: LoopFlags = flags.LOOP,
    access: Access = of.DEFAULT,
) -> int:
    """Start server and workers, and keep them running. SIGTERM or Ctrl-C drains them, a second one hurries them."""
    loaded = access.load(flags.merged(work, listen, keep, tree, loops))
    settings = loaded.settings
    processes.required_app(settings)
    processes.refuse_memory(settings.database_url)
    place = lock_place(settings.database_url)
    systemlog.start(settings.log_format, "up")
    say = logging.getLogger("mainspring.up")
    url = settings.database_url
    beside = ", or start this one in another directory" if is_postgres(url) else ""
    held = locks.take(place, waiting=say.warning, shown=_shown(url), beside=beside)
    try:
        declare_schedules(access)
        _tell(loaded)
        end = Tree(_roles(loaded), settings, tree_lock=held.tree, clock=SystemClock(), say=say.warning).run()
    finally:
        held.close()
    return _ended(end, settings.database_url)


def _shown(url: str) -> str:
    """The database as people know it: its file, or its address without a password."""
    return str(sqlite_file(url) or shown(url))


def _roles(loaded: Loaded) -> list[Role]:
    workers = loaded.settings.workers
    return [Role("server", ("server",), loaded)] + [
        Role(_named(number, workers), ("worker",), _of_worker(loaded, number)) for number in range(1, workers + 1)
    ]


def _named(number: int, of: int) -> str:
    """The process, as opposed to the worker that it becomes: each start is a new one of those, with a new id."""
    return "worker process" if of == 1 else f"worker process {number} of {of}"


def _of_worker(loaded: Loaded, number: int) -> Loaded:
    name = loaded.settings.name
    return loaded.of_worker(f"{name}-{number}" if name and loaded.settings.workers > 1 else name)


def _tell(loaded: Loaded) -> None:
    """Where everything is and how to end it."""
    settings = loaded.settings
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{host}:{settings.port}" if settings.port else f"http://{host}, on a free port"
    several = "1 worker" if settings.workers == 1 else f"{settings.workers} workers"
    slots = "1 slot" if settings.slots == 1 else f"{settings.slots} slots"
    show.remark(
        "mainspring is starting; Ctrl-C drains and stops it.\n"
        f"  address   {address}\n"
        f"  database  {_shown(settings.database_url)} ({loaded.origins['database_url']})\n"
        f"  app       {settings.app} ({loaded.origins['app']})\n"
        f"  starting  1 server, {several} with {slots}{'' if settings.workers == 1 else ' each'}"
    )


def _ended(end: End, url: str) -> int:
    if end.reason:
        show.complain(f"mainspring up has ended: {end.reason}")
    else:
        with suppress(MainspringError):
            show.remark(f"mainspring up has ended; {_left(url)}.")
    return end.status


def _left(url: str) -> str:
    """What the database holds for the next start."""
    from mainspring.client.direct import connect  # at the end only: a supervisor needs no database

    with closing(connect(url, make=False)) as client:
        running, *waiting = (client.count(JobFilter(state=state)) for state in (State.RUNNING, *_WAITING))
    waits = sum(waiting)
    told = f"{'no job waits' if not waits else '1 job waits' if waits == 1 else f'{waits:,} jobs wait'}"
    return told if not running else f"{told}, {running:,} {'is' if running == 1 else 'are'} running elsewhere or lost"
