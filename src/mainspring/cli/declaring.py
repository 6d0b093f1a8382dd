"""What mainspring.toml declares of schedules becomes known when a server starts, alone or below ``up``."""

from __future__ import annotations

from pathlib import Path

from mainspring.cli import show
from mainspring.cli.access import Access
from mainspring.config.file import FILE_NAME
from mainspring.config.schedules import schedules_of


def declare_schedules(access: Access) -> None:
    """Declare the schedules of the configuration file, and withdraw those that it declares no more.

    A file without ``[schedules]`` changes nothing. Raises InvalidSetting, and the StoreError that fits.
    """
    path = Path.cwd() / (access.config or FILE_NAME)
    stated = schedules_of(path) if path.exists() else None
    if stated is None:
        return
    with access.database(make=True) as client:
        for told in client.declare_schedules(stated):
            show.note(f"{path.name}: {told}")
