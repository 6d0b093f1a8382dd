"""Where an answer goes: a closed stream, a full disk, a reader that leaves. What was done is told all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mainspring.client.direct import connect
from mainspring.domain.job import JobRequest
from tests.processes.commands import ROOT, Said
from tests.processes.test_cli_jobs import SHOP

DATABASE = "sqlite:///m.db"
WAYS = {"closed": ">&-", "full": ">/dev/full"}


def shell(folder: Path, words: str, redirected: str) -> Said:
    """A command as a shell starts it."""
    done = subprocess.run(
        ["/bin/bash", "-c", f'exec "$0" -m mainspring {words} {redirected}', sys.executable],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "MAINSPRING_DATABASE_URL": DATABASE, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    client = connect(f"sqlite:///{tmp_path}/m.db")
    client.declare(SHOP)
    client.submit([JobRequest("shop.receipt", {"order_id": 1, "note": "x" * 2_000}) for _ in range(200)])
    client.close()
    return tmp_path


def jobs_in(folder: Path) -> int:
    client = connect(f"sqlite:///{folder}/m.db")
    try:
        return client.submit([JobRequest("shop.clean")])[0].job - 1
    finally:
        client.close()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "words",
    [
        "jobs --limit 3 --queue mail --state dead",
        "jobs --limit 200",
        "job 1",
        "tasks",
        "--help",
        "jobs --help",
        "--version",
    ],
)
def test_an_answer_that_can_not_be_written_is_told_in_one_line(folder: Path, words: str, way: str):
    said = shell(folder, words, WAYS[way])
    reason = {"closed": "Bad file descriptor", "full": "No space left on device"}[way]
    assert said == (74, "", f"error: The answer can't be written to standard output: {reason}.\n")


@pytest.mark.parametrize("way", WAYS.values())
def test_for_programs_that_error_is_json_too(folder: Path, way: str):
    said = shell(folder, "jobs --json", way)
    assert (said.status, said.out, said.error["code"]) == (74, "", "output_failed")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", ["", "--json"])
def test_a_submit_that_can_not_answer_says_what_it_has_stored(folder: Path, way: str, form: str):
    said = shell(folder, f"submit receipt order_id=7 {form}", WAYS[way])
    assert (said.status, said.out) == (74, "")
    assert "job 201 is stored all the same.\n" in said.err
    assert "Traceback" not in said.err
    assert jobs_in(folder) == 201


def test_a_reader_that_has_seen_enough_ends_a_list_quietly(folder: Path):
    said = shell(folder, "jobs --limit 200 --json", "| head -c 10; echo ${PIPESTATUS[0]} >&2")
    assert (said.out, said.err) == ('[{"id":200', "141\n")


@pytest.mark.parametrize("words", ["jobs", "tasks --help", "demo"])
def test_a_reader_that_is_gone_ends_tables_help_and_the_demo_as_quietly(folder: Path, words: str):
    assert shell(folder, words, "| true; echo ${PIPESTATUS[0]} >&2") == (0, "", "141\n")


def test_a_submit_whose_reader_is_gone_is_quiet_but_for_its_id(folder: Path):
    said = shell(folder, "submit receipt order_id=7", "| (exec <&-; sleep 0.1); echo ${PIPESTATUS[0]} >&2")
    assert said.err in {"job 201 is stored all the same.\n141\n", "0\n"}  # the pipe may take it before it is closed
    assert jobs_in(folder) == 201


def test_without_standard_error_the_answer_stays_what_it_was(folder: Path):
    for redirected in ("2>&-", "2>/dev/full"):
        said = shell(folder, "jobs --limit 2 --json", redirected)
        assert (said.status, len(said.answer), said.err) == (0, 2, "")
        assert shell(folder, "job 999", redirected) == (3, "", "")


def test_parameters_can_not_be_read_from_a_closed_standard_input(folder: Path):
    said = shell(folder, "submit receipt --params @-", "<&-")
    assert (said.status, said.out) == (4, "")
    assert "--params @- can't be read" in said.err


def test_a_demo_that_nobody_can_read_ends_in_a_line_and_leaves_nothing_running(folder: Path):
    said = shell(folder, "demo", ">/dev/full").err
    assert said == "error: The answer can't be written to standard output: No space left on device.\n"
