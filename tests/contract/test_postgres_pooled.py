"""Behind a pooler: nothing stays on a session that others get next, and what can't work there is known and said."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from mainspring.store import Store
from mainspring.store.postgres import PostgresEngine
from tests import pooler as poolers
from tests import postgres
from tests.contract.lost import note

pytestmark = pytest.mark.skipif(poolers.binary() is None, reason="pgbouncer is not installed; told at the end")


@pytest.fixture
def postgres_url(postgres_databases: postgres.Databases) -> Iterator[str]:
    """Of a database that nobody gets behind us: the pooler stays connected, and may hand on a session that is dead."""
    name = postgres_databases.take(pooled=True)
    yield postgres_databases.server.url(name)
    postgres_databases.drop(name)


@pytest.fixture
def pooled(postgres_url: str, pooler: poolers.Pooler) -> Iterator[Store]:
    store = Store.open(pooler.url(database_of(postgres_url)))
    yield store
    store.close()


def database_of(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[2]


SETTINGS = (
    "select current_setting('search_path'), current_setting('statement_timeout'), current_setting('lock_timeout'), "
    "current_setting('idle_in_transaction_session_timeout'), current_setting('synchronous_commit')"
)


def test_nothing_of_ours_stays_on_a_session_that_others_get(
    pooled: Store, postgres_url: str, pooler: poolers.Pooler
) -> None:
    with psycopg.connect(pooler.url(database_of(postgres_url)), autocommit=True, prepare_threshold=None) as other:
        before = other.execute(SETTINGS).fetchall()
        for number in range(20):
            note(pooled, str(number))
            pooled.engine.write(lambda _: None, durable=False)
            with pytest.raises(ZeroDivisionError):
                pooled.write(lambda _: 1 // 0)
            assert other.execute(SETTINGS).fetchall() == before
        assert other.execute("select count(*) from pg_prepared_statements").fetchall() == [(0,)]


def test_a_pooler_is_noticed_so_that_nothing_is_prepared_and_hints_are_not_waited_for(pooled: Store) -> None:
    assert isinstance(pooled.engine, PostgresEngine)
    with pooled.engine.lent() as session:
        assert session.pooled
        assert session.connection.prepare_threshold is None
    assert "pooler" in pooled.work_bell.fault()


def test_more_clients_than_the_pooler_has_sessions_take_turns(pooled: Store) -> None:
    with ThreadPoolExecutor(3 * poolers.SESSIONS) as pool:
        list(pool.map(lambda number: note(pooled, str(number)), range(200)))
    assert len(pooled.read(lambda tx: [tx.row("policy/find", document=str(number)) for number in range(200)])) == 200


def test_sessions_that_the_server_ended_behind_the_pooler_are_not_noticed_above(
    pooled: Store, postgres_url: str
) -> None:
    note(pooled, "one")
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where pid <> pg_backend_pid() and datname = current_database()"
        )
    note(pooled, "two")
    assert pooled.read(lambda tx: tx.row("policy/find", document="two")) is not None
