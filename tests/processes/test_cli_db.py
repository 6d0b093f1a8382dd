"""``mainspring db`` and ``mainspring export`` as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest

from mainspring.clock import DAY, Instant, SystemClock
from mainspring.control import jobs
from mainspring.control.catalog import declare
from mainspring.control.submit import submit
from mainspring.domain.job import JobRequest
from mainspring.faults import FaultPoint
from mainspring.store import Store
from mainspring.store.statements import migrations
from tests import postgres
from tests.contract.engines import HandClock
from tests.contract.stories import SHOP
from tests.processes.commands import CommandLine

HERE = "sqlite:///.mainspring/mainspring.db"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize(
    "words", [("db", "upgrade"), ("db", "check"), ("db", "backup", "x.db"), ("db", "prune"), ("export", "jobs")]
)
def test_where_there_is_no_database_none_is_made(cli: CommandLine, words: tuple[str, ...]):
    said = cli(*words, "--json")
    assert (said.status, said.error["code"]) == (5, "no_database")
    assert list(cli.folder.iterdir()) == []


@pytest.mark.parametrize("words", [("db", "check"), ("export", "events"), ("worker",), ("server",), ("up",)])
def test_what_works_on_a_database_says_so_to_whoever_names_a_server(cli: CommandLine, words: tuple[str, ...]):
    said = cli(*words, "--api", "http://127.0.0.1:1", "--json")
    assert (said.status, said.error["code"], said.error["field"]) == (2, "wrong_use", "api")
    assert "works on a database" in said.err
    assert list(cli.folder.iterdir()) == []


def test_a_sound_database_is_called_so_and_a_damaged_one_ends_with_5(cli: CommandLine):
    Store.open(HERE).close()
    said = cli("db", "check")
    assert said.status == 0
    assert said.out.endswith("The database is sound.\n")
    hand = apsw.Connection(".mainspring/mainspring.db")
    hand.execute("insert into expiry values (7, 7)")
    hand.close()
    said = cli("db", "check", "--json")
    assert said.status == 5
    assert said.answer["sound"] is False
    assert {one["name"]: one["details"] for one in said.answer["findings"] if one["level"] == "fault"} == {
        "orphans": ["expiry: job 7"]
    }


def test_kept_counts_that_are_wrong_are_put_right_by_repair(cli: CommandLine):
    Store.open(HERE).close()
    hand = apsw.Connection(".mainspring/mainspring.db")
    hand.execute("insert into reader (name, cursor) values ('depths', 0)")
    hand.execute("insert into lane (id, queue, app, lodging, requires, slots) values (1, 'mail', 'shop', '', '{}', 1)")
    hand.execute("insert into depth (lane, task, state, jobs) values (1, 'shop.send', 'dead', 3)")
    hand.close()
    said = cli("db", "check")
    assert said.status == 5
    assert "queue mail, task shop.send: 3 dead, and 0 are there" in said.out
    said = cli("db", "check", "--repair")
    assert said.status == 0
    assert "1 kept counts were put right." in said.out
    assert cli("db", "check").status == 0


def test_an_upgrade_says_what_it_did(cli: CommandLine):
    Store.open(HERE).close()
    newest = migrations("sqlite")[-1][0]
    assert f"mainspring.db: version {newest}, nothing to do." in cli("db", "upgrade").out
    assert [one["made"] for one in cli("db", "upgrade", "--json").answer] == [[], []]


def test_an_upgrade_of_an_empty_postgresql_database_makes_its_tables(
    cli: CommandLine, postgres_server: postgres.Server
):
    url = postgres.new_database(postgres_server, f"u{postgres.unique()}", empty=True)
    newest = migrations("postgres")[-1][0]
    assert f"from version 0 to {newest}." in cli("db", "upgrade", "--db", url).out
    assert f"version {newest}, nothing to do." in cli("db", "upgrade", "--db", url).out
    assert cli("db", "check", "--db", url).status == 0


def test_a_backup_names_its_files_and_the_command_for_postgresql(cli: CommandLine, postgres_url: str):
    Store.open(HERE).close()
    assert cli("db", "backup", "copy.db", "--json").answer == ["copy.db", "copy.logs.db"]
    assert cli("db", "check", "--db", "sqlite:///copy.db").status == 0
    said = cli("db", "backup", "copy.dump", "--db", postgres_url)
    assert said.status == 4
    assert "pg_dump --format=custom" in said.err


def test_a_prune_takes_what_is_old_enough_and_says_how_many(cli: CommandLine):
    months_ago = HandClock(Instant(SystemClock().now() - 80 * DAY))
    store = Store.open(HERE, clock=months_ago)
    declare(store, SHOP)
    for receipt in submit(store, [JobRequest("shop.send")] * 4, actor="client")[:3]:
        jobs.cancel(store, receipt.job, actor="client")
    submit(store, [JobRequest("shop.send")], actor="client")  # the newest event is not of one that goes
    store.close()
    nothing = {"succeeded": 0, "dead": 0, "cancelled": 0}
    assert cli("db", "prune", "--keep-cancelled", "90d", "--json").answer == nothing
    assert cli("db", "prune", "--dry-run").out == "Would go: 0 succeeded, 0 dead, 3 cancelled.\n"
    assert cli("db", "prune", "--json").answer == nothing | {"cancelled": 3}
    assert cli("db", "prune").out == "Gone: 0 succeeded, 0 dead, 0 cancelled.\n"
    assert cli("jobs", "--count", "--json").answer == {"count": 2}
    refused = cli("db", "prune", "--keep-dead", "0s", "--json")
    assert (refused.status, refused.error["code"]) == (4, "invalid_setting")
    assert cli("db", "check").status == 0


def test_an_export_is_one_document_a_line(cli: CommandLine):
    assert cli("export", "jobs").status == 5
    store = Store.open(HERE)
    store.close()
    assert cli("export", "jobs").out == ""
    said = cli("export", "runs")
    assert said.status == 2
    for line in cli("export", "events").out.splitlines():
        json.loads(line)


def test_a_move_that_is_killed_goes_on_with_the_same_command_and_loses_nothing(cli: CommandLine, postgres_url: str):
    store = Store.open(HERE)
    declare(store, SHOP)
    submit(store, [JobRequest("shop.send", params={"n": number}) for number in range(2_000)], actor="client")
    store.close()
    before = cli("export", "jobs").out, cli("export", "events").out
    assert before[0].count("\n") == 2_000
    for nth in (1, 3, 8):
        killed = cli.process(
            "db", "move", postgres_url, MAINSPRING_FAULTS=f"{FaultPoint.MOVE_BEFORE_COMMIT.value}=kill@{nth}"
        )
        assert killed.status == -9
    said = cli("db", "move", postgres_url, "--json")
    assert said.status == 0
    assert said.answer["job"] == said.answer["ready"] == 2_000
    assert (
        cli("export", "jobs", "--db", postgres_url).out,
        cli("export", "events", "--db", postgres_url).out,
    ) == before
    assert (cli("export", "jobs").out, cli("export", "events").out) == before, "the source can still be read"
    for again in (("submit", "shop.send"), ("db", "move", postgres_url)):
        said = cli(*again, "--json")
        assert (said.status, said.error["code"]) == (5, "store_moved")
        assert "--db postgresql://" in said.error["remedy"]
    (told,) = [one for one in cli("db", "check", "--json").answer["findings"] if one["name"] == "move"]
    assert (told["level"], told["details"]) == ("warning", [said.error["remedy"]])


def test_a_move_needs_a_target_and_says_so(cli: CommandLine):
    Store.open(HERE).close()
    assert cli("db", "move").status == 2
    assert cli("db", "move", HERE, "--json").error["code"] == "move_refused"
    assert cli("db", "move", "--abandon", "--json").error["code"] == "move_refused"
