"""Standard input, output and error as they were handed to us: closed, a pipe whose reader left, a full disk.

A command whose answer can't be written says so in one line; a reader that has seen enough is no fault.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from mainspring.errors import OutputFailed

_CLOSED = {0: os.O_WRONLY, 1: os.O_RDONLY, 2: os.O_WRONLY}
"""How to open what stands in for a closed stream: input and output fail when they are used, errors go nowhere."""


def stand_in() -> None:
    """Open something in the place of closed streams, so that no file or socket of ours ever gets their numbers."""
    for number, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, _CLOSED[number])
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
            mode = "r" if number == 0 else "w"
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False))


@contextmanager
def writing() -> Iterator[None]:
    """Around writes to standard output. Raises OutputFailed; a BrokenPipeError passes, as its end is a quiet one."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailed(error.strerror or str(error)) from error


def give_up() -> None:
    """Nothing more can be written to standard output: what is left goes nowhere, also when Python ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
