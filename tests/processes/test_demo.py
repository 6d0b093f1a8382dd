"""The demo: every outcome as expected on a sound machine, or what differed is said; no process is left behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mainspring.clock import MILLISECOND, Duration, SystemClock
from mainspring.process import carriers
from tests.patience import Limit, ended
from tests.processes.world.driver import ROOT, is_zombie

CLOCK = SystemClock()
Demo = subprocess.Popen[str]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short path, as a temporary folder of the demo and as a mark of all that it starts."""
    place = Path(tempfile.mkdtemp(prefix="md"))
    try:
        yield place
        assert wait_until(lambda: not left(place)), "it left processes behind"
    finally:
        for pid in left(place):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(place)


def left(place: Path) -> list[int]:
    return [pid for pid in carriers("TMPDIR", str(place)) if not is_zombie(pid)]


def wait_until(look: Callable[[], object], within: float = 30) -> bool:
    limit = Limit(within)
    while not look():
        if limit.over():
            return False
        CLOCK.wait(Duration(50 * MILLISECOND))
    return True


SHORT = "import sys; from mainspring.demo import story; story.ACTS = story.ACTS[:2]; sys.exit(story.tell(stay=False))"
"""The demo without its longer acts."""


def start(place: Path, *words: str, by: tuple[str, ...] = ("-m", "mainspring", "demo"), **more: str) -> Demo:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(place), **more}
    said = (place / "said").open("w")
    with said:
        return subprocess.Popen(
            [sys.executable, *by, *words],
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )


def said(place: Path) -> str:
    return (place / "said").read_text()


def test_every_outcome_is_as_expected_and_stay_keeps_the_platform_up(folder: Path) -> None:
    demo = start(folder, "--stay")
    assert wait_until(lambda: "Ctrl-C drains and stops it." in said(folder), within=100), said(folder)
    text = said(folder)
    assert "12 of 12 outcomes as expected, and the platform stays up." in text
    for title in ("1  Two workers, and a backup that is verified (System 2)", "(XE001)", "jobs done: 0 of"):
        assert title in text, "what a newcomer reads first is in plain words"
    table = text.partition("What happened")[2]
    assert max(map(len, table.partition("Where to look")[0].splitlines())) <= 120
    for job, words in {
        "backup": "the SHA-256 of each",
        "test-fail": "failed: payload requested failure",
        "cleanup": "failed: empty payload",
        "selfkill": "crashed: its process was killed by SIGKILL",
        "(asking for job 999)": "the answer is: unknown job 999",
        "run of pipeline": "attempts: A 2, B 3, C 2, D 1",
        "run of traffic": "1,500 requests",
        "read_sources": "crash: killed -9 worker alpha; all",
        "summary": "counted again",
    }.items():
        assert job in table
        assert words in " ".join(table.split()).replace("│ ", ""), words
    (home,) = folder.glob("mainspring-demo-*")
    assert f"sqlite:///{home}/mainspring.db" in text
    assert (home / "report.json").stat().st_size > 10_000
    assert (home / "traffic" / "report.svg").read_text().count("<rect") == 24
    (address,) = re.findall(r"REST +(http://\S+)/api/v1/jobs", text)
    with urllib.request.urlopen(f"{address}/healthz", timeout=40) as answer:
        assert answer.status == 200
    demo.send_signal(signal.SIGINT)
    assert ended(demo, 30) == 0


def test_what_differs_is_named_and_the_exit_status_says_so(folder: Path) -> None:
    """A machine without tar can make no backup."""
    bare = folder / "bin"
    bare.mkdir()
    demo = start(folder, by=("-c", SHORT), PATH=str(bare))
    assert ended(demo, 100) == 1, said(folder)
    text = said(folder)
    assert "6 of 8 outcomes as expected." in text
    assert re.search(r"job 1 backup: dead after failed, .*tar", text), text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_takes_its_platform_with_it(folder: Path, number: signal.Signals) -> None:
    demo = start(folder)
    assert wait_until(lambda: "are up" in said(folder))
    demo.send_signal(number)
    assert ended(demo, 30) == 130
    assert "Interrupted" in said(folder)


def test_a_killed_demo_takes_its_platform_with_it(folder: Path) -> None:
    demo = start(folder)
    assert wait_until(lambda: "are up" in said(folder))
    demo.kill()
    demo.wait()
