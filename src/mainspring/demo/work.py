"""The app of the demo: what a user's own app.py might hold. Workers load it by traffic.py, which adds to it."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mainspring.domain.retry import Retry
from mainspring.sdk.app import Mainspring
from mainspring.sdk.context import Context
from mainspring.sdk.workflow import Node, Workflow

app = Mainspring("demo")
once = Retry(max_attempts=1)

backup = app.command(
    "backup",
    ["tar", "-czf", "{dest}", "-C", "{src}", "."],
    params={"src": str, "dest": str},
    timeout="30s",
    retry=once,
    description="Archive a directory with tar.",
)


@app.task(retry=once)
def cleanup(payload: str) -> str:
    """Do what a payload says."""
    return _obey(payload)


@app.task(name="test-fail", retry=once)
def test_fail(payload: str) -> str:
    """Do what a payload says, even when it says to fail."""
    return _obey(payload)


def _obey(payload: str) -> str:
    if not payload:
        raise ValueError("empty payload")
    if "fail" in payload:
        raise ValueError("payload requested failure")
    return f"{payload}: done"


@app.task(retry=once, sandbox="S1")
def selfkill() -> None:
    """Kill its own process, as a bug in C code would."""
    os.kill(os.getpid(), signal.SIGKILL)


@app.task(retry=Retry(max_attempts=8, delay="100ms", factor=2, max_delay="1s", jitter=0.2))
async def unsteady(step: str, seed: int, ctx: Context) -> str:
    """Fail at random, by a seed: the same each time that it is asked."""
    if hashlib.sha256(f"{seed} {step} {ctx.attempt}".encode()).digest()[0] % 2:
        raise ConnectionError(f"attempt {ctx.attempt}: the other side is not ready yet")
    return f"{step} worked at attempt {ctx.attempt}"


@app.task
def join(parts: list[str]) -> str:
    """What both have said."""
    return " and ".join(parts)


_seed = {"seed": {"$param": "seed"}}
pipeline = app.add(
    Workflow(
        "pipeline",
        nodes=[
            Node("A", task="unsteady", params={"step": "A", **_seed}),
            Node("B", task="unsteady", needs=["A"], params={"step": "B", **_seed}),
            Node("C", task="unsteady", needs=["A"], params={"step": "C", **_seed}),
            Node("D", task="join", params={"parts": [{"$node": "B"}, {"$node": "C"}]}),
        ],
        parameters={"seed": int},
    )
)


@app.task
def read_sources(root: str, names: list[str], ctx: Context) -> dict[str, Any]:
    """Read some modules: SHA-256 and lines of each, and how many functions and classes they define."""
    found: dict[str, Any] = {"checksums": {}, "lines": 0, "functions": 0, "classes": 0}
    for done, name in enumerate(names, 1):
        source = (Path(root) / name).read_bytes()
        found["checksums"][name] = hashlib.sha256(source).hexdigest()
        found["lines"] += source.count(b"\n")
        for node in _nodes(source):
            found["functions"] += isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            found["classes"] += isinstance(node, ast.ClassDef)
        ctx.progress(done, len(names))
    ctx.log.info("read %d modules, %d lines", len(names), found["lines"])
    return found


def _nodes(source: bytes) -> Iterable[ast.AST]:
    try:
        return ast.walk(ast.parse(source))
    except (SyntaxError, ValueError):
        return ()  # a template that only looks like a module


@app.task
def summary(jobs: list[int], report: str) -> dict[str, Any]:
    """Add up what those jobs found and write it to a file."""
    parts = [app.job(job).result(timeout="10s") for job in jobs]
    checksums = {name: value for part in parts for name, value in part["checksums"].items()}
    totals = {
        "modules": len(checksums),
        "lines": sum(part["lines"] for part in parts),
        "functions": sum(part["functions"] for part in parts),
        "classes": sum(part["classes"] for part in parts),
        "checksum": checksum_of(checksums),
    }
    Path(report).write_text(json.dumps({**totals, "checksums": checksums}, indent=1), encoding="utf-8")
    return totals


def checksum_of(checksums: dict[str, str]) -> str:
    """One checksum of many, whatever their order."""
    text = "".join(f"{name} {value}\n" for name, value in sorted(checksums.items()))
    return hashlib.sha256(text.encode()).hexdigest()
