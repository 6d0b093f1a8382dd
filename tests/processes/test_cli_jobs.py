"""The commands that look at jobs and act on them, on a real database without a worker."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mainspring.cli.jobs import took
from mainspring.client.direct import DirectClient, connect
from mainspring.clock import HOUR, SECOND, Instant
from mainspring.domain.job import JobRequest
from mainspring.domain.states import State
from mainspring.domain.task import Catalog, Executor, Task
from mainspring.domain.worker import WorkerState
from mainspring.errors import InvalidParameters
from mainspring.store import Transaction, workers
from mainspring.store.workers import Hello
from tests.processes.commands import CommandLine


def task(name: str, app: str = "shop", **properties: Any) -> Task:
    required = [key for key, schema in properties.items() if "default" not in schema]
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return Task(
        name=f"{app}.{name}",
        app=app,
        executor=Executor.ASYNC,
        queue="mail" if name == "receipt" else app,
        schema=schema,
        retry={"max_attempts": 5},
        description="Send it.",
    )


SHOP = Catalog(
    "shop",
    "1",
    (
        task("receipt", order_id={"type": "integer"}, note={"type": "string", "default": ""}),
        task("clean"),
        task("rest", pause={"type": "string", "format": "duration", "default": "PT1S"}),
    ),
)
BANK = Catalog("bank", "1", (task("clean", "bank"),))


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    line = CommandLine(tmp_path, monkeypatch, capsys)
    client = platform()
    client.declare(SHOP)
    client.declare(BANK)
    client.close()
    return line


def platform() -> DirectClient:
    return connect("sqlite:///.mainspring/mainspring.db")


def requests(count: int, **options: Any) -> list[int]:
    client = platform()
    receipts = client.submit([JobRequest("shop.receipt", {"order_id": n}, **options) for n in range(count)])
    client.close()
    return [receipt.job for receipt in receipts]


# --- submit ---------------------------------------------------------------------------------------------------------


def test_a_submit_answers_with_the_stored_job(cli: CommandLine):
    words = ("submit", "receipt", "order_id=7", "note=7", "--tag", "team=mail", "--tag", "x=a=b", "--priority", "-2")
    job = cli(*words, "--queue", "fast", "--timeout", "90s", "--max-attempts", "2", "--json").answer
    assert (job["task"], job["state"], job["params"]) == ("shop.receipt", "queued", {"order_id": 7, "note": "7"})
    assert (job["tags"], job["priority"], job["queue"]) == ({"team": "mail", "x": "a=b"}, -2, "fast")
    assert (job["timeout"], job["max_attempts"]) == ("1m30s", 2)
    assert cli("job", str(job["id"]), "--json").answer["params"] == job["params"]


def test_a_submit_for_people_says_id_and_state(cli: CommandLine):
    assert cli("submit", "shop.receipt", "order_id=7").out == "job 1 queued: shop.receipt order_id=7\n"
    assert cli("submit", "shop.clean").out == "job 2 queued: shop.clean\n"


def test_a_submit_with_a_key_that_a_job_has_shows_that_job(cli: CommandLine):
    first = cli("submit", "receipt", "order_id=7", "--unique", "order-7", "--json").answer
    second = cli("submit", "receipt", "order_id=8", "--unique", "order-7", "--json")
    assert second.answer == first
    assert f"job {first['id']} has the unique key 'order-7'; nothing new was submitted." in second.err
    assert "order_id=7" in cli("submit", "receipt", "order_id=9", "--unique", "order-7").out
    assert cli("submit", "shop.clean", "--unique", "order-7", "--json").answer["id"] != first["id"]


def test_due_times_make_a_scheduled_job(cli: CommandLine):
    assert cli("submit", "receipt", "order_id=1", "--delay", "10m", "--json").answer["state"] == "scheduled"
    later = cli("submit", "receipt", "order_id=1", "--at", "2999-01-01T00:00:00+01:00", "--json").answer
    assert (later["state"], later["run_at"]) == ("scheduled", "2998-12-31T23:00:00Z")
    assert cli("submit", "receipt", "order_id=1", "--expires", "1h", "--json").answer["expires_at"]


def test_a_length_of_time_is_written_as_people_do_whoever_submits(cli: CommandLine):
    assert cli("submit", "rest", "pause=1m30s", "--json").answer["params"] == {"pause": "PT90S"}
    client = platform()
    (receipt,) = client.submit([JobRequest("shop.rest", {"pause": "250ms"})])
    assert client.job(receipt.job).params == {"pause": "PT0.25S"}
    lengths = ["PT0.25S", "P1DT1H", "-PT4S", "P1W"]
    for receipt, length in zip(
        client.submit([JobRequest("shop.rest", {"pause": length}) for length in lengths]), lengths, strict=True
    ):
        assert client.job(receipt.job).params == {"pause": length}
    with pytest.raises(InvalidParameters, match="soon"):
        client.submit([JobRequest("shop.rest", {"pause": "soon"})])
    client.close()


def test_parameters_may_come_as_a_document_or_a_file(cli: CommandLine):
    (cli.folder / "p.json").write_text('{"order_id": 3, "note": "ü"}')
    assert cli("submit", "receipt", "--params", "@p.json", "--json").answer["params"] == {"order_id": 3, "note": "ü"}
    job = cli("submit", "receipt", "order_id=4", "--params", '{"order_id": 3, "note": "n"}', "--json").answer
    assert job["params"] == {"order_id": 4, "note": "n"}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("receit", "order_id=1"), "unknown_task", "Did you mean receipt"),
        (("clean",), "unknown_task", r"not unique.*bank\.clean or shop\.clean"),
        (("receipt",), "invalid_parameters", "'order_id' is missing"),
        (("receipt", "order_id=x"), "invalid_parameters", "'order_id' of shop.receipt is 'x'; it must be integer"),
        (("receipt", 'order_id="7"'), "invalid_parameters", "order_id"),
        (("receipt", "order_id=7", "nte=x"), "invalid_parameters", "'nte'.*note"),
        (("receipt", "order_id=7", "order_id=8"), "invalid_parameters", "twice"),
        (("receipt", "order_id"), "invalid_parameters", "not name=value"),
        (("receipt", "=7"), "invalid_parameters", "not name=value"),
        (("receipt", "--params", "{"), "invalid_json", "line 1"),
        (("receipt", "--params", "[1]"), "invalid_parameters", "must be a JSON object"),
        (("receipt", "--params", "@none.json"), "invalid_input", "none.json"),
        (("receipt", "order_id=7", "--delay", "soon"), "invalid_duration", "soon"),
        (("receipt", "order_id=7", "--at", "tomorrow"), "invalid_instant", "tomorrow"),
        (("receipt", "order_id=7", "--at", "2026-01-01T00:00:00"), "invalid_instant", "zone"),
        (("receipt", "order_id=7", "--delay", "1s", "--at", "2999-01-01T00:00:00Z"), "invalid_option", "both"),
        (("receipt", "order_id=7", "--tag", "mail"), "invalid_option", "key=value"),
        (("receipt", "order_id=7", "--priority", "9999"), "invalid_option", "priority"),
        (("receipt", "order_id=7", "--max-attempts", "0"), "invalid_option", "max_attempts"),
        (("receipt", "order_id=7", "--timeout", "0s"), "invalid_option", "timeout"),
        (("receipt", "order_id=7", "--unique", "k" * 256), "invalid_option", "unique"),
        (("receipt", "order_id=1e999"), "invalid_json|invalid_parameters", "order_id"),
        (("receipt", "order_id=7", "note=a\0b"), "invalid_text", "NUL"),
        (("receipt", "order_id=7", f"note={'x' * 1_100_000}"), "payload_too_large", "1,048,576"),
    ],
)
def test_a_bad_submit_is_refused_and_changes_nothing(cli: CommandLine, words: tuple[str, ...], code: str, said: str):
    answer = cli("submit", *words, "--json")
    assert (answer.status, answer.out) == (4, "")
    assert answer.error["code"] in code.split("|")
    assert re.search(said, f"{answer.error['message']} {answer.error['remedy']}", re.DOTALL), answer.err
    assert cli("jobs", "--count", "--json").answer == {"count": 0}


# --- lists ----------------------------------------------------------------------------------------------------------


def test_a_list_is_one_array_newest_first_and_pages_by_cursor(cli: CommandLine):
    ids = requests(5)
    assert [job["id"] for job in cli("jobs", "--json").answer] == ids[::-1]
    first = cli("jobs", "--limit", "2")
    cursor = re.search(r"--cursor (\S+)", first.err)
    assert cursor
    assert [job["id"] for job in cli("jobs", "--cursor", cursor[1], "--json").answer] == ids[::-1][2:]


def test_a_list_goes_on_where_an_answer_ends_early_as_few_of_many_match(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
):
    rare = requests(2, queue="rare")
    requests(9)
    monkeypatch.setattr("mainspring.store.walk.STRIDES", (1, 2))
    assert [job["id"] for job in cli("jobs", "--queue", "rare", "--json").answer] == rare[::-1]
    assert [job["id"] for job in cli("jobs", "--queue", "rare", "--limit", "1", "--json").answer] == rare[:0:-1]


def test_filters_choose_and_count(cli: CommandLine):
    requests(2, tags={"team": "mail"})
    requests(1, delay="1h", queue="slow")
    for words, count in (
        (("--state", "queued"), 2),
        (("--state", "scheduled"), 1),
        (("--queue", "slow"), 1),
        (("--tag", "team=mail"), 2),
        (("--task", "receipt"), 3),
        (("--task", "shop.clean"), 0),
        (("--since", "1h"), 3),
        (("--until", "1h"), 0),
        (("--since", "2020-01-01T00:00:00Z", "--state", "queued"), 2),
    ):
        assert len(cli("jobs", *words, "--json").answer) == count, words
        assert cli("jobs", *words, "--count").out == f"{count}\n"
        assert cli("jobs", *words, "--count", "--json").answer == {"count": count}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--state", "runing"), "Did you mean running"),
        (("--state", "new"), "is not a state"),
        (("--task", "receit"), "Did you mean receipt"),
        (("--state", "done"), "States: scheduled, queued, running, retrying, succeeded, dead, cancelled."),
        (("--since", "yesterday"), "'yesterday' is not a time with a zone, nor how long ago.\n  Write 1h, or ISO"),
        (("--limit", "0"), "from 1 to 1000"),
        (("--cursor", "x"), "not a cursor"),
    ],
)
def test_a_filter_that_can_not_be_is_refused(cli: CommandLine, words: tuple[str, ...], said: str):
    answer = cli("jobs", *words)
    assert (answer.status, answer.out) == (4, "")
    assert said in answer.err


def test_a_table_has_a_line_for_each_job_with_the_state_as_a_word(cli: CommandLine):
    requests(1)
    client = platform()
    client.submit([JobRequest("shop.receipt", {"order_id": 1, "note": "two\nlines\x1b[2J" + "x" * 300})])
    client.close()
    titles, second, first = cli("jobs").out.splitlines()
    assert titles.split() == ["ID", "STATE", "TASK", "QUEUE", "ATTEMPT", "CREATED", "TOOK", "PARAMS"]
    assert re.match(r" ?2  ○ queued +shop\.receipt +mail +- +now +- ", second)
    assert "\\n" in second
    assert "\x1b" not in second
    assert 110 <= len(second) <= 120
    assert "order_id=0" in first


def test_empty_lists_say_what_would_fill_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    bare = CommandLine(tmp_path, monkeypatch, capsys)
    platform().close()
    assert bare("jobs").out == "No jobs.\n"
    assert "mainspring up" in bare("workers").out
    assert "mainspring up" in bare("tasks").out
    assert bare("events").out == "No events.\n"
    for words in (("workers",), ("tasks",), ("events",)):
        assert bare(*words, "--json").answer == []


def test_only_what_runs_or_has_ended_takes_time(cli: CommandLine):
    client = platform()
    plain = client.job(requests(1)[0])
    client.close()
    start = plain.created_at
    now, end = Instant(start + 9 * SECOND), Instant(start + 2 * SECOND)
    for state, finished, told in (
        (State.QUEUED, None, "-"),
        (State.RETRYING, None, "-"),
        (State.RUNNING, None, "9.0s"),
        (State.SUCCEEDED, end, "2.0s"),
    ):
        job = msgspec.structs.replace(plain, state=state, started_at=start, finished_at=finished)
        assert took(job, now) == told, state


# --- one job --------------------------------------------------------------------------------------------------------


def test_the_page_of_a_job_tells_its_story(cli: CommandLine):
    job = requests(1, tags={"team": "mail"})[0]
    page = cli("job", str(job)).out
    for part in ("job 1", "shop.receipt", "○ queued", "order_id=0", "team=mail", "0 of 5", "Events", "submitted"):
        assert part in page
    answer = cli("job", str(job), "--json").answer
    assert (answer["id"], answer["attempts"]) == (job, [])
    assert [event["to"] for event in answer["events"]] == ["queued"]


@pytest.mark.parametrize("command", ["job", "cancel", "retry", "logs"])
@pytest.mark.parametrize("word", ["999", "abc", "0", "-1", "9" * 30, "job 999"])
def test_an_unknown_id_is_3(cli: CommandLine, command: str, word: str):
    said = cli(command, "--json", "--", word)
    assert (said.status, said.out, said.error["code"]) == (3, "", "unknown_job")


def test_cancel_and_retry_answer_with_the_job_and_refuse_what_can_not_be(cli: CommandLine):
    job = str(requests(1)[0])
    refused = cli("retry", job, "--json")
    assert (refused.status, refused.error["code"]) == (4, "illegal_state")
    assert cli("cancel", job).out == f"job {job} cancelled\n"
    assert cli("cancel", job).status == 4
    again = cli("retry", job, "--json").answer
    assert (again["replay_of"], again["state"]) == (int(job), "queued")
    live = cli("retry", job, "--json")
    assert (live.status, live.error["code"]) == (4, "replay_live")
    assert cli("cancel", str(again["id"]), "--json").answer["state"] == State.CANCELLED
    assert f"runs job {job} again" in cli("retry", job).out


def test_events_are_in_order_with_cursor_and_kinds(cli: CommandLine):
    first, second = requests(2)
    cli("cancel", str(first))
    told = cli("events", "--json").answer
    assert [(event["job"], event["to"]) for event in told] == [
        (first, "queued"),
        (second, "queued"),
        (first, "cancelled"),
    ]
    assert cli("events", "--after", str(told[1]["seq"]), "--json").answer == told[2:]
    assert cli("events", "--kind", "cancelled", "--json").answer == told[2:]
    assert [event["job"] for event in cli("events", "--job", str(second), "--json").answer] == [second]
    assert cli("events", "--limit", "1", "--json").answer == told[2:]
    assert len(cli("events").out.splitlines()) == 3
    assert cli("events", "--kind", "canceled").status == 4


def test_tasks_show_what_they_take(cli: CommandLine):
    assert {task["name"] for task in cli("tasks", "--json").answer} == {
        "shop.receipt",
        "shop.clean",
        "shop.rest",
        "bank.clean",
    }
    row = next(line for line in cli("tasks").out.splitlines() if line.startswith("shop.receipt"))
    assert "order_id: integer, note?: string" in row
    assert "Send it." in row


def test_logs_of_a_job_that_has_not_run_are_empty_and_say_why(cli: CommandLine):
    job = str(requests(1)[0])
    assert cli("logs", job) == (0, "", f"job {job} is queued and has not started.\n")
    assert cli("logs", job, "--attempt", "3").err == f"job {job} has had 0 attempts.\n"
    assert cli("logs", job, "--json").answer == []


# --- who would run it -----------------------------------------------------------------------------------------------


def arrive(name: str, *tasks: str, queues: tuple[str, ...] = (), state: WorkerState = WorkerState.ACTIVE) -> None:
    """A worker as it reports itself."""
    client = platform()

    def work(tx: Transaction) -> None:
        hello = Hello(name, name, "here", 1, "shop", "1", "0.1.0", list(queues), {}, 4, list(tasks), {})
        workers.beat(tx, workers.register(tx, hello), state, HOUR)

    client.store.write(work)
    client.close()


def test_a_submit_that_nobody_would_run_says_so_with_the_command_that_helps(cli: CommandLine):
    said = cli("submit", "receipt", "order_id=7")
    assert said.out == "job 1 queued: shop.receipt order_id=7\n"
    assert said.err == "job 1 waits: no live worker runs shop.receipt. Start one: mainspring up --app app.py\n"
    assert "no live worker runs shop.receipt" in cli("submit", "receipt", "order_id=7", "--json").err
    assert re.search(r"waits +no live worker runs shop\.receipt\. Start one: mainspring up", cli("job", "1").out)
    arrive("drained", "shop.receipt", state=WorkerState.DRAINING)
    arrive("other", "shop.clean")
    assert "no live worker" in cli("submit", "receipt", "order_id=7").err
    arrive("right", "shop.receipt")
    assert cli("submit", "receipt", "order_id=7").err == ""
    assert "no live worker" not in cli("job", "1").out


def test_a_worker_of_other_queues_is_nobody_either(cli: CommandLine):
    arrive("picky", "shop.receipt", queues=("slow",))
    assert "no live worker takes jobs of queue mail (picky knows" in cli("submit", "receipt", "order_id=7").err
    assert cli("submit", "receipt", "order_id=7", "--queue", "slow").err == ""


def test_an_ended_job_waits_for_nobody(cli: CommandLine):
    cli("submit", "receipt", "order_id=7")
    cli("cancel", "1")
    assert "no live worker" not in cli("job", "1").out
