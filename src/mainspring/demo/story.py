"""The story of the demo: sets the stage, plays the acts, shows what happened, and judges."""

from __future__ import annotations

import sys

from mainspring.clock import SystemClock
from mainspring.demo.acts import ACTS
from mainspring.demo.screen import Row, Screen
from mainspring.demo.stage import Stage, StageError
from mainspring.sdk.connection import use_client

_INTERRUPTED = 130


def tell(*, stay: bool) -> int:
    """Play it; the exit status."""
    screen, stage = Screen(), Stage(SystemClock())
    try:
        with stage:
            return _play(stage, screen, stay=stay)
    except StageError as error:
        screen.verdict(str(error), good=False)
        return 1
    except KeyboardInterrupt:
        screen.verdict("Interrupted; the platform is stopped.", good=False)
        return _INTERRUPTED


def _play(stage: Stage, screen: Screen, *, stay: bool) -> int:
    screen.title("mainspring demo: supervisor, server and two workers on one SQLite file")
    screen.step(f"folder {stage.folder}, server {stage.address}")
    rows: list[Row] = []
    with use_client(stage.client):
        for act in ACTS:
            rows += act(stage, screen)
    screen.table(rows)
    _tell_places(stage, screen, stay=stay)
    wrong = [row for row in rows if row.wrong]
    for row in wrong:
        screen.verdict(f"{row.name}: {row.wrong}", good=False)
    screen.verdict(
        f"{len(rows) - len(wrong)} of {len(rows)} outcomes as expected"
        + (", and the platform stays up." if stay else "."),
        good=not wrong,
    )
    if stay:
        screen.step("Ctrl-C drains and stops it.")
        try:
            stage.wait_for_end()
        except KeyboardInterrupt:
            screen.step("stopping")
    return 1 if wrong else 0


def _tell_places(stage: Stage, screen: Screen, *, stay: bool) -> None:
    command = sys.argv[0] if sys.argv[0].endswith("mainspring") else "mainspring"
    api = f"{stage.address}/api/v1/jobs (and /healthz)"
    screen.facts(
        "Where to look",
        [
            ("results", f"{command} jobs --db {stage.url}"),
            ("logs", f"{command} logs ID --db {stage.url}"),
            ("report", str(stage.folder / "report.json")),
            ("chart", str(stage.folder / "traffic" / "report.svg")),
            ("platform's log", str(stage.log)),
            ("REST", api if stay else f"{api}, while `{command} demo --stay` runs"),
            ("web page", "comes with a later version"),
        ],
    )
