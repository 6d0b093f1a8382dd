"""Commands print the same, and end with the same status, whether they ask a database or a server: no command knows."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from mainspring.cli.main import main
from mainspring.client.direct import DirectClient
from mainspring.domain.attempt import Failure
from mainspring.domain.job import JobFilter
from mainspring.domain.states import Outcome, State
from mainspring.store import Store
from tests.api.serving import HandWorker, Serving, eventually

WORKFLOW = """\
parameters: {type: object, properties: {day: {type: string}}, required: [day]}
nodes:
  - {name: first, task: echo, queue: OWN, params: {text: {$param: day}}}
  - {name: last, task: echo, queue: OWN, needs: [first], retry: {max_attempts: 1}}
result: {day: {$param: day}}
"""
WAYS = ("db", "api")
_VARY = re.compile(
    r'"(?:seq|at|hash|\w+_at|last|id|jobs?|runs?|replay\w*|parent\w*|actor|\w+_by|origin|stop_by|changed|ticks)":\s*'
    r'(?:"[^"]*"|\d+|\[[\d,\s]*\])'
)


class Said(NamedTuple):
    """What a command printed, and how it ended."""

    status: int
    out: str
    err: str


Ask = Callable[..., Said]


@pytest.fixture
def ask(server: Serving, worker: HandWorker, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run a command in one of the two ways."""
    addresses = {"db": server.database, "api": server.url}

    def run(way: str, *words: str) -> Said:
        capsys.readouterr()
        status = main([*words, f"--{way}", addresses[way]])
        return Said(status, *capsys.readouterr())

    return run


def alike(said: Said, own: str) -> Said:
    """The same without what differs between any two of a kind: names, numbers, times, who it was."""

    def plain(text: str) -> str:
        text = _VARY.sub("-", text.replace(own, "NAME"))
        text = re.sub(r"\bnow\b|(?:\bin )?\d[\w.:+-]*(?: ago)?", "#", text)
        text = re.sub(r"[█▏▎▍▌▋▊▉░▒▓]+", "#", text)
        text = re.sub(r"by \S+@\S+|by (?:anybody|client)|\bcli\b|\bapi\b", "WHO", text)
        return re.sub(r"[ -]{2,}", " ", text)

    return Said(said.status, plain(said.out), plain(said.err))


def alike_now(ask: Ask, line: list[str]) -> list[Said]:
    """What it says in both ways, once they tell of the same moment."""
    both = [ask(way, *line) for way in WAYS]
    return both if both[0] == both[1] else []


def check(told: dict[str, list[tuple[str, Said]]]) -> None:
    """Each command said the same in both ways."""
    for (line, of_database), (_, of_server) in zip(told["db"], told["api"], strict=True):
        assert of_database.status == of_server.status, line
        assert (of_database.out + of_database.err).splitlines() == (of_server.out + of_server.err).splitlines(), line


SCHEDULE = [
    "add {} text=hi --task echo --cron '0 3 1 1 *' --tz Europe/Berlin --jitter 5m --json",
    "add {} text=hi --task echo --cron '0 3 1 1 *' --queue later --tag team=mail",
    """set {} overlap=allow jitter=30s cap=7 'retry={"max_attempts":2}' --json""",
    "set {} 'cron=0 4 1 1 *'",
    "set {} colour=red --json",
    "set {} overlap=sometimes",
    "pause {} --note 'until the move is over' --json",
    "trigger {} --json",
    "show {}",
    "resume {}",
    "backfill {} --from 2026-01-01T00:00:00Z --to 2026-01-02T00:00:00Z --dry-run",
    "backfill {} --from 2026-02-01T00:00:00Z --to 2026-02-02T00:00:00Z --order newest --json",  # none, or it goes on
    "backfill {} --from 2026-01-02T00:00:00Z --to 2026-01-01T00:00:00Z",
    "outage {} --from 2026-01-01T00:00:00Z --to 2026-01-02T00:00:00Z",
    "reset {} --json",
    "show {} --json",
    "remove {}",
    "show {} --json",
    "trigger nobody",
    "add {} --task nothing --every 1h --json",
    "add {} count=many --task echo --every 1h",
    "add {} --task echo --cron '61 * * * *' --json",
    "add {} --workflow nobody --every 1h",
]


def test_a_schedule_is_looked_after_in_the_same_way(ask: Ask) -> None:
    told: dict[str, list[tuple[str, Said]]] = {}
    for way in WAYS:
        own = f"of-{way}"
        told[way] = [
            (line, alike(ask(way, "schedule", *shlex.split(line.replace("{}", own))), own)) for line in SCHEDULE
        ]
    check(told)
    line = ["jobs", "--limit", "1", "--task", "echo", "--queue", "later", "--json"]
    made = eventually(partial(alike_now, ask, line))
    assert json.loads(made[0].out)[0]["tick"]["schedule"].startswith("of-"), "what made it is told, too"


ENDED = [
    "run-show {}",
    "run-show {} --json",
    "events --run {}",
    "events --run {} --json",
    "resume {} --from nothing --json",
    "resume {} --json",
    "resume {}",
    "restart {} --newest",
    "run-cancel {}",
    "export run {}",
    "export run {} --format dot",
    "run {file}",
    "run {file} day=tuesday",
    "run nobody --json",
    "run-show 987654",
]


def test_a_run_is_started_watched_and_replayed_in_the_same_way(
    ask: Ask, store: Store, worker: HandWorker, tmp_path: Path
) -> None:
    direct = DirectClient(store)
    told: dict[str, list[tuple[str, Said]]] = {}
    for way in WAYS:
        own = f"flow-{way}"
        file = tmp_path / f"{own}.yaml"
        file.write_text(f"name: {own}\n{WORKFLOW.replace('OWN', own)}")
        run = json.loads(ask(way, "run", str(file), "day=monday", "--json").out)["id"]
        worker.end(worker.claim(own), Outcome.SUCCEEDED, result=b"1")
        goes_on = JobFilter(queue=own, state=State.QUEUED)
        eventually(partial(lambda wanted: direct.count(wanted) == 1, goes_on))
        going = [f"run-show {run}", f"runs --workflow {own} --state live --json", f"restart {run}"]
        said = [(words, ask(way, *words.split())) for words in going]
        worker.end(worker.claim(own), Outcome.FAILED, failure=Failure("ValueError", "no rows"))
        eventually(partial(lambda number: direct.run(number).done, run))
        ended = [line.format(run, file=file).split() for line in ENDED]
        said += [(line, ask(way, *words)) for line, words in zip(ENDED, ended, strict=True)]
        newest = json.loads(ask(way, "runs", "--workflow", own, "--limit", "1", "--json").out)[0]["id"]
        said.append(("run-cancel", ask(way, "run-cancel", str(newest), "--json")))
        told[way] = [(line.replace(str(run), "RUN").replace(own, "NAME"), alike(one, own)) for line, one in said]
    check(told)


LISTS = [
    "jobs --limit 5",
    "jobs --count",
    "queues",
    "tasks",
    "audit",
    "token list",
    "users list",
    "config history",
    "topics",
    "subscriptions",
    "webhooks",
    "job {job}",
    "events --limit 7",
    "events --kind queued --limit 3",
    "events --job {job} --kind queued",
    "workflows",
    "runs",
    "schedules",
    "schedule load --from 2026-12-24T12:00:00Z",
    "top",
]


@pytest.mark.parametrize("words", LISTS)
def test_what_is_listed_is_the_same_either_way(ask: Ask, words: str) -> None:
    job = json.loads(ask("db", "submit", "echo", "--queue", "listed", "--json").out)["id"]
    line = [*words.format(job=job).split(), "--json"]
    direct, _ = eventually(partial(alike_now, ask, line))
    assert direct.status == 0
    assert json.loads(direct.out) is not None


REFUSED = [
    *("jobs --limit 0", "jobs --limit 1001", "jobs --tag bogus", "jobs --count --tag bogus", "jobs --cursor bogus"),
    *("runs --limit -1", "runs --state bogus", "config history --limit 0", "config history --cursor -1"),
    *("events --limit 0", "events --kind dead --limit 10001", "events --kind dead,job.dead", "events --after -1"),
    *("events --run 1 --limit 1001", "topics t --limit 1001", "topics t --after -1", "audit --limit 10001"),
    *("logs --system --limit 0", "logs 1 --attempt 0", "webhook deliveries nobody --limit 0"),
]


@pytest.mark.parametrize("words", REFUSED)
def test_what_no_list_has_is_refused_in_the_same_words_either_way(ask: Ask, words: str) -> None:
    direct, over_api = (ask(way, *words.split(), "--json") for way in WAYS)
    assert direct == over_api
    assert direct.status == 4
    assert direct.out == ""


def test_the_last_events_of_a_kind_are_found_however_much_happened_since(ask: Ask) -> None:
    job = json.loads(ask("db", "submit", "echo", "--queue", "unserved", "--json").out)["id"]
    ask("db", "cancel", str(job))
    for _ in range(5):
        ask("db", "submit", "echo", "--queue", "unserved", "--json")
    for way in WAYS:
        for which in ("--kind cancelled", "--kind cancel,expire", f"--job {job}"):
            last = json.loads(ask(way, "events", *which.split(), "--limit", "1", "--json").out)
            assert [(event["job"], event["cause"]) for event in last] == [(job, "cancel")]
        assert len(json.loads(ask(way, "events", "--limit", "3", "--json").out)) == 3
