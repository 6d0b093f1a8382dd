"""Every example runs, through real processes, and all that it checks is as it should be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mainspring.process import carriers
from tests.processes.world.driver import ROOT, is_zombie

EXAMPLES = ROOT / "examples"
PROMISED = {
    "two_workers.py": [
        "two workers are up: alpha, beta",
        "its status, asked until done: ",
        "it ran on ",
        "the archive holds all 202 files, with the same SHA-256 each",
    ],
    "pipeline.py": [
        "run 1 of pipeline: succeeded",
        "attempts, as the seed has it: A 2, B 3, C 2, D 1",
        "D began when B and C had succeeded",
        "B was tried again after 50 and 100 ms, with jitter",
        "a B that never works is dead after 3 attempts, and D never began: ",
        "mainspring run-show ",
    ],
    "xe001.py": [
        "backup succeeded",
        "cleanup succeeded",
        "test-fail: failed, 'payload requested failure'",
        "an empty payload: failed, 'empty payload'",
        "events of backup in order: queued, running, succeeded",
        "selfkill: crashed",
        "the platform went on with the next job",
        "job 999: unknown job 999",
        "mainspring job 999: exit status 3",
    ],
}


@pytest.mark.parametrize("name", PROMISED)
def test_an_example_does_what_its_story_says(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WRONG" not in done.stdout
    for promise in PROMISED[name]:
        assert f"ok    {promise}" in done.stdout
    assert not [pid for pid in carriers("HOME", str(tmp_path)) if not is_zombie(pid)], "it leaves no process behind"


def test_no_example_is_left_out() -> None:
    """A script with a main is an example; driver.py is what they share."""
    scripts = {path.name for path in EXAMPLES.glob("*.py") if "def main()" in path.read_text()}
    assert scripts == set(PROMISED)
