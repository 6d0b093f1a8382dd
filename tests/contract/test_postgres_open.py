"""Opening a PostgreSQL store: what a URL says, whose tables are there, and what is told when they don't fit."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from mainspring.errors import SchemaTooNew, SchemaTooOld, StoreReadOnly, StoreUnreachable
from mainspring.faults import FaultPoint
from mainspring.store import BINARY, Store, postgres_schema
from mainspring.store.postgres import PostgresEngine
from mainspring.store.statements import migrations
from mainspring.store.upgrading import upgrade_at
from tests import postgres
from tests.contract.children import LONGEST, environment


@pytest.fixture
def empty(postgres_server: postgres.Server) -> str:
    """The URL of a database without tables of ours."""
    name = f"e{postgres.unique()}"
    return postgres.new_database(postgres_server, name, empty=True)


def test_an_empty_database_gets_its_tables_and_keeps_what_is_stored(empty: str) -> None:
    for expected in (1, 2):
        store = Store.open(empty)
        assert store.write(lambda tx: tx.job_ids(1)) == [expected]
        store.close()


def test_a_process_that_dies_while_it_makes_the_tables_leaves_none(empty: str) -> None:
    point, last = FaultPoint.MIGRATE_BEFORE_COMMIT, len(migrations("postgres"))
    for nth in (1, last):
        case = f"{{'MAINSPRING_FAULTS': '{point.value}=kill@{nth}'}}"
        program = (
            f"from mainspring import faults, store; faults.arm_from_environment({case}); store.Store.open({empty!r})"
        )
        died = subprocess.run([sys.executable, "-c", program], env=environment(), check=False, timeout=LONGEST)
        assert died.returncode == -signal.SIGKILL
    store = Store.open(empty)
    assert store.write(lambda tx: tx.job_ids(1)) == [1]
    store.close()


def test_two_platforms_live_in_one_database_by_their_schemas(empty: str) -> None:
    first, second = Store.open(f"{empty}&schema=first"), Store.open(f"{empty}&schema=second")
    first.write(lambda tx: tx.rows("policy/insert", document="of the first"))
    assert second.read(lambda tx: tx.rows("policy/find", document="of the first")) == []
    assert len(first.read(lambda tx: tx.rows("policy/find", document="of the first"))) == 1
    first.close()
    second.close()


@pytest.mark.parametrize("schema", ["", "Two Words", "pg_catalog", "a;b", "x" * 60])
def test_a_schema_that_is_no_plain_name_is_refused(empty: str, schema: str) -> None:
    with pytest.raises(StoreUnreachable, match="not a name for a schema"):
        Store.open(f"{empty}&schema={schema}")


def test_older_tables_are_left_alone_until_somebody_says_so(empty: str) -> None:
    store = Store.open(empty)
    assert isinstance(store.engine, PostgresEngine)
    later = [*migrations("postgres"), (9999, "later", "create table later (id bigint)")]
    with pytest.raises(SchemaTooOld, match="mainspring db upgrade"):
        postgres_schema.prepare(store.engine, binary=BINARY, steps=later)
    assert postgres_schema.upgrade(store.engine, binary=BINARY, steps=later) == [9999]
    postgres_schema.prepare(store.engine, binary=BINARY, steps=later)
    store.close()


def test_newer_tables_that_refuse_this_version_are_left_alone(empty: str, postgres_server: postgres.Server) -> None:
    store = Store.open(empty)
    assert isinstance(store.engine, PostgresEngine)
    assert postgres_schema.upgrade(store.engine, binary=BINARY) == []
    store.close()
    database = empty.partition("?")[0].rpartition("/")[2]
    postgres_server.ask("update mainspring.schema_version set version = 9999, oldest_binary = '999.0'", database)
    with pytest.raises(SchemaTooNew, match=r"999\.0"):
        Store.open(empty)
    with pytest.raises(SchemaTooNew, match=r"999\.0"):
        upgrade_at(empty)  # that there is nothing to do would be no help


def test_a_server_that_is_not_there_is_told_at_once_and_without_the_password() -> None:
    with pytest.raises(StoreUnreachable) as caught:
        Store.open("postgresql://me:secret@127.0.0.1:1/nothing")
    assert "127.0.0.1:1/nothing" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_server_that_is_too_old_is_left_alone(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(postgres_schema, "OLDEST_SERVER", 990_000)
        with pytest.raises(StoreUnreachable, match="oldest that is supported"):
            Store.open(empty)
    store = Store.open(empty)
    assert store.write(lambda tx: tx.job_ids(1)) == [1], "nothing of ours was there"
    store.close()


def test_a_role_without_rights_is_told_which(empty: str, postgres_server: postgres.Server) -> None:
    role = f"r{postgres.unique()}"
    postgres_server.ask(f"create role {role} login")
    with pytest.raises(StoreReadOnly, match="permission denied"):
        Store.open(empty.replace("mainspring@", f"{role}@"))


def test_a_session_whose_prepared_statements_are_gone_is_replaced(postgres_url: str) -> None:
    """As a pooler that hides itself does, or somebody's DISCARD ALL."""
    store = Store.open(postgres_url)
    assert isinstance(store.engine, PostgresEngine)
    for _ in range(3):
        store.write(lambda tx: tx.job_ids(1))
    with store.engine.lent() as session:
        session.connection.execute("discard all")
    assert store.write(lambda tx: tx.job_ids(1))
    store.close()
