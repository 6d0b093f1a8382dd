"""What a strict type checker says of programs that use the SDK: nothing where they are right, the fault where not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parent / "samples"
SOURCE = Path(__file__).parents[2] / "src"
_EXPECTED = re.compile(r"\s*# type: ignore\[([\w-]+)\]")
_SAID = re.compile(r"^.*?(\w+)\.py:(\d+): error: .*\[([\w-]+)\]$")


@pytest.mark.timeout(300)
def test_a_strict_checker_finds_exactly_what_is_wrong(tmp_path: Path) -> None:
    """As in a user's own project: no configuration of ours, and the package as it is installed, by its py.typed."""
    expected = set()
    for sample in SAMPLES.glob("*.py"):
        lines = sample.read_text().splitlines()
        for number, line in enumerate(lines, 1):
            found = _EXPECTED.search(line)
            if found:
                expected.add((sample.stem, number, found[1]))
        (tmp_path / sample.name).write_text("\n".join(_EXPECTED.sub("", line) for line in lines) + "\n")
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}/cache", "."],
        cwd=tmp_path,
        env={"MYPYPATH": str(SOURCE), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    said = {(found[1], int(found[2]), found[3]) for line in ran.stdout.splitlines() if (found := _SAID.match(line))}
    assert expected, "the samples hold wrong lines"
    assert said == expected, ran.stdout + ran.stderr
