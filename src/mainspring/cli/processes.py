"""The commands ``server`` and ``worker`` once their settings are known; also what a supervisor's children run.

Must not import what only people need (options, tables), as these processes stay.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from mainspring import faults
from mainspring.cli import systemlog
from mainspring.config.layers import Loaded, environment
from mainspring.config.live import Live
from mainspring.domain.setting import Settings
from mainspring.errors import InvalidSetting
from mainspring.process import collect_less


def run(role: str, loaded: Loaded, leave: Callable[[str], object] | None = None) -> int:
    """Be a server or a worker until told to end; the exit status. ``leave``: takes last words for a supervisor."""
    arm_faults()
    systemlog.start(loaded.settings.log_format, role)
    live = Live(loaded, logging.getLogger(f"mainspring.{role}").warning)
    return serve(live) if role == "server" else work(live, leave)


def serve(live: Live) -> int:
    """Run the server."""
    from mainspring.server.app import run as run_server

    refuse_memory(live.settings.database_url)
    collect_less()
    return run_server(live, say=logging.getLogger("mainspring.server").info)


def work(live: Live, leave: Callable[[str], object] | None = None) -> int:
    """Run a worker."""
    settings = live.settings
    from mainspring.worker.coordinator import run as run_worker
    from mainspring.worker.options import WorkerOptions

    refuse_memory(settings.database_url)
    collect_less()
    options = WorkerOptions(
        app=required_app(settings),
        database=settings.database_url,
        name=settings.name,
        queues=settings.queues,
        labels=settings.labels,
        slots=settings.slots,
        processes=settings.processes,
        runners=settings.runners,
        lease=settings.lease,
        sweep=settings.sweep,
        poll=settings.poll,
        drain=settings.drain,
    )
    return run_worker(options, live=live, say=logging.getLogger("mainspring.worker").info, leave=leave)


def required_app(settings: Settings) -> str:
    """The app, which a worker can't do without. Raises InvalidSetting."""
    if not settings.app:
        raise InvalidSetting(
            "No app is named: which tasks shall the worker run?",
            remedy='Give --app MODULE:ATTR or --app FILE.py, or write app = "app.py" into mainspring.toml. '
            "`mainspring init` writes a first app; `mainspring demo` shows one at work.",
            field="app",
        )
    return settings.app


def refuse_memory(url: str) -> None:
    """A database in memory is its process's own, so a platform of several would see several."""
    if ":memory:" in url or url == "sqlite://":
        raise InvalidSetting(
            f"database_url is {url!r}: a database in memory can't be shared by server, workers and commands.",
            remedy="Name a file: --db sqlite:///.mainspring/mainspring.db",
            field="database_url",
        )


def arm_faults() -> None:
    """Faults that a test asks for; nothing otherwise."""
    faults.arm_from_environment(environment())
