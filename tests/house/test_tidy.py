"""The rules hold in this checkout, and each check finds what is planted for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.house import tidy
from tests.house.tree import ROOT, Finding, report

Check = Callable[[Path], list[Finding]]
CHECKS: list[Check] = [
    tidy.banned_names,
    tidy.forbidden_module_names,
    tidy.sql_in_python,
    tidy.composed_statements,
    tidy.loose_statements,
    tidy.untold_errors,
    tidy.untested_faults,
    tidy.unowned_notes,
    tidy.long_files,
    tidy.dependency_drift,
]


def test_the_house_is_tidy_and_its_sizes_are_reported() -> None:
    """One test, as most of the time goes into reading all files."""
    found = [finding for check in CHECKS for finding in check(ROOT)]
    assert not found, report(found)
    assert "largest files:" in tidy.size_report(ROOT)


PYPROJECT = '[project]\nname = "mainspring"\ndependencies = ["msgspec>=0.19"]\n'


def plant(root: Path, written: dict[str, str]) -> Path:
    """A small tree of these files: below the package, unless the path says tests or docs."""
    root.mkdir(exist_ok=True)
    (root / "pyproject.toml").write_text(PYPROJECT)
    for path, text in written.items():
        place = root / path if path.startswith(("tests/", "docs/")) else root / "src" / "mainspring" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return root


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_an_empty_package_is_tidy(check: Check, tmp_path: Path) -> None:
    assert check(plant(tmp_path, {"__init__.py": ""})) == []


@pytest.mark.parametrize(
    ("place", "code", "right"),
    [
        ("engine/sweep.py", "import time\n", "Clock"),
        ("engine/sweep.py", "from time import monotonic as tick\n", "Clock"),
        ("server/app.py", "def f():\n    import time as t\n    t.sleep(1)\n", "Clock"),
        ("domain/cron.py", "from datetime import datetime\nnow = datetime.now\n", "Clock.now()"),
        ("domain/cron.py", "import datetime as dt\nx = dt.datetime.utcnow()\n", "Clock.now()"),
        ("domain/cron.py", "from datetime import date\nx = date.today()\n", "Clock.now()"),
        ("server/app.py", "import asyncio\n\nasync def f():\n    await asyncio.sleep(1)\n", "asyncio.wait_for"),
        ("server/app.py", "from asyncio import sleep\n", "asyncio.wait_for"),
        ("domain/retry.py", "import random\n", "Chance"),
        ("store/jobs.py", "from secrets import token_hex\n", "Chance"),
        ("store/jobs.py", "import uuid\n", "Chance"),
        ("store/jobs.py", "import os\nx = os.urandom(8)\n", "Chance"),
        ("server/app.py", "print('up')\n", "cli/show.py"),
        ("cli/jobs.py", "def f(say=print): ...\n", "cli/show.py"),
        ("cli/jobs.py", "import os\nx = os.environ['HOME']\n", "mainspring.config"),
        ("store/jobs.py", "from os import getenv\n", "mainspring.config"),
        ("server/app.py", "import subprocess\n", "supervisor"),
        ("server/app.py", "import os\nos.fork()\n", "supervisor"),
        ("worker/capture.py", "import asyncio\nf = asyncio.create_subprocess_shell\n", "no shell"),
        ("engine/drive.py", "import asyncio\n", "shells"),
        ("control/submit.py", "from threading import Lock\n", "shells"),
        ("domain/task.py", "import os\n", "pure"),
        ("store/jobs.py", "import apsw\n", "store"),
        ("store/jobs.py", "import sqlite3\n", "store"),
        ("client/direct.py", "import psycopg.rows\n", "store"),
        ("control/read.py", "from starlette.requests import Request\n", "server"),
        ("supervisor/tree.py", "import httpx2\n", "mainspring.client"),
        ("sdk/app.py", "import rich\n", "cli/show.py"),
        ("worker/frames.py", "import pickle\n", "msgspec"),
        ("sdk/app.py", "eval('1')\n", "parse"),
        ("tests/engine/test_x.py", "import time\n\ndef test_x():\n    time.sleep(1)\n", "Harness"),
        ("tests/engine/test_x.py", "from unittest.mock import patch\n", "real thing"),
        ("tests/engine/test_x.py", "from unittest import mock\n", "real thing"),
    ],
)
def test_a_banned_name_is_found_with_the_name_of_the_right_one(
    place: str, code: str, right: str, tmp_path: Path
) -> None:
    found = tidy.banned_names(plant(tmp_path, {place: code}))
    assert found
    assert any(right in finding.text for finding in found), report(found)


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("clock.py", "import time\nfrom datetime import datetime\nx = time.time(), datetime.now()\n"),
        ("chance.py", "import random\nimport secrets\n"),
        ("cli/show.py", "print('a table')\n"),
        ("worker/guard.py", "print('runner killed')\n"),
        ("worker/runners.py", "import os\nimport subprocess\nx = dict(os.environ)\n"),
        ("config/layers.py", "import os\nx = os.environ\n"),
        ("store/sqlite.py", "import apsw\nimport threading\n"),
        ("domain/cron.py", "from datetime import datetime\nx = datetime.fromisoformat('2026-11-29')\n"),
        ("engine/drive.py", "def f(clock, time):\n    time = clock\n    return time.sleep\n"),
        ("server/app.py", "def print_all(): ...\n\nprint_all()\n"),
        ("tests/processes/apps/slow.py", "import time\ntime.sleep(1)\n"),
    ],
)
def test_the_right_place_may_use_it(place: str, code: str, tmp_path: Path) -> None:
    found = tidy.banned_names(plant(tmp_path, {place: code}))
    assert not found, report(found)


@pytest.mark.parametrize(
    "place", ["store/utils.py", "common/job.py", "domain/job_helpers.py", "domain/_base.py", "tests/misc.py"]
)
def test_an_empty_name_is_found(place: str, tmp_path: Path) -> None:
    assert tidy.forbidden_module_names(plant(tmp_path, {place: ""}))


@pytest.mark.parametrize(
    "code",
    [
        'X = "SELECT 1"',
        'X = """\n  select id\n  from job\n"""',
        'X = "insert into job values (1)"',
        'X = "INSERT OR IGNORE INTO job VALUES (1)"',
        'X = f"update {table} set a = 1"\nY = "update job set a = 1"',
        'X = "delete from job"',
        'X = "create unique index i on job(id)"',
        'X = "with due as (select 1) select * from due"',
        'X = "PRAGMA foreign_keys"',
        'def f(t):\n    return f"DELETE FROM {t}"',
    ],
)
def test_sql_in_python_is_found(code: str, tmp_path: Path) -> None:
    assert tidy.sql_in_python(plant(tmp_path, {"store/jobs.py": code}))


@pytest.mark.parametrize(
    "code",
    [
        '"""SELECT in a docstring is prose."""',
        'X = "Create a token"',
        'X = "Select the jobs to retry"',
        'X = "Update the page with what is new"',
        'X = "with love"',
        'X = "selected"',
    ],
)
def test_english_is_not_sql(code: str, tmp_path: Path) -> None:
    assert tidy.sql_in_python(plant(tmp_path, {"store/jobs.py": code})) == []


def test_only_the_engine_speaks_of_pragmas_and_transactions(tmp_path: Path) -> None:
    code = 'X = "PRAGMA journal_mode=WAL"\nY = "BEGIN IMMEDIATE"\n'
    assert tidy.sql_in_python(plant(tmp_path / "a", {"store/sqlite.py": code})) == []
    assert len(tidy.sql_in_python(plant(tmp_path / "b", {"store/jobs.py": code}))) == 2


@pytest.mark.parametrize(
    "call",
    [
        'c.execute(f"drop {table}")',
        'c.execute("drop " + table)',
        'c.executemany("drop %s" % table, [])',
        'c.execute("drop {}".format(table))',
        'c.executescript(text.replace("x", table))',
    ],
)
def test_a_composed_statement_is_found(call: str, tmp_path: Path) -> None:
    assert tidy.composed_statements(plant(tmp_path, {"store/jobs.py": call}))


def test_a_named_statement_may_be_executed(tmp_path: Path) -> None:
    assert tidy.composed_statements(plant(tmp_path, {"store/jobs.py": 'c.execute(statements["job/claim"], {})'})) == []


def test_loose_statements_are_found(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        {
            "store/jobs.py": 'A = "job/claim"\nB = "job/lost"\nC = f"job/list_{A}"\nD = f"job/of_{A}"\n',
            "store/sql/job/claim.sql": "-- claims\nselect ';' from job; -- one; two\n",
            "store/sql/sqlite/job/claim.sql": "select 1;\n",
            "store/sql/postgres/job/claim.sql": "-- claims\nselect 1; select 2;\n",
            "store/sql/job/list_any.sql": "-- lists\nselect 1\n",
            "store/sql/job/idle.sql": "-- unused\nselect 1\n",
            "store/sql/schema/0001_job.sqlite.sql": "-- first\ncreate table a(b);\ncreate table c(d);\n",
        },
    )
    found = {
        (Path(finding.path).as_posix().partition("store/")[2], finding.text.partition(":")[0])
        for finding in tidy.loose_statements(root)
    }
    assert found == {
        ("sql/sqlite/job/claim.sql", "starts with no comment"),
        ("sql/postgres/job/claim.sql", "holds several statements, or none"),
        ("sql/job/idle.sql", "no module of store names 'job/idle'"),
        ("jobs.py", "there is no file for the statement 'job/lost'"),
        ("jobs.py", "there is no file for the statement 'job/of_'"),
    }


ERRORS = 'class A(Exception):\n    """Is a."""\n    code = "a_wrong"\n\nclass B(A):\n    code = "b_wrong"\n'


def test_an_error_must_be_tested_and_described(tmp_path: Path) -> None:
    root = plant(tmp_path, {"errors/wrong.py": ERRORS, "tests/house/test_x.py": "A, B\n"})
    assert len(tidy.untold_errors(root)) == 4
    plant(root, {"tests/api/test_x.py": 'def test_x():\n    assert A\n    assert y == "code: b_wrong"\n'})
    assert [finding.text for finding in tidy.untold_errors(root)] == [
        "docs/reference/errors.md lacks `a_wrong`: Is a.",
        "docs/reference/errors.md lacks `b_wrong`: ",
    ]
    plant(root, {"docs/reference/errors.md": "| `a_wrong` | `b_wrong` |"})
    assert tidy.untold_errors(root) == []


def test_two_errors_can_not_share_a_code(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        {
            "errors/wrong.py": ERRORS.replace("b_wrong", "a_wrong"),
            "tests/api/test_x.py": "A, B\n",
            "docs/reference/errors.md": "`a_wrong`",
        },
    )
    assert [finding.text for finding in tidy.untold_errors(root)] == ["two errors have the code 'a_wrong'"]


def test_a_fault_point_must_be_hit_and_tested(tmp_path: Path) -> None:
    faults = 'class FaultPoint(StrEnum):\n    """Points."""\n\n    ONE = "one.before"\n    TWO = "two.after"\n'
    root = plant(tmp_path, {"faults.py": faults})
    assert len(tidy.untested_faults(root)) == 4
    plant(root, {"store/jobs.py": "faults.hit(FaultPoint.ONE)\nfaults.hit(FaultPoint.TWO)\n"})
    plant(
        root, {"tests/engine/test_x.py": 'arm(FaultPoint.ONE)\nenv = {"FAULTS": "one.before=stop,two.after=kill@3"}\n'}
    )
    assert tidy.untested_faults(root) == []


def test_a_note_needs_an_issue(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        {
            "store/jobs.py": "x = 1  # TODO later\ny = 2  # TODO(#12) soon\nz = 'TODO in a text'\n",
            "store/sql/job/x.sql": "-- FIXME slow\nselect 1\n",
            "docs/x.md": "# A page\n\nTODO write\n",
        },
    )
    assert len(tidy.unowned_notes(root)) == 3


def test_a_long_file_is_found_and_a_long_function_reported(tmp_path: Path) -> None:
    body = "".join(f"    x = {number}\n" for number in range(tidy.LONGEST_FILE))
    root = plant(tmp_path, {"store/jobs.py": f"def claim():\n{body}", "store/runs.py": "def f(): ...\n"})
    assert [finding.path for finding in tidy.long_files(root)] == ["src/mainspring/store/jobs.py"]
    assert "claim has 501 lines" in tidy.size_report(root)


def test_dependencies_are_those_imported(tmp_path: Path) -> None:
    root = plant(
        tmp_path, {"store/jobs.py": "import os\nimport apsw\nfrom mainspring import errors\nfrom . import x\n"}
    )
    assert [finding.text for finding in tidy.dependency_drift(root)] == [
        "pyproject.toml does not declare apsw",
        "nothing imports msgspec: leave it out",
    ]
