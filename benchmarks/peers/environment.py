"""Where the peers come from: an environment of their own with exact versions, and Redis, of the system's packages."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")


class LeftOut(Exception):
    """A peer can't be measured here; the text says why, in one line."""


@functools.cache
def python(requirements: Path = REQUIREMENTS) -> str:
    """The interpreter of an environment of peers, which is made where it is missing. Raises LeftOut."""
    stamp = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"mainspring-peers-{os.geteuid()}-{stamp}"
    interpreter = folder / "bin" / "python"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        _run(sys.executable, "-m", "venv", str(folder))
        _run(str(interpreter), "-m", "pip", "install", "--quiet", "--no-deps", "--requirement", str(requirements))
        (folder / "complete").touch()
    return str(interpreter)


def version(distribution: str, requirements: Path = REQUIREMENTS) -> str:
    """The version of a peer."""
    found = re.search(rf"^{distribution}==(\S+)$", requirements.read_text(encoding="utf-8"), re.MULTILINE)
    assert found, f"{distribution} is not in {requirements}"
    return found[1]


@functools.cache
def redis() -> str:
    """The path of ``redis-server``, which is installed where we may. Raises LeftOut."""
    if shutil.which("redis-server") is None:
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            raise LeftOut("there is no redis-server (apt-get install redis-server)")
        _run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "redis-server")
    return shutil.which("redis-server") or ""


@functools.cache
def redis_version() -> str:
    """Of ``redis-server``."""
    said = subprocess.run([redis(), "--version"], check=True, capture_output=True, text=True).stdout
    return said.partition("v=")[2].partition(" ")[0]


def _run(*command: str) -> None:
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
    )
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise LeftOut(f"{Path(command[0]).name} {' '.join(command[1:3])} failed: {''.join(last)}")
