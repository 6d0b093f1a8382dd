"""Runs of cases for real: a worker process on each engine, a ledger outside the product, and what must hold of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from campaign.apps.ledger import app
from campaign.cases_oracle import Expected, expected
from mainspring.client.direct import DirectClient, connect
from mainspring.clock import MILLISECOND, SECOND, Duration, SystemClock
from mainspring.domain.graph import compiled
from mainspring.domain.run import RunRequest
from mainspring.domain.workflow import Workflow
from mainspring.importers.found import Found, workflow_name
from tests import postgres

APP = Path(__file__).parent / "apps" / "ledger.py"
PATIENCE = Duration(60 * SECOND)
"""Within which each run has ended; on a busy machine they take a hundredth of it."""


class Case(NamedTuple):
    """One file. ``said``: states by node that the file itself tells, ``ends``: of the run."""

    name: str
    found: Found
    said: Mapping[str, str] = {}
    ends: str | None = None


class Told(NamedTuple):
    """What the ledger says of a node: each job's attempts, when the first began and the last ended."""

    attempts: dict[int, int]
    began: int
    ended: int


def own_names(found: Found, stem: str) -> Found:
    """The workflows under names that no other file has: several files give theirs the same name."""
    names = {one.name: f"{workflow_name(stem)}{one.name.removeprefix(found.main.name)}" for one in found.workflows}
    renamed = [
        msgspec.structs.replace(
            one,
            name=names[one.name],
            nodes=tuple(
                msgspec.structs.replace(node, workflow=names[node.workflow]) if node.workflow else node
                for node in one.nodes
            ),
        )
        for one in found.workflows
    ]
    return Found(tuple(renamed), found.notes)


def run_all(cases: Sequence[Case], engines: Sequence[str], say: Callable[[str], None]) -> list[str]:
    """Every case on every engine; what did not hold."""
    faults: list[str] = []
    for engine in engines:
        with platform(engine) as (client, ledger):
            faults += [f"{engine}: {fault}" for fault in _run(client, ledger, cases, say, engine)]
    return faults


@contextmanager
def platform(engine: str) -> Iterator[tuple[DirectClient, Path]]:
    """A store, a client and a worker that writes the ledger."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="cases-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        if engine == "sqlite":
            url = f"sqlite:///{folder}/cases.db"
        else:
            server = stack.enter_context(postgres.shared(postgres.unique()))
            name = f"cases_{postgres.unique()}"
            postgres.new_database(server, name)
            stack.callback(postgres.drop_database, server, name)
            url = server.url(name)
        client = connect(url)
        stack.callback(client.close)
        client.declare(app.catalog())
        ledger = folder / "ledger"
        ledger.touch()
        said = stack.enter_context((folder / "worker.log").open("wb"))
        words = ["worker", "--app", str(APP), "--slots", "64", "--db", url]
        environment = os.environ | {"CASES_LEDGER": str(ledger)}
        worker = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-m", "mainspring", *words], env=environment, stdout=said, stderr=said, cwd=folder
        )
        stack.callback(_end, worker)
        yield client, ledger


def _end(worker: subprocess.Popen[bytes]) -> None:
    worker.terminate()
    try:
        worker.wait(20)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()


def _run(
    client: DirectClient, ledger: Path, cases: Sequence[Case], say: Callable[[str], None], engine: str
) -> list[str]:
    clock = SystemClock()
    began = clock.monotonic()
    runs: dict[str, int] = {}
    for case in cases:
        for document in case.found.workflows:
            client.put_workflow(_marked(document))
        runs[case.name] = client.start_run(RunRequest(case.found.main.name)).id
    say(f"  {engine}: {len(runs)} runs begun")
    states, until = _ends(client, runs, {}), clock.monotonic() + PATIENCE
    while len(states) < len(runs) and clock.monotonic() < until:
        clock.wait(Duration(300 * MILLISECOND))
        states = _ends(client, runs, states)
    told = _read(ledger)
    faults: list[str] = []
    nodes = 0
    for case in cases:
        state = states.get(case.name)
        if state is None:
            faults.append(f"{case.name}: run {runs[case.name]} has not ended")
            continue
        seen = {node.name: node for node in _nodes(client, runs[case.name])}
        nodes += len(seen)
        faults += [f"{case.name}: {fault}" for fault in _judged(case, state, seen, told)]
    took = (clock.monotonic() - began) / SECOND
    say(f"  {engine}: {len(states)} runs of {nodes:,} nodes ended in {took:.1f} s")
    return faults


def _ends(client: DirectClient, runs: Mapping[str, int], known: dict[str, str]) -> dict[str, str]:
    """The states of runs that have ended; those that are known are not asked again."""
    found = {name: client.run(run) for name, run in runs.items() if name not in known}
    return known | {name: str(run.state) for name, run in found.items() if run.done}


def _nodes(client: DirectClient, run: int) -> Iterator[Any]:
    after = -1
    while page := client.run_nodes(run, after=after, limit=1000, jobs=1):
        yield from page
        after = page[-1].number


def _marked(document: Workflow) -> Workflow:
    """The document whose tasks tell the ledger which workflow's node they are."""
    nodes = tuple(
        msgspec.structs.replace(node, params={**node.params, "node": f"{document.name}/{node.name}"})
        if node.task is not None
        else node
        for node in document.nodes
    )
    return msgspec.structs.replace(document, nodes=nodes)


def _read(ledger: Path) -> dict[str, Told]:
    lines = defaultdict[str, list[dict[str, Any]]](list)
    for line in ledger.read_text().splitlines():
        entry = json.loads(line)
        lines[entry["node"]].append(entry)
    return {
        node: Told(
            {one["job"]: sum("began" in other and other["job"] == one["job"] for other in entries) for one in entries},
            min(one["began"] for one in entries if "began" in one),
            max(one.get("ended", one.get("began", 0)) for one in entries),
        )
        for node, entries in lines.items()
    }


def _judged(case: Case, state: str, seen: Mapping[str, Any], told: Mapping[str, Told]) -> Iterator[str]:
    """What does not hold: the state of the run, of its nodes, the ledger's counts and its order."""
    document = case.found.main
    nested = {one.name: one for one in case.found.workflows}
    right = expected(document, nested)
    ends = case.ends or right.state
    if state != ends:
        yield f"the run is {state} where {ends} is right"
    if case.ends is not None and case.ends != right.state:
        return  # it was stopped: what its nodes are depends on the instant
    for name, ending in right.nodes.items():
        node = seen.get(name)
        words = "missing" if node is None else str(node.reason or node.state)
        if words != ending.state:
            yield f"node {name} is {words} where {ending.state} is right"
    for name, wanted in case.said.items():
        node = seen.get(name)
        if node is None or str(node.state) != wanted:
            yield f"node {name} is {node and node.state} where the file says {wanted}"
    yield from _counted(document, right, told)
    yield from _in_order(document, told)
    for node in document.nodes:
        if node.workflow is not None:
            yield from _nested(case, node.workflow, told)


def _counted(document: Workflow, right: Expected, told: Mapping[str, Told]) -> Iterator[str]:
    """Each node as often as it should, no job of it twice."""
    for node in document.nodes:
        if node.task is None:
            continue
        ending = right.nodes[node.name]
        attempts = told.get(f"{document.name}/{node.name}", Told({}, 0, 0)).attempts
        if sorted(attempts.values()) != [ending.attempts] * ending.jobs:
            yield f"node {node.name} ran {sorted(attempts.values())} times, not {[ending.attempts] * ending.jobs}"


def _nested(case: Case, name: str, told: Mapping[str, Told]) -> Iterator[str]:
    """Each node of a nested workflow as often as there are runs of it."""
    nested = {one.name: one for one in case.found.workflows}
    main, right = nested[case.found.main.name], expected(case.found.main, nested)
    runs = sum(right.nodes[node.name].jobs for node in main.nodes if node.workflow == name)
    inner = expected(nested[name], nested)
    for node in nested[name].nodes:
        times = inner.nodes[node.name].jobs * runs
        found = len(told.get(f"{name}/{node.name}", Told({}, 0, 0)).attempts)
        if node.task is not None and found != times:
            yield f"node {node.name} of {name} has run {found} times, not {times}"


def _in_order(document: Workflow, told: Mapping[str, Told]) -> Iterator[str]:
    """No node began before its needs had ended; those that may go early, before the first of them had."""
    graph = compiled(document)
    nodes = document.nodes
    done: dict[int, int] = {}
    for number in graph.order:
        own = told.get(f"{document.name}/{nodes[number].name}")
        needs = [done[need] for need in graph.needs[number]]
        early = nodes[number].run_if in ("one_success", "one_failed", "one_done")
        earliest = 0 if nodes[number].run_if == "always" else (min if early else max)(needs, default=0)
        if own is not None and own.began < earliest:
            yield f"node {nodes[number].name} began {earliest - own.began} us before its needs had ended"
        done[number] = earliest if own is None else max(own.ended, earliest)
