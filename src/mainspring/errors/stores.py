"""What is wrong with a store."""

from __future__ import annotations

from mainspring.errors.root import MainspringError


class StoreError(MainspringError):
    """The store can't be used."""

    code = "store_error"
    http_status = 503
    exit_status = 5


class StoreUnreachable(StoreError):
    """The database can't be opened or reached."""

    code = "store_unreachable"


class OutcomeUnknown(StoreUnreachable):
    """The way to the database was lost amid a commit, or the disk failed: whether it was stored can't be told."""

    code = "outcome_unknown"
    http_status = 504

    def __init__(self, path: object) -> None:
        super().__init__(
            f"{path} gave no word on a commit; whether it was stored is not known.",
            remedy="Look whether it is there before you do it again.",
        )


class NoDatabase(StoreUnreachable):
    """A question was asked of a place where no database is; none is made for it."""

    code = "no_database"

    def __init__(self, path: object) -> None:
        super().__init__(
            f"There is no database at {path}.",
            remedy="mainspring up, worker, server and submit make one; name another with --db sqlite:///path.",
            field="db",
        )


class ServerUnreachable(StoreUnreachable):
    """No server answers at the address, or what answers is none that this client can use."""

    code = "server_unreachable"


class StoreReadOnly(StoreError):
    """The database or its directory can't be written."""

    code = "store_read_only"


class StoreCorrupt(StoreError):
    """The file is not a sound database. It is left as it is."""

    code = "store_corrupt"


class StoreBusy(StoreError):
    """The lock was not free within the time-out, or the disk is full; nothing was changed and it may be retried."""

    code = "store_busy"


STORE_AWAY = (StoreBusy, StoreUnreachable, StoreReadOnly, StoreCorrupt)
"""The store as a whole takes nothing now; nothing is said against what was asked of it."""


class SchemaTooNew(StoreError):
    """The database was upgraded by a newer mainspring than this one."""

    code = "schema_too_new"


class SchemaTooOld(StoreError):
    """The tables are of an older mainspring; on PostgreSQL they are only upgraded when somebody says so."""

    code = "schema_too_old"


class StoreMoved(StoreError):
    """The database was moved elsewhere, or is on the move: it can be read, and takes no writes."""

    code = "store_moved"


class EngineTooOld(StoreError):
    """The SQLite library has a known corruption fault."""

    code = "engine_too_old"


class NetworkFilesystem(StoreError):
    """SQLite files on a network file system are refused."""

    code = "network_filesystem"
