"""For all tests: what a terminal would give them, whoever started them."""

import logging
import signal
from collections.abc import Iterator

import pytest

# A shell that starts us in the background has us ignore Ctrl-C, and every process that a test starts inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """A command that a test runs in this process sets up logging for its whole process: ours goes on."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
