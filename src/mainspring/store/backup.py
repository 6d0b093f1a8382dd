"""``db backup``: a SQLite store is copied while it runs; PostgreSQL has tools of its own, of which one is named."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from mainspring.chance import SystemChance
from mainspring.clock import SystemClock
from mainspring.domain.address import is_postgres
from mainspring.errors import BackupRefused, StoreReadOnly, StoreUnreachable
from mainspring.store import database_path
from mainspring.store.log_file import log_place
from mainspring.store.sqlite import SqliteEngine
from mainspring.store.sqlite_copy import prepare_copy, publish


def back_up(url: str, target: Path) -> list[Path]:
    """Copy a store to ``target``, and the output of its jobs to the log file beside it; the files that were made.

    Both are there when this returns and neither when it raises: BackupRefused for PostgreSQL (with the command that
    does it) and where something is there already, StoreReadOnly where nothing can be written, StoreCorrupt, StoreBusy.
    """
    if is_postgres(url):
        raise BackupRefused(
            "A PostgreSQL database is backed up by its own tools; nothing was written.",
            remedy=dump_command(url, target),
        )
    path = database_path(url)
    pairs = [(path, target), (log_place(path), Path(log_place(str(target))))]
    if not target.parent.is_dir():
        raise StoreUnreachable(f"There is no directory {target.parent}.", remedy="Make it, or name another.")
    for _, wanted in pairs:
        if wanted.exists():
            raise BackupRefused(f"{wanted} is there already; it was left as it is.", remedy="Name another file.")
    try:
        return _copied(pairs)
    except OSError as error:
        raise StoreReadOnly(
            f"{target} can't be written: {error.strerror}.", remedy="Name a file in a directory of yours."
        ) from error


def _copied(pairs: list[tuple[str, Path]]) -> list[Path]:
    """Jobs first: what a job writes meanwhile may be in the copy, a job without its first lines is not."""
    parts: list[Path] = []
    try:
        for path, wanted in pairs:
            engine = SqliteEngine(path, clock=SystemClock(), chance=SystemChance(), inline=True)
            try:
                parts.append(prepare_copy(engine, wanted))
            finally:
                engine.close()
        for part, (_, wanted) in reversed(list(zip(parts, pairs, strict=True))):
            publish(part, wanted)
    except BaseException:
        for part in parts:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        raise
    return [wanted for _, wanted in pairs]


def dump_command(url: str, target: Path) -> str:
    """The command for a shell that backs up what this URL names; the password is left to be asked for."""
    from mainspring.store.postgres_place import place_of

    place = place_of(url)
    parts = urlsplit(place.conninfo)
    user, at, host = parts.netloc.rpartition("@")
    conninfo = urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}{at}{host}"))
    words = ["pg_dump", "--format=custom", f"--schema={place.schema}", f"--file={target}", f"--dbname={conninfo}"]
    return shlex.join(words)
