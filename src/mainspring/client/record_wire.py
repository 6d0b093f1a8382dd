"""The wire form of what servers and workers say of themselves, and the way back."""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.clock import instant, instant_text
from mainspring.domain.record import LEVELS, Bound, Entry, Record, level_name


def record_wire(one: Record) -> dict[str, Any]:
    """A record; ``seq`` is the cursor, null stands for what it is not about."""
    entry = one.entry
    return {
        "seq": one.seq,
        "at": instant_text(entry.at),
        "process": entry.process,
        "pid": entry.pid,
        "level": level_name(entry.level),
        "source": entry.source,
        "message": entry.message,
        **msgspec.structs.asdict(entry.bound),
    }


def record_of(wire: dict[str, Any]) -> Record:
    """A record that a server has told."""
    about = Bound(**{name: wire[name] for name in Bound.__struct_fields__})
    said = (wire["process"], wire["pid"], LEVELS[wire["level"]], wire["source"], wire["message"])
    return Record(wire["seq"], Entry(instant(wire["at"]), *said, about))
