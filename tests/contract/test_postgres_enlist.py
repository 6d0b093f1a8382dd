"""Submits inside the caller's own transaction, on every kind of connection that people have."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import psycopg
import psycopg.rows
import pytest
import sqlalchemy
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from mainspring import Mainspring, Unique
from mainspring.clock import MILLISECOND, SECOND, Duration, SystemClock
from mainspring.domain.states import State
from mainspring.errors import InvalidOption, InvalidParameters, KeyHeld, UnknownJob
from mainspring.sdk import connection as sdk_connection
from mainspring.store import Store
from tests import postgres
from tests.contract.engines import unsound
from tests.patience import slowness


class Shop:
    """An app whose jobs are in a database that also has a table of its owner's."""

    def __init__(self, server: postgres.Server, database: str) -> None:
        self.url = server.url(database)
        self.server, self.database = server, database
        server.ask("create table if not exists public.orders (id int primary key)", database)
        server.ask("truncate public.orders", database)
        self.app = Mainspring("shop", database_url=self.url)

        @self.app.task
        def send(order_id: int) -> int:
            return order_id

        self.send: Any = send

    def orders(self) -> list[int]:
        return [row[0] for row in self.server.ask("select id from public.orders order by id", self.database)]

    def exists(self, job: int) -> bool:
        try:
            return self.app.job(job).state is State.QUEUED
        except UnknownJob:
            return False

    def sqlalchemy_url(self, driver: str) -> str:
        return f"postgresql+{driver}://mainspring@/{self.database}?host={self.server.folder}&port={self.server.port}"


@pytest.fixture
def shop(postgres_databases: postgres.Databases) -> Iterator[Shop]:
    database = postgres_databases.take()
    yield Shop(postgres_databases.server, database)
    sdk_connection.close()
    postgres_databases.server.ask("drop table public.orders", database)
    postgres_databases.give_back(database)


INSERT = "insert into public.orders values (1)"

# --- sync -------------------------------------------------------------------------------------------------------------


def with_psycopg(shop: Shop, submit: Callable[[Any], int], *, commit: bool) -> int:
    with psycopg.connect(shop.url, row_factory=psycopg.rows.dict_row) as connection:
        connection.execute(INSERT)
        job = submit(connection)
        if not commit:
            connection.rollback()
        return job


def with_psycopg_block(shop: Shop, submit: Callable[[Any], int], *, commit: bool) -> int:
    with psycopg.connect(shop.url, autocommit=True) as connection, connection.transaction(force_rollback=not commit):
        connection.execute(INSERT)
        return submit(connection)


def with_sqlalchemy(shop: Shop, submit: Callable[[Any], int], *, commit: bool) -> int:
    engine = sqlalchemy.create_engine(shop.sqlalchemy_url("psycopg"))
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text(INSERT))
        job = submit(connection)
        connection.commit() if commit else connection.rollback()
    engine.dispose()
    return job


def with_sqlalchemy_session(shop: Shop, submit: Callable[[Any], int], *, commit: bool) -> int:
    engine = sqlalchemy.create_engine(shop.sqlalchemy_url("psycopg"))
    with Session(engine) as session:
        session.execute(sqlalchemy.text(INSERT))
        job = submit(session)
        session.commit() if commit else session.rollback()
    engine.dispose()
    return job


SYNC = [with_psycopg, with_psycopg_block, with_sqlalchemy, with_sqlalchemy_session]


@pytest.mark.parametrize("way", SYNC)
@pytest.mark.parametrize("commit", [True, False])
def test_a_job_is_there_when_the_transaction_is_and_never_else(shop: Shop, way: Any, *, commit: bool) -> None:
    job = way(shop, lambda connection: shop.send.submit(7, connection=connection).id, commit=commit)
    assert shop.exists(job) == commit
    assert shop.orders() == [1] * commit
    assert not store_of(shop, unsound)


@pytest.mark.parametrize("way", SYNC)
def test_a_refusal_of_ours_leaves_the_transaction_as_it_was(shop: Shop, way: Any) -> None:
    held = shop.send.options(unique="k").submit(1)

    def submit(connection: Any) -> int:
        with pytest.raises(KeyHeld):
            shop.send.options(unique=Unique("k", on_conflict="reject"), connection=connection).submit(2)
        with pytest.raises(InvalidParameters):
            shop.send.options(connection=connection).submit("x")
        found: int = shop.send.options(unique="k", connection=connection).submit(3).id
        return found

    assert way(shop, submit, commit=True) == held.id
    assert shop.orders() == [1]


# --- async ------------------------------------------------------------------------------------------------------------


async def by_asyncpg(shop: Shop, submit: Any, *, commit: bool) -> int:
    connection = await asyncpg.connect(
        host=str(shop.server.folder), port=shop.server.port, user="mainspring", database=shop.database
    )
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute(INSERT)
    job: int = await submit(connection)
    await (transaction.commit() if commit else transaction.rollback())
    await connection.close()
    return job


async def by_psycopg(shop: Shop, submit: Any, *, commit: bool) -> int:
    async with await psycopg.AsyncConnection.connect(shop.url, row_factory=psycopg.rows.dict_row) as connection:
        await connection.execute(INSERT)
        job: int = await submit(connection)
        if not commit:
            await connection.rollback()
        return job


async def by_sqlalchemy(shop: Shop, submit: Any, *, commit: bool, driver: str = "psycopg") -> int:
    engine = create_async_engine(shop.sqlalchemy_url(driver))
    async with engine.connect() as connection:
        await connection.execute(sqlalchemy.text(INSERT))
        job: int = await submit(connection)
        await (connection.commit() if commit else connection.rollback())
    await engine.dispose()
    return job


async def by_sqlalchemy_asyncpg(shop: Shop, submit: Any, *, commit: bool) -> int:
    return await by_sqlalchemy(shop, submit, commit=commit, driver="asyncpg")


async def by_sqlalchemy_session(shop: Shop, submit: Any, *, commit: bool) -> int:
    engine = create_async_engine(shop.sqlalchemy_url("psycopg"))
    async with AsyncSession(engine) as session:
        await session.execute(sqlalchemy.text(INSERT))
        job: int = await submit(session)
        await (session.commit() if commit else session.rollback())
    await engine.dispose()
    return job


ASYNC = [by_asyncpg, by_psycopg, by_sqlalchemy, by_sqlalchemy_asyncpg, by_sqlalchemy_session]


@pytest.mark.parametrize("way", ASYNC)
@pytest.mark.parametrize("commit", [True, False])
async def test_async_code_may_do_the_same(shop: Shop, way: Any, *, commit: bool) -> None:
    async def submit(connection: Any) -> int:
        found: int = (await shop.send.asubmit(7, connection=connection)).id
        return found

    job = await way(shop, submit, commit=commit)
    assert shop.exists(job) == commit
    assert shop.orders() == [1] * commit


@pytest.mark.parametrize("way", ASYNC)
async def test_a_refusal_leaves_the_transaction_of_async_code_as_it_was(shop: Shop, way: Any) -> None:
    held = await shop.send.options(unique="k").asubmit(1)
    replace = shop.send.options(unique=Unique("k", on_conflict="replace"))

    async def submit(connection: Any) -> int:
        with pytest.raises(KeyHeld):
            await shop.send.options(unique=Unique("k", on_conflict="reject"), connection=connection).asubmit(2)
        found: int = (await replace.options(connection=connection).asubmit(3)).id
        return found

    job = await way(shop, submit, commit=True)
    assert shop.app.job(held.id).state is State.CANCELLED
    assert shop.exists(job)
    assert shop.orders() == [1]


@asynccontextmanager
async def asyncpg_connection(shop: Shop) -> AsyncIterator[Any]:
    found = await asyncpg.connect(
        host=str(shop.server.folder), port=shop.server.port, user="mainspring", database=shop.database
    )
    try:
        yield found
    finally:
        await found.close()


async def test_a_cancel_leaves_nothing_half_born(shop: Shop) -> None:
    """The submit waits for a key that another transaction has not given away yet."""
    await shop.send.asubmit(0)
    keyed = shop.send.options(unique="k")
    async with asyncpg_connection(shop) as first, asyncpg_connection(shop) as second:
        holding, waiting = first.transaction(), second.transaction()
        await holding.start()
        await keyed.asubmit(1, connection=first)
        await waiting.start()
        await second.execute(INSERT)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(keyed.asubmit(2, connection=second), 0.3)
        await holding.rollback()
        job = await shop.send.asubmit(3, connection=second)  # the savepoint has saved what was before
        await waiting.commit()
    assert shop.exists(job.id)
    assert shop.orders() == [1]
    assert len(store_of(shop, lambda store: store.read(lambda tx: tx.rows("audit/jobs")))) == 2


# --- what is promised -------------------------------------------------------------------------------------------------


def store_of(shop: Shop, look: Callable[[Store], Any]) -> Any:
    store = Store.open(shop.url)
    try:
        return look(store)
    finally:
        store.close()


def test_a_connection_that_commits_by_itself_gets_a_transaction_for_the_submit(shop: Shop) -> None:
    with psycopg.connect(shop.url, autocommit=True) as connection:
        job = shop.send.submit(1, connection=connection)
        assert shop.exists(job.id)
        assert connection.info.transaction_status is psycopg.pq.TransactionStatus.IDLE
        shop.send.options(unique="k").submit(1, connection=connection)
        with pytest.raises(KeyHeld):
            shop.send.options(unique=Unique("k", on_conflict="reject")).submit(1, connection=connection)
        assert connection.info.transaction_status is psycopg.pq.TransactionStatus.IDLE
    engine = sqlalchemy.create_engine(shop.sqlalchemy_url("psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as autocommit:
        assert shop.exists(shop.send.submit(2, connection=autocommit).id)
    engine.dispose()


async def test_that_holds_for_async_code_too(shop: Shop) -> None:
    async with asyncpg_connection(shop) as connection:
        assert shop.exists((await shop.send.asubmit(1, connection=connection)).id)
        assert not connection.is_in_transaction()
    for driver in ("psycopg", "asyncpg"):
        engine = create_async_engine(shop.sqlalchemy_url(driver), isolation_level="AUTOCOMMIT")
        async with engine.connect() as autocommit:
            assert shop.exists((await shop.send.asubmit(2, connection=autocommit)).id)
        await engine.dispose()


def test_nothing_of_the_session_is_changed(shop: Shop) -> None:
    def settings(connection: Any) -> list[Any]:
        found: list[Any] = connection.execute("select name, setting from pg_settings order by name").fetchall()
        return found

    with psycopg.connect(shop.url) as connection:
        connection.execute("set search_path = public, pg_catalog")
        connection.commit()
        before = settings(connection)
        shop.send.submit(1, connection=connection)
        assert settings(connection) == before
        connection.execute("insert into orders values (5)")
        connection.commit()
        assert settings(connection) == before
        assert connection.execute("select count(*) from pg_prepared_statements").fetchone() == (0,)
        connection.execute("set local search_path = pg_catalog")
        with pytest.raises(InvalidParameters):
            shop.send.submit("x", connection=connection)
        shop.send.submit(1, connection=connection)
        assert connection.execute("show search_path").fetchone() == ("pg_catalog",)
    assert shop.orders() == [5]


def test_many_jobs_go_in_at_once(shop: Shop) -> None:
    with psycopg.connect(shop.url) as connection:
        handles = shop.send.submit_many([{"order_id": n} for n in range(4_500)], connection=connection)
        assert not shop.exists(handles[-1].id)
    assert shop.exists(handles[0].id)
    assert shop.exists(handles[-1].id)
    assert shop.app.job(handles[-1].id).record.params == {"order_id": 4_499}


def test_only_the_last_of_several_transactions_with_one_key_commits_and_makes_the_job(shop: Shop) -> None:
    """B133: four roll back, and whoever gets an answer is told of a job that is there in the end."""
    shop.send.submit(0)
    told: list[tuple[int, bool]] = []

    def one(number: int) -> None:
        with psycopg.connect(shop.url) as connection:
            job = shop.send.options(unique="k").submit(number, connection=connection)
            if number < 4:
                connection.rollback()
            else:
                connection.commit()
                told.append((job.id, job.new))

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(one, range(5)))
    last = shop.send.options(unique="k").submit(9)
    assert told == [(last.id, True)]
    assert not last.new


def test_a_driver_error_is_the_drivers_own_and_the_transaction_goes_on(shop: Shop) -> None:
    shop.send.submit(0)
    keyed = shop.send.options(unique="k")
    with psycopg.connect(shop.url) as first, psycopg.connect(shop.url) as second:
        keyed.submit(1, connection=first)
        second.execute(INSERT)
        second.execute("set local lock_timeout = '100ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            keyed.submit(2, connection=second)
        second.commit()
    assert shop.orders() == [1]


def test_a_worker_is_told_behind_a_commit_of_ours_and_nobody_inside_the_callers_transaction(shop: Shop) -> None:
    shop.send.submit(0)
    store = Store.open(shop.url)
    ear = store.work_bell.listen("worker")
    ear.wait(Duration(SECOND))
    with psycopg.connect(shop.url, autocommit=True) as connection:
        shop.send.submit(1, connection=connection)
    assert ear.wait(Duration(5 * SECOND))
    with psycopg.connect(shop.url) as connection:
        shop.send.submit(1, connection=connection)
        assert not ear.wait(Duration(200 * MILLISECOND))
    store.close()


_APP = """
from mainspring import Mainspring
app = Mainspring("shop")

@app.task
def send(order_id: int) -> int:
    return order_id
"""


def test_a_worker_finds_what_was_committed_late_behind_what_it_has_taken(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(_APP)
    words = ["worker", "--app", "app.py", "--db", shop.url, "--slots", "2"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with (tmp_path / "said").open("w") as said:
        worker = subprocess.Popen(
            [sys.executable, "-m", "mainspring", *words], cwd=tmp_path, env=environment, stdout=said, stderr=said
        )
    try:
        assert shop.send.submit(1).result(timeout=60) == 1
        with psycopg.connect(shop.url) as connection:
            late = shop.send.submit(2, connection=connection)
            for number in range(20):
                assert shop.send.submit(number).result(timeout=60) == number
            connection.commit()
        began = SystemClock().monotonic()
        assert late.result(timeout=60) == 2
        assert SystemClock().monotonic() - began < 4 * SECOND * slowness()  # it looks at everything once a second
    finally:
        worker.terminate()
        worker.wait(60)


# --- wrong connections ------------------------------------------------------------------------------------------------


def test_what_is_no_connection_to_this_database_is_refused(shop: Shop, postgres_databases: postgres.Databases) -> None:
    import sqlite3

    other = postgres_databases.take()
    with psycopg.connect(postgres_databases.server.url(other)) as connection:
        connection.execute("create temp table mine (n int)")
        with pytest.raises(InvalidOption, match="another database") as refused:
            shop.send.submit(1, connection=connection)
        assert refused.value.field == "connection"
        connection.execute("select * from mine")
    postgres_databases.give_back(other)
    lite = sqlite3.connect(":memory:")
    with pytest.raises(InvalidOption, match=r"sqlite3\.Connection.*psycopg 3, asyncpg, SQLAlchemy"):
        shop.send.submit(1, connection=lite)
    lite.close()
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.connect() as connected, pytest.raises(InvalidOption, match="of SQLAlchemy to sqlite"):
        shop.send.submit(1, connection=connected)
    with pytest.raises(InvalidOption, match=r"sqlalchemy\..*Engine"):
        shop.send.submit(1, connection=engine)
    engine.dispose()


async def test_connections_of_async_and_of_other_code_are_told_apart(shop: Shop) -> None:
    async with asyncpg_connection(shop) as connection:
        with pytest.raises(InvalidOption, match="Call asubmit"):
            shop.send.submit(1, connection=connection)
    with psycopg.connect(shop.url) as plain, pytest.raises(InvalidOption, match="Call submit"):
        await shop.send.asubmit(1, connection=plain)


async def test_what_only_leads_to_connections_is_none(shop: Shop) -> None:
    pool = await asyncpg.create_pool(
        host=str(shop.server.folder), port=shop.server.port, user="mainspring", database=shop.database, min_size=1
    )
    with pytest.raises(InvalidOption, match=r"connection is asyncpg\.pool\.Pool; it must be one"):
        await shop.send.asubmit(1, connection=pool)
    async with pool.acquire() as lent:
        job = await shop.send.asubmit(1, connection=lent)
    assert shop.exists(job.id)
    await pool.close()
    engine = create_async_engine(shop.sqlalchemy_url("psycopg"))
    with pytest.raises(InvalidOption, match=r"connection is sqlalchemy\..*AsyncEngine; it must be one"):
        await shop.send.asubmit(1, connection=engine)
    await engine.dispose()


def test_a_parameter_of_that_name_is_a_parameter(shop: Shop) -> None:
    @shop.app.task
    def call(connection: str) -> str:
        return connection

    assert call.submit(connection="by wire").record.params == {"connection": "by wire"}
    with psycopg.connect(shop.url) as given:
        job = call.options(connection=given).submit(connection="by air")
        given.rollback()
    assert not shop.exists(job.id)


# --- Django -----------------------------------------------------------------------------------------------------------

_DJANGO = """
import sys
import django
from django.conf import settings
folder, port, database, url = sys.argv[1:]
settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": database,
    "USER": "mainspring", "HOST": folder, "PORT": port}})
django.setup()
from django.db import connection, transaction
from mainspring import Mainspring
app = Mainspring("shop", database_url=url)

@app.task
def send(order_id: int) -> int:
    return order_id

class Undo(Exception):
    pass

job = send.submit(1, connection=connection)                  # commits by itself
print(job.id, job.refresh().state)
with transaction.atomic():
    with connection.cursor() as cursor:
        cursor.execute("insert into public.orders values (1)")
    job = send.submit(2, connection=connection)
print(job.id, job.refresh().state)
try:
    with transaction.atomic():
        job = send.submit(3, connection=connection)
        raise Undo
except Undo:
    pass
try:
    print(job.refresh().state)
except Exception as error:
    print(type(error).__name__)
"""


def test_django_submits_in_its_own_transactions(shop: Shop) -> None:
    """In a process of its own, as Django has settings for all of a process."""
    words = [str(shop.server.folder), str(shop.server.port), shop.database, shop.url]
    done = subprocess.run(
        [sys.executable, "-c", _DJANGO, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.split("\n")[:3] == ["1 queued", "2 queued", "UnknownJob"], done.stdout + done.stderr
    assert shop.orders() == [1]
