"""The place of a SQLite file: what must hold before it is opened, and when the disk has its log.

A sound library, a directory, a file system that can lock.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from contextlib import suppress
from pathlib import Path

import apsw

from mainspring.errors import EngineTooOld, NetworkFilesystem, StoreUnreachable
from mainspring.store.sqlite_errors import read_only

_SOUND_ENGINE = (3, 51, 3)
_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "fuse.sshfs", "ncpfs", "glusterfs", "lustre"}
_MOUNTS = Path("/proc/self/mounts")


def check_engine(version: str | None = None) -> None:
    """Refuse a SQLite library with the WAL corruption race (fixed in 3.51.3). Raises EngineTooOld.

    ``version``: of the library that is loaded, unless another one is asked about.
    """
    version = apsw.sqlite_lib_version() if version is None else version
    if tuple(int(part) for part in version.split(".")[:3]) < _SOUND_ENGINE:
        raise EngineTooOld(
            f"SQLite {version} can corrupt a database in WAL mode; 3.51.3 or newer is needed.",
            remedy="pip install --upgrade apsw",
        )


def check_place(path: Path, *, mounts: str | None = None) -> None:
    """Make the directory and refuse network file systems. Raises StoreReadOnly, StoreUnreachable, NetworkFilesystem.

    ``mounts``: a table of mounts in place of the machine's.
    """
    parent = path.parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            raise read_only(str(path)) from error
        raise StoreUnreachable(
            f"The directory {parent} can't be made: {error.strerror}.", remedy="Choose another place with --db."
        ) from error
    if os.path.isdir(path):  # noqa: PTH112 - unlike Path.is_dir it answers no where we may not look
        raise StoreUnreachable(f"{path} is a directory.", remedy=f"Name a file: sqlite:///{path}/mainspring.db")
    kind = filesystem(parent, mounts=mounts)
    if kind in _NETWORK:
        raise NetworkFilesystem(
            f"{parent} is on a network file system ({kind}), where SQLite can't lock safely.",
            remedy="Use a local disk, or PostgreSQL.",
        )


def filesystem(directory: Path, *, mounts: str | None = None) -> str:
    """The type of file system under a directory, or an empty text where it can't be told."""
    if mounts is None:
        mounts = ""
        with suppress(OSError):
            mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    place, best, kind = str(directory.resolve()), "", ""
    for line in mounts.splitlines():
        _, mount, name, *_ = line.split(" ")
        point = mount.replace("\\040", " ")
        inside = place == point or place.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, name
    return kind


def make_durable(log: str) -> None:
    """Wait until the disk has all of a write-ahead log, as SQLite does at a commit. Raises OSError."""
    try:
        file = os.open(log, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return  # the last connection was closed meanwhile, which has brought everything into the database
    try:
        if sys.platform == "darwin":
            fcntl.fcntl(file, fcntl.F_FULLFSYNC)
        else:
            os.fdatasync(file)
    finally:
        os.close(file)
