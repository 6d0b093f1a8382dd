"""PostgreSQL's errors in our words, so that nobody above the store knows the driver."""

from __future__ import annotations

from types import TracebackType

import psycopg
from psycopg import errors as pg

from mainspring.errors import StoreBusy, StoreCorrupt, StoreError, StoreReadOnly, StoreUnreachable
from mainspring.store.gate import is_refusal, refusal

CONFLICTS = (pg.SerializationFailure, pg.DeadlockDetected)
"""Two transactions got in each other's way; the one that is told does its work again."""

STALE = (pg.InvalidSqlStatementName, pg.DuplicatePreparedStatement, pg.FeatureNotSupported)
"""What a session has prepared is gone, not its own, or older than the tables: a pooler that hid itself, an upgrade."""

_TOO_LONG = (pg.LockNotAvailable, pg.QueryCanceled, pg.IdleInTransactionSessionTimeout)
_NO_ROOM = (pg.DiskFull, pg.OutOfMemory, pg.ConfigurationLimitExceeded)
_DAMAGE = (pg.DataCorrupted, pg.IndexCorrupted, pg.UndefinedTable, pg.UndefinedColumn, pg.UndefinedFunction)


def is_outage(error: psycopg.Error) -> bool:
    """Whether the connection is gone, and with it perhaps the server or the way to it; both may be back soon.

    An error of the driver's own has no state; the server calls fatal what ends a session; of class 08 are a pooler's.
    """
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError)
    return error.sqlstate.startswith("08") or error.diag.severity_nonlocalized in {"FATAL", "PANIC"}


class translated:  # noqa: N801 - reads as a phrase: with translated(place)
    """Turns PostgreSQL's errors inside the block into ours."""

    __slots__ = ("_place",)

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, psycopg.Error):
            raise store_error(self._place, error) from error


def store_error(place: str, error: psycopg.Error) -> StoreError:
    """What an error of the driver means to the people above."""
    said = " ".join(str(error).split())
    if isinstance(error, _TOO_LONG):
        return StoreBusy(f"{place} did not get to it in time: {said}.", remedy="Something holds a lock or is slow.")
    if isinstance(error, CONFLICTS):
        return StoreBusy(f"{place} is too busy: transactions kept getting in each other's way.", remedy="Try again.")
    if isinstance(error, _NO_ROOM):
        return StoreBusy(f"{place} has no room left: {said}.", remedy="Give it some; work goes on by itself.")
    if isinstance(error, pg.ReadOnlySqlTransaction):
        return StoreReadOnly(f"{place} takes no writes: it is a replica, or read-only.", remedy="Name the primary.")
    if isinstance(error, pg.InsufficientPrivilege):
        return StoreReadOnly(f"{place}: {said}.", remedy="Give the role the right to use and create in the schema.")
    if isinstance(error, _DAMAGE):
        return StoreCorrupt(f"{place} is not as this version left it: {said}.", remedy="Run: mainspring db check")
    if is_outage(error) or isinstance(error, psycopg.OperationalError):
        return StoreUnreachable(f"{place} can't be reached: {said}.", remedy="Check the URL and that the server runs.")
    primary = str(error.diag.message_primary)
    return (
        refusal(primary) if is_refusal(primary) else StoreError(f"PostgreSQL refused a statement on {place}: {said}.")
    )
