"""What the kernel says of processes, for tests (Linux)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def alive(pid: int) -> bool:
    """Whether this process still runs (a zombie does not)."""
    with suppress(OSError):
        return _status(pid)[0] not in {"Z", "X"}
    return False


def parent_of(pid: int) -> int:
    """Its parent."""
    return int(_status(pid)[1])


def _status(pid: int) -> list[str]:
    """From the state on: the name before it may hold anything."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()


def words_of(pid: int) -> list[str]:
    """Its command line."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")


def variables_of(pid: int) -> set[str]:
    """The names in the environment that it was started with."""
    return {pair.partition("=")[0] for pair in Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")}


def resident(pid: int) -> int:
    """Bytes of it in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


def open_files(pid: int) -> list[str]:
    """What its descriptors are."""
    found = []
    for place in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            found.append(str(place.readlink()))
    return found
