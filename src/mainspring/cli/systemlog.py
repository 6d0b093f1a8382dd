"""How server, worker and supervisor write their own log to standard error: pretty lines, or one JSON object each.

Secrets are masked. Server and worker keep the same in the store as well (engine/record.py), beside the log of jobs.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable

from msgspec.structs import asdict

from mainspring.clock import Instant, from_seconds, instant_text
from mainspring.config.layers import environment
from mainspring.domain.record import of_record
from mainspring.domain.secrecy import hiding, masked

_COLOURS = {logging.WARNING: "\x1b[33m", logging.ERROR: "\x1b[31m", logging.CRITICAL: "\x1b[31m"}


def start(form: str, process: str) -> None:
    """Send the log of this process (``up``, ``server``, ``worker``) to standard error, ``pretty`` or as ``json``."""
    hide = hiding(environment())
    handler = logging.StreamHandler(sys.stderr)
    pretty = form != "json"
    handler.setFormatter(PrettyLines(colour=sys.stderr.isatty(), hide=hide) if pretty else JsonLines(process, hide))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("mainspring").setLevel(logging.INFO)


class JsonLines(logging.Formatter):
    """One JSON object a line, with the words that GET /logs has for the same."""

    def __init__(self, process: str, hide: Callable[[str], str] = masked) -> None:
        super().__init__()
        self._process = process
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": _at(record),
            "process": self._process,
            "pid": record.process,
            "level": record.levelname.lower(),
            "source": record.name,
            "message": self._hide(record.getMessage()),
        }
        line |= {name: value for name, value in asdict(of_record(record)).items() if value is not None}
        if record.exc_info:
            line["traceback"] = self._hide(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


class PrettyLines(logging.Formatter):
    """Time, who, what; warnings and errors in colour on a terminal."""

    def __init__(self, *, colour: bool, hide: Callable[[str], str] = masked) -> None:
        super().__init__()
        self._colour = colour
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        who = record.name.removeprefix("mainspring.")
        text = f"{self.formatTime(record, '%H:%M:%S')} {who:<7} {self._hide(record.getMessage())}"
        if record.exc_info:
            text += f"\n{self._hide(self.formatException(record.exc_info))}"
        colour = _COLOURS.get(record.levelno, "") if self._colour else ""
        return f"{colour}{text}\x1b[0m" if colour else text


def _at(record: logging.LogRecord) -> str:
    return instant_text(Instant(from_seconds(record.created)))
