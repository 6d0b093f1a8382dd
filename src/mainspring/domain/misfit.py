"""What msgspec says of a value that does not fit, as a text and the field that it is about.

It says ``Expected `str`, got `int` - at `$.nodes[0].name` ``, of keys ``... - at `key` in `$.tags` ``, below an object
with names of its own ``$.tags[...]``, and of a field that is missing or unknown only where the object is.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

_SAID = re.compile(r"(?P<what>.*?)(?: - at (?:`key` in )?`\$(?P<path>[^`]*)`)?", re.DOTALL)
_OF_FIELD = re.compile(r"Object (?P<how>missing required|contains unknown) field `(?P<name>.*)`", re.DOTALL)


class Misfit(NamedTuple):
    """``what``: without a capital and a full stop; ``path``: the field (``unique.key``), empty for the whole.

    ``missing`` and ``unknown``: whether there is no such field, and whether there may be none.
    """

    what: str
    path: str
    missing: bool = False
    unknown: bool = False


def misfit(error: msgspec.ValidationError) -> Misfit:
    """What it says."""
    found = _SAID.fullmatch(str(error))
    what, path = (found["what"], found["path"] or "") if found else (str(error), "")
    path = path.partition("[...]")[0].lstrip(".")
    field = _OF_FIELD.fullmatch(what)
    if field is not None:
        missing = field["how"] == "missing required"
        text = "it is missing" if missing else "there is no such field"
        return Misfit(text, f"{path}.{field['name']}".lstrip("."), missing=missing, unknown=not missing)
    return Misfit(what[:1].lower() + what[1:], path)
