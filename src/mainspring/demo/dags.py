"""The acts with workflows: System 8, and the day's traffic."""

from __future__ import annotations

import csv
from collections import Counter

from mainspring.clock import MILLISECOND, SECOND, Duration
from mainspring.demo import traffic as traffic_app
from mainspring.demo import work
from mainspring.demo.screen import Row, Screen
from mainspring.demo.stage import Stage
from mainspring.domain.joins import NodeState, RunState
from mainspring.domain.run import RunNode
from mainspring.sdk.run import RunHandle

_SEED = 12
"""With it A fails once, B twice and C once before they work."""


def pipeline(stage: Stage, screen: Screen) -> list[Row]:
    """A, then B and C, then D; tasks that fail at random are tried again."""
    screen.title("3  A pipeline A, B and C, D, whose tasks fail at random (System 8)")
    run = work.pipeline.submit(seed=_SEED)
    stage.until(f"the end of run {run.id}", lambda: run.refresh().record.done)
    nodes = {node.name: node for node in run.nodes()}
    attempts = {name: len(work.app.job(node.jobs[0].id).attempts()) for name, node in nodes.items() if node.jobs}
    wrong = "" if run.state is RunState.SUCCEEDED else f"it is {run.state}"
    wrong = wrong or _disorder(nodes) or ("" if sum(attempts.values()) > len(nodes) else "no task was tried again")
    tries = ", ".join(f"{name} {count}" for name, count in attempts.items())
    shows = f"D began when B and C had succeeded; tried again with backoff and jitter; result: {_result(nodes)}"
    return _shown(screen, [_row(run, f"attempts: {tries}", shows, wrong)])


def traffic(stage: Stage, screen: Screen) -> list[Row]:
    """A day's requests, split, counted by the hour in parallel, joined and drawn."""
    screen.title("5  A real pipeline: a day of requests by the hour, drawn as a chart")
    folder = stage.folder / "traffic"
    folder.mkdir()
    path = folder / "report.svg"
    run = traffic_app.traffic.submit(source=str(traffic_app.REQUESTS), folder=str(folder), path=str(path))
    stage.until(f"the end of run {run.id}", lambda: run.refresh().record.done)
    with traffic_app.REQUESTS.open(encoding="utf-8") as lines:
        seconds = [int(row["second"]) for row in csv.DictReader(lines)]
    hours = Counter(second // 3600 for second in seconds)
    found = run.record.result if isinstance(run.record.result, dict) else {}
    right = (found.get("requests"), hours[found.get("busiest", -1)]) == (len(seconds), max(hours.values()))
    wrong = "" if right and path.is_file() else "the report does not say what the file holds"
    shows = (
        f"{len(seconds):,} requests, {found.get('images', 0):,} images, most of them at {found.get('busiest', 0)}:00;"
        " counted by the hour and drawn as a chart"
    )
    nodes = list(run.nodes())
    jobs = sum(node.items or 1 for node in nodes)
    return _shown(screen, [_row(run, f"{len(nodes)} nodes, {jobs} jobs", shows, wrong)])


def _disorder(nodes: dict[str, RunNode]) -> str:
    began = nodes["D"].started_at or 0
    early = [name for name in "BC" if (nodes[name].finished_at or began + 1) > began]
    return f"D began before the end of {' and '.join(early)}" if early else ""


def _result(nodes: dict[str, RunNode]) -> str:
    if nodes["D"].state is not NodeState.SUCCEEDED:
        return "none"
    return str(work.app.job(nodes["D"].jobs[0].id).result(timeout="10s"))


def _row(run: RunHandle, how: str, shows: str, wrong: str) -> Row:
    record = run.record
    took = Duration((record.finished_at or record.created_at) - record.created_at)
    length = f"{took // MILLISECOND} ms" if took < SECOND else f"{took / SECOND:.1f} s"
    return Row(
        str(run.id), f"run of {record.workflow.partition('.')[2]}", record.state.value, how, length, shows, wrong
    )


def _shown(screen: Screen, rows: list[Row]) -> list[Row]:
    for row in rows:
        screen.result(row)
    return rows
