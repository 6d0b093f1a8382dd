"""For all tests: what a terminal would give them, whoever started them."""

import compileall
import logging
import os
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import mainspring
from mainspring.process import collect_less
from tests import ahead, postgres, sitter
from tests import pooler as poolers

# A shell that starts us in the background has us ignore Ctrl-C, and every process that a test starts inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Once for all workers: compile the package, and see to it that nothing of the run outlives it.

    Where the environment keeps no bytecode, each process of a test would compile the package again.
    """
    if not hasattr(session.config, "workerinput"):
        compileall.compile_dir(Path(mainspring.__file__).parent, quiet=2)
        if session.config.getoption("numprocesses", None):
            ahead.rewrite(session.config, session.config.args)
        session.config.add_cleanup(sitter.begin())


def pytest_collection_finish() -> None:
    """What was collected stays to the end: nobody need look through all of it for cycles again and again."""
    collect_less()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two for each core, as many tests wait for what other processes do, or for a moment to come."""
    return 2 * (os.cpu_count() or 1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is over in no time comes last, so that all workers of a run end together; else the order stays by chance."""
    quick = Path(__file__).parent / "domain"
    items.sort(key=lambda item: item.path.is_relative_to(quick))


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """A command that a test runs in this process sets up logging for its whole process: ours goes on."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest) -> Iterator[postgres.Server]:
    """One PostgreSQL server for all processes of this run."""
    shared_by = getattr(request.config, "workerinput", {}).get("testrunuid") or uuid.uuid4().hex
    with postgres.shared(shared_by) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_databases(postgres_server: postgres.Server) -> Iterator[postgres.Databases]:
    """Databases on it, for one test after the other."""
    databases = postgres.Databases(postgres_server)
    yield databases
    databases.close()


@pytest.fixture
def postgres_url(postgres_databases: postgres.Databases) -> Iterator[str]:
    """An empty store of its own."""
    name = postgres_databases.take()
    yield postgres_databases.server.url(name)
    postgres_databases.give_back(name)


@pytest.fixture(scope="session")
def pooler(postgres_server: postgres.Server) -> Iterator[poolers.Pooler]:
    """A pooler in transaction mode before that server."""
    with poolers.started(postgres_server) as one:
        yield one


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was left out is said, in one line each."""
    if poolers.binary() is None:
        terminalreporter.write_line(
            "left out: the store behind a pooler (postgres-pooled). To add it: apt-get install pgbouncer"
        )
