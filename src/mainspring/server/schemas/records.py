"""What servers and workers say of themselves."""

from __future__ import annotations

from mainspring.domain.record import LEVELS
from mainspring.server.schemas.values import MOMENT, maybe, record, text, whole, word

_NONE = {"examples": [None]}

SCHEMAS = {
    "LogRecord": record(
        {
            "seq": whole(12),
            "at": MOMENT,
            "process": text("worker"),
            "pid": whole(4711),
            "level": word(LEVELS, example="warning"),
            "source": text("worker"),
            "message": text("runner 2 was ended by signal 9"),
            "job": maybe(whole(10482)),
            "attempt": maybe(whole(1)),
            "run": maybe(whole(377)) | _NONE,
            "worker": maybe(whole(3)),
            "trace": maybe(text("4bf92f3577b34da6a3ce929d0e0e4736")) | _NONE,
            "request": maybe(text("b7ad6b7169203331")) | _NONE,
        }
    ),
}
