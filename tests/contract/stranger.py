"""Somebody else at the database file, with another SQLite library: what backup tools and shells do.

    python -m tests.contract.stranger PATH read|vacuum|backup|write SECONDS

``read`` and ``write`` hold their transaction for SECONDS; the other two happen once.
"""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

from mainspring.clock import SystemClock, from_seconds


def main(path: str, verb: str, seconds: float) -> None:
    """Do it, and say so when the transaction is open."""
    connection = sqlite3.connect(path, timeout=30, isolation_level=None)
    if verb in {"read", "write"}:
        connection.execute("begin immediate" if verb == "write" else "begin")
        connection.execute("select count(*) from job").fetchone()
        print("open", flush=True)
        SystemClock().wait(from_seconds(seconds))
        connection.execute("commit")
    elif verb == "vacuum":
        connection.execute("vacuum")
    else:
        copy = sqlite3.connect(Path(path).with_suffix(".copy"))
        connection.backup(copy, pages=50)
        (verdict,) = copy.execute("pragma integrity_check").fetchone()
        assert verdict == "ok", verdict
        copy.close()
    connection.close()
    print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
