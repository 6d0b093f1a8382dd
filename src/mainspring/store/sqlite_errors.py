"""SQLite's errors in our words, so that nobody above the store knows the driver."""

from __future__ import annotations

import os
from pathlib import Path

import apsw

from mainspring.errors import StoreBusy, StoreCorrupt, StoreError, StoreReadOnly, StoreUnreachable
from mainspring.store.gate import is_refusal, refusal


class translated:  # noqa: N801 - reads as a phrase: with translated(path)
    """Turns SQLite's errors inside the block into ours."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, apsw.Error):
            raise store_error(self._path, error) from error


def store_error(place: str, error: apsw.Error) -> StoreError:
    """What an error of the driver means to the people above."""
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return StoreBusy(f"{place} was locked for 10 s.", remedy="Another process holds a long write.")
    if isinstance(error, apsw.FullError):
        return StoreBusy(f"The disk under {place} is full.", remedy="Free some space; work goes on by itself.")
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return StoreCorrupt(
            f"{place} is not a sound SQLite database: {error}.",
            remedy="It was left as it is. Restore a backup, or move the file away to start anew.",
        )
    if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError):
        return read_only(place)
    if isinstance(error, apsw.CantOpenError):
        parent = Path(place).parent
        if parent.is_dir() and not os.access(parent, os.W_OK):
            return read_only(place)
        return StoreUnreachable(f"{place} can't be opened: {error}.", remedy="Check the path and its permissions.")
    if isinstance(error, apsw.IOError):
        return StoreBusy(f"Reading or writing {place} failed: {error}.", remedy="Check the disk.")
    said = str(error)
    return refusal(said) if is_refusal(said) else StoreError(f"SQLite refused a statement on {place}: {said}.")


def not_text(statement: str, error: UnicodeDecodeError) -> StoreCorrupt:
    """A text column holds bytes that are no text, which only damage or a program of somebody else's can do."""
    return StoreCorrupt(
        f"What {statement} reads is damaged: {error.reason} in {error.object[:40]!r}.",
        remedy="Check the database (pragma integrity_check) and restore a backup.",
    )


def read_only(place: str) -> StoreReadOnly:
    """The file, or the directory where its WAL must go, takes no writes."""
    return StoreReadOnly(f"{place} or its directory can't be written.", remedy="Choose another place with --db.")
