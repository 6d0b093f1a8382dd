"""Runs ``mainspring`` with a hook of apsw that writes one byte to a file for each statement: for idle.py only.

The product knows nothing of it. ``python -m benchmarks.counted FILE WORDS...``
"""

from __future__ import annotations

import os
import sys

import apsw

_FRAMES = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA")


def main() -> object:
    """Hook apsw in, then be the command."""
    file = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def told(event: dict[str, object]) -> None:
        if not str(event["sql"]).lstrip().upper().startswith(_FRAMES):
            os.write(file, b".")

    apsw.connection_hooks.append(lambda connection: connection.trace_v2(apsw.SQLITE_TRACE_STMT, told))
    sys.argv = ["mainspring", *sys.argv[2:]]
    from mainspring.cli.main import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())  # type: ignore[arg-type]
