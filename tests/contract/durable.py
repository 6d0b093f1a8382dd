"""A file system that shows what a power cut would leave: each file as it was at its last sync.

    python -m tests.contract.durable PATH SHADOW SYNCHRONOUS SUBMITS

Submits jobs to a new database at PATH; after each answer, SHADOW holds what would be on the disk if the power failed at
that instant, and it is opened and asked for every job that was acknowledged. Few jobs at a time are committed early,
many are not. SYNCHRONOUS ``full`` is what the product does; ``normal`` plants the fault that this must find. Prints
what was missing, and how often a commit was not synced.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import apsw

from mainspring.control import submit
from mainspring.control.catalog import declare
from mainspring.domain.job import JobRequest
from mainspring.store import Store
from tests.contract.engines import engine_of
from tests.contract.stories import SHOP


class PowerCut(apsw.VFS):
    """The default file system, with a copy of each file made whenever it is synced."""

    def __init__(self, shadow: Path) -> None:
        self.shadow = shadow
        self.synced: list[str] = []
        super().__init__("powercut", base="unix", makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return Watched(self, name, flags)

    def watch_early(self, *, works: bool) -> None:
        """The same for what the product syncs by itself, behind an early commit. Unless it ``works``, nothing is."""
        sync = os.fdatasync

        def synced(fd: Any) -> None:
            if works:
                sync(fd)
                self.keep(Path(f"/proc/self/fd/{fd}").readlink())

        os.fdatasync = synced

    def keep(self, path: Path) -> None:
        """It is on the disk as it is now."""
        self.synced.append(path.name)
        shutil.copyfile(path, self.shadow / path.name)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: FBT001, N802
        super().xDelete(filename, syncdir)
        (self.shadow / Path(filename).name).unlink(missing_ok=True)


class Watched(apsw.VFSFile):
    """A file that says when it is synced."""

    def __init__(self, vfs: PowerCut, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self.vfs = vfs
        text = name.filename() if isinstance(name, apsw.URIFilename) else name
        self.path = None if text is None else Path(text)
        super().__init__("unix", name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        if self.path is not None:
            self.vfs.keep(self.path)


def acknowledged(shadow: Path, database: str) -> set[int]:
    """The jobs that are found after the power came back."""
    copy = shadow / "after"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for name in (database, f"{database}-wal"):
        if (shadow / name).exists():
            shutil.copyfile(shadow / name, copy / name)
    connection = apsw.Connection(str(copy / database), vfs="unix")
    try:
        (verdict,) = next(connection.execute("pragma integrity_check"))
        assert verdict == "ok", verdict
        return {row[0] for row in connection.execute("select id from job")}
    except apsw.SQLError:
        return set()  # not even the tables had reached the disk
    finally:
        connection.close()


def main(path: Path, shadow: Path, synchronous: str, submits: int) -> None:
    """Submit, cut the power, look; over and over."""
    vfs = PowerCut(shadow)
    vfs.watch_early(works=synchronous == "full")
    store = Store.open(f"sqlite:///{path}")
    declare(store, SHOP)
    engine_of(store).raw.pragma("synchronous", synchronous)
    engine_of(store).raw.pragma("wal_autocheckpoint", 60)  # so that the cuts meet checkpoints too
    known: set[int] = set()
    missing, unsynced = 0, 0
    for number in range(submits):
        vfs.synced.clear()
        few_or_many = [JobRequest("send", {"x": "y" * 500})] * (3 if number % 2 else 30)
        known |= {one.job for one in submit.submit(store, few_or_many, actor="client")}
        unsynced += f"{path.name}-wal" not in vfs.synced
        missing += len(known - acknowledged(shadow, path.name))
    store.close()
    print(missing, unsynced)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
