"""The command line as a test calls it: in this process for speed, or as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mainspring.cli.main import main

ROOT = Path(__file__).parents[2]


class Said(NamedTuple):
    """How a command ended and what it printed."""

    status: int
    out: str
    err: str

    @property
    def answer(self) -> Any:
        """Standard output, which must be one JSON document and nothing else."""
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The last line of standard error, as JSON."""
        return json.loads(self.err.splitlines()[-1])


class CommandLine:
    """``mainspring`` in a folder of its own, without any setting of this machine."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys
        monkeypatch.chdir(folder)
        for name in os.environ:
            if name.startswith("MAINSPRING_"):
                monkeypatch.delenv(name)

    def __call__(self, *words: str) -> Said:
        """Run a command in this process."""
        self._capsys.readouterr()
        status = main(words)
        return Said(status, *self._capsys.readouterr())

    def process(self, *words: str, **variables: str) -> Said:
        """Run a command as a process."""
        done = subprocess.run(
            [sys.executable, "-m", "mainspring", *words],
            env=os.environ | {"PYTHONPATH": str(ROOT / "src")} | variables,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)
