"""``python -m campaign.requests [--requests 20000] [--engine ENGINE] [--seed N]``: all that may be asked, and all else.

Schemathesis makes requests of the server's own OpenAPI document: right ones, and wrong ones in every part. On each
engine they go to a server that asks nobody, and to one that asks for tokens, with and without one. Exit status 1 when
an answer is a 5xx, or one that the document does not tell of; 2 when there were fewer requests than wanted.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from benchmarks.postgres import PostgresPlace
from campaign.simulate import say
from mainspring.client.direct import connect
from mainspring.clock import DAY
from mainspring.domain.access import Role
from mainspring.domain.worker import WorkerState
from mainspring.server.openapi import PATH_OF_DOCUMENT
from mainspring.store import Store, workers
from tests.api.serving import HandWorker, Serving

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "negative_data_rejection",
)
_COUNTED = re.compile(r"(\d[\d,]*) generated")
_MOST_ROUNDS = 20
_CONFIGURATION = """
[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "409", "413", "415", "422", "429"]
"""


class Wanted(NamedTuple):
    """What is asked of each engine: at least so many requests, in rounds of so many examples of each kind and route."""

    requests: int
    examples: int
    phases: str
    seed: int


class Asked(NamedTuple):
    """What one round of requests came to."""

    requests: int
    held: bool
    said: str


@contextmanager
def database(engine: str, folder: Path) -> Iterator[str]:
    """The address of an empty store."""
    if engine == "sqlite":
        yield f"sqlite:///{folder}/main.db"
        return
    with PostgresPlace() as place:
        yield place.url


def askable(document: dict[str, Any]) -> dict[str, Any]:
    """The same without answers that go on for ever, which nobody can wait for.

    Nor readiness: its 503 is right once a request has taken the only worker away.
    """
    del document["paths"]["/readyz"]
    for path, methods in list(document["paths"].items()):
        for method, operation in list(methods.items()):
            media = operation["responses"].get("200", {}).get("content", {})
            if list(media) == ["text/event-stream"]:
                del methods[method]
            shown = operation.get("parameters", ())
            operation["parameters"] = [one for one in shown if one["name"] not in {"follow", "Last-Event-ID"}]
        if not methods:
            del document["paths"][path]
    return document


def ask(serving: Serving, folder: Path, wanted: Wanted, *, seed: int, token: str | None) -> Asked:
    """One round of requests."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    document = serving.http.get(PATH_OF_DOCUMENT, headers=headers)
    if document.status_code == 200:
        (folder / "openapi.json").write_text(json.dumps(askable(document.json())))
    command = [sys.executable, "-m", "schemathesis.cli", "run", str(folder / "openapi.json"), "--url", serving.url]
    command += ["--checks", ",".join(CHECKS), "--max-examples", str(wanted.examples), "--seed", str(seed)]
    command += ["--phases", wanted.phases, "--continue-on-failure", "--no-shrink", "--warnings", "off"]
    command += ["--suppress-health-check", "all", "--request-timeout", "40", "--output-truncate", "false"]
    for name, value in headers.items():
        command += ["-H", f"{name}: {value}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)  # noqa: S603
    found = _COUNTED.search(done.stdout)
    number = int(found[1].replace(",", "")) if found else 0
    return Asked(number, done.returncode == 0, done.stdout + done.stderr)


def engine_round(engine: str, wanted: Wanted) -> tuple[int, list[str]]:
    """So many requests to servers on one engine: how many there were, and what did not hold."""
    total, faults = 0, []
    with tempfile.TemporaryDirectory(prefix="msask") as name, database(engine, Path(name)) as url:
        folder = Path(name)
        store = Store.open(url)
        hand = HandWorker(store)
        hand.arrive()
        store.write(partial(workers.beat, worker=hand.id, state=WorkerState.ACTIVE, lasts=DAY))
        (folder / "schemathesis.toml").write_text(_CONFIGURATION)
        with_token = connect(url, actor="campaign").create_token("campaign", Role.ADMIN)[1]
        for auth, tokens in (("none", [None]), ("token", [with_token, None])):
            serving = Serving(folder, options=("--auth", auth), database=url).wait_until_up()
            for token in tokens:
                tenths = 10 if auth == "token" and token is None else 45
                share = wanted.requests * tenths // 100
                part = 0
                for turn in range(_MOST_ROUNDS):
                    found = ask(serving, folder, wanted, seed=wanted.seed + turn, token=token)
                    part += found.requests
                    if not found.held:
                        faults.append(found.said)
                    if part >= share or not found.requests:
                        break
                total += part
                say(f"{engine}, auth {auth}, {'with' if token else 'without'} a token: {part:,} requests")
            if httpx2.get(f"{serving.url}/healthz", trust_env=False).status_code != 200:
                faults.append(f"{engine}: the server is not well afterwards")
            if serving.end() != 0 or '"level": "error"' in serving.said:  # a setting that was changed is told of, too
                faults.append(f"{engine}: the server had something to complain of:\n{serving.said[-5000:]}")
            serving.close()
        store.close()
    return total, faults


def main(argv: list[str] | None = None) -> int:
    """Ask; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m campaign.requests", description="Requests from the document.")
    parser.add_argument("--requests", type=int, default=20_000, help="at least so many for each engine")
    parser.add_argument("--engine", choices=("sqlite", "postgres"), action="append", help="default: both")
    parser.add_argument("--examples", type=int, default=50, help="of each kind and route in a round")
    parser.add_argument("--phases", default="examples,coverage,fuzzing", help="of schemathesis")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    wanted = Wanted(options.requests, options.examples, options.phases, options.seed)
    faults, short = [], False
    for engine in options.engine or ("sqlite", "postgres"):
        total, wrong = engine_round(engine, wanted)
        faults += wrong
        short = short or total < options.requests
        say(f"{engine}: {total:,} requests, {len(wrong)} rounds with something wrong")
    for fault in faults:
        say(fault)
    return 1 if faults else 2 if short else 0


if __name__ == "__main__":
    sys.exit(main())
