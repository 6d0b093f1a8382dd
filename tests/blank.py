"""The files of an empty store on SQLite, laid where a test is about what comes after: they are made once a process.

That the product makes them itself is tested where that is the question: tests/contract/test_sqlite_open.py, and what
starts with no file in tests/processes.
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from mainspring.store import Store


@cache
def _files() -> tuple[bytes, bytes]:
    with tempfile.TemporaryDirectory(prefix="ms-blank-") as folder:
        place = Path(folder)
        Store.open(f"sqlite:///{place}/m.db").close()
        return (place / "m.db").read_bytes(), (place / "m.logs.db").read_bytes()


def lay(path: Path) -> str:
    """An empty store at ``path``, unless there is one; its URL."""
    if not path.exists():
        main, logs = _files()
        path.write_bytes(main)
        path.with_name(f"{path.stem}.logs.db").write_bytes(logs)
    return f"sqlite:///{path}"
