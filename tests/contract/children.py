"""Programs of this suite that run as processes of their own, as a store is used by many."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.house.tree import ROOT

LONGEST = 60.0
"""Seconds after which a program is taken for hung."""


def environment(**more: str) -> dict[str, str]:
    """This one's, so that a program imports what this process imports, and what is to be added."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    return os.environ | {"PYTHONPATH": path} | more


def run(module: str, *words: object, faults: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run ``tests.contract.MODULE`` to its end, whatever that is."""
    return subprocess.run(
        [sys.executable, "-m", f"tests.contract.{module}", *map(str, words)],
        env=environment(MAINSPRING_FAULTS=faults) if faults else environment(),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )


@contextmanager
def started(module: str, *words: object) -> Iterator[subprocess.Popen[str]]:
    """Start one and go on; it is ended with the block."""
    with subprocess.Popen(
        [sys.executable, "-m", f"tests.contract.{module}", *map(str, words)],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            yield child
        finally:
            child.kill()


@contextmanager
def transaction_of_a_stranger(path: Path, verb: str, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """Another program has a transaction open on the database (``read`` or ``write``), for this long at most."""
    with started("stranger", path, verb, seconds) as stranger:
        assert stranger.stdout is not None
        said = stranger.stdout.readline()
        assert said == "open\n", stranger.communicate()
        yield stranger
