"""Migrations: numbered, each whole or not at all, run again after a kill anywhere, by one process among many."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mainspring.chance import SeededChance
from mainspring.clock import SystemClock
from mainspring.errors import SchemaTooNew, StoreBusy, StoreError
from mainspring.faults import FaultPoint
from mainspring.store import Store
from mainspring.store.migrate import Step, upgrade
from mainspring.store.sqlite import SqliteEngine
from mainspring.store.statements import ROOT, migrations
from tests.contract.children import LONGEST, environment
from tests.contract.engines import asked

STEPS: list[Step] = [
    (
        1,
        "first",
        "create table note (id integer primary key, body text not null) strict; insert into note values (1, 'one')",
    ),
    (2, "second", "alter table note add column extra text; update note set extra = 'two' where id = 1"),
    (3, "third", "create table more (id integer primary key) strict; insert into more select id from note"),
]


def engine_at(path: Path) -> SqliteEngine:
    return SqliteEngine(str(path), clock=SystemClock(), chance=SeededChance(1), inline=True)


def content(path: Path) -> tuple[int, list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Version and rows; tables that are missing are empty."""
    engine = engine_at(path)
    try:
        tables = {row[0] for row in engine.raw.execute("select name from sqlite_schema where type = 'table'")}
        version = next(engine.raw.execute("select version from schema_version"))[0] if "schema_version" in tables else 0
        note = list(engine.raw.execute("select * from note")) if "note" in tables else []
        more = list(engine.raw.execute("select * from more")) if "more" in tables else []
        assert next(engine.raw.execute("pragma integrity_check")) == ("ok",)
        return version, note, more
    finally:
        engine.close()


DONE: tuple[int, list[tuple[object, ...]], list[tuple[object, ...]]] = (3, [(1, "one", "two")], [(1,)])
REACHED: dict[int, tuple[int, list[tuple[object, ...]], list[tuple[object, ...]]]] = {
    0: (0, [], []),
    1: (1, [(1, "one")], []),
    2: (2, [(1, "one", "two")], []),
    3: DONE,
}


def migrate(path: Path, faults: str = "", steps: list[Step] = STEPS) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.upgrade.migrating", str(path), json.dumps(steps)],
        env=environment(MAINSPRING_FAULTS=faults),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_each_kill_inside_a_migration_leaves_whole_steps_and_the_next_run_finishes(tmp_path: Path) -> None:
    """Before the commit of step n is after the commit of the step before it."""
    for nth in (1, 2, 3):
        path = tmp_path / f"{nth}.db"
        with migrate(path, f"{FaultPoint.MIGRATE_BEFORE_COMMIT.value}=kill@{nth}") as killed:
            assert killed.wait(LONGEST) == -9
        assert content(path) == REACHED[nth - 1]
        with migrate(path) as again:
            out, err = again.communicate(timeout=LONGEST)
            assert (again.returncode, out) == (0, "3\n"), err
        assert content(path) == DONE


def test_a_step_that_fails_is_undone_and_those_before_it_stay(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    engine = engine_at(path)
    broken = [*STEPS[:2], (3, "third", "create table more (id integer); insert into nowhere values (1)")]
    with pytest.raises(StoreError, match="nowhere"):
        upgrade(engine, "sqlite", binary="1.0", steps=broken)
    engine.close()
    assert content(path) == REACHED[2]
    engine = engine_at(path)
    upgrade(engine, "sqlite", binary="1.0", steps=STEPS)
    engine.close()
    assert content(path) == DONE


def test_a_migration_on_a_full_disk_is_told_and_undone(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    engine = engine_at(path)
    upgrade(engine, "sqlite", binary="1.0", steps=STEPS[:2])
    engine.raw.pragma("max_page_count", engine.raw.pragma("page_count") + 2)
    large = (3, "large", "create table more (id integer); insert into note values (2, hex(zeroblob(100000)), null)")
    with pytest.raises(StoreBusy, match="full"):
        upgrade(engine, "sqlite", binary="1.0", steps=[*STEPS[:2], large])
    engine.close()
    assert content(path) == REACHED[2]


def test_many_processes_that_upgrade_at_once_apply_each_step_once(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with migrate(path, steps=STEPS[:1]) as first:
        assert first.wait(LONGEST) == 0
    crowd = [migrate(path) for _ in range(6)]
    for one in crowd:
        with one:
            out, err = one.communicate(timeout=LONGEST)
            assert (one.returncode, out) == (0, "3\n"), err
    assert content(path) == DONE


def test_an_upgrade_of_what_is_new_enough_changes_nothing(tmp_path: Path) -> None:
    engine = engine_at(tmp_path / "m.db")
    upgrade(engine, "sqlite", binary="1.0", steps=STEPS)
    before = engine.raw.total_changes()
    upgrade(engine, "sqlite", binary="1.0", steps=STEPS)
    upgrade(engine, "sqlite", binary="1.0", steps=STEPS[:2])
    assert engine.raw.total_changes() == before
    engine.close()


def test_a_file_that_holds_something_is_copied_before_its_first_step(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    engine = engine_at(path)
    assert upgrade(engine, "sqlite", binary="1.0", steps=STEPS[:1]) == (str(path), 0, [1], ""), "it held nothing"
    done = upgrade(engine, "sqlite", binary="1.0", steps=STEPS)
    engine.close()
    assert done == (str(path), 1, [2, 3], f"{path}.v1.backup")
    assert content(path) == DONE
    assert content(Path(done.backup)) == REACHED[1]
    assert not list(tmp_path.glob("*.part"))


def test_without_a_backup_there_is_no_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    engine = engine_at(path)
    upgrade(engine, "sqlite", binary="1.0", steps=STEPS[:1])
    Path(f"{path}.v1.backup").mkdir()  # its name is taken by what can't be replaced
    with pytest.raises(StoreError, match=r"v1\.backup"):
        upgrade(engine, "sqlite", binary="1.0", steps=STEPS)
    engine.close()
    assert content(path) == REACHED[1]


def test_an_older_binary_is_refused_only_by_a_schema_that_has_grown_past_it(tmp_path: Path) -> None:
    engine = engine_at(tmp_path / "m.db")
    upgrade(engine, "sqlite", binary="2.3.0", steps=STEPS)
    for binary in ("2.2.9", "1.99", "0.1.0"):
        with pytest.raises(SchemaTooNew, match=r"2\.3\.0 or newer"):
            upgrade(engine, "sqlite", binary=binary, steps=STEPS[:2])
        upgrade(engine, "sqlite", binary=binary, steps=STEPS)
    for binary in ("2.3.0", "2.10", "3.0.0"):
        upgrade(engine, "sqlite", binary=binary, steps=STEPS[:2])
    engine.close()


@pytest.mark.parametrize("kind", ["sqlite", "logs", "postgres"])
def test_the_migrations_of_the_package_have_each_a_number_of_their_own(kind: str) -> None:
    steps = migrations(kind)
    numbers = [number for number, _, _ in steps]
    assert numbers == sorted(set(numbers))
    assert numbers[0] == 1
    assert all(name and script.startswith("--") for _, name, script in steps)


def test_both_engines_come_to_a_version_by_the_same_steps() -> None:
    assert [step[:2] for step in migrations("sqlite")] == [step[:2] for step in migrations("postgres")]


def test_every_migration_file_belongs_to_a_kind() -> None:
    numbered = [path.name for path in (ROOT / "schema").glob("[0-9]*.sql")]
    known = sum(len(migrations(kind)) for kind in ("sqlite", "logs", "postgres"))
    assert len(numbered) == known


def test_a_kill_while_the_product_makes_its_database_leaves_one_that_opens(tmp_path: Path) -> None:
    """The first hit is the store's own file, the second that of the logs beside it."""
    for nth in (1, 2):
        path = tmp_path / f"{nth}.db"
        case = ("opens", f"sqlite:///{path}", f"{path}.told", 1, f"{POINT}=kill@{nth}")
        program = f"from tests.contract.victim import child; child(*{case!r})"
        done = subprocess.run([sys.executable, "-c", program], env=environment(), check=False, timeout=LONGEST)
        assert done.returncode == -9
        store = Store.open(f"sqlite:///{path}")
        assert asked(store, "pragma integrity_check") == [("ok",)]
        assert asked(store, "select version from schema_version") == [(migrations("sqlite")[-1][0],)]
        store.close()


POINT = FaultPoint.MIGRATE_BEFORE_COMMIT.value
Content = Callable[[Path], object]
