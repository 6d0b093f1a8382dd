"""The id of a request: as whoever asks gave it, else made here.

It goes back with the answer, and into what is logged and into the audit trail: request.py hands it on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from mainspring import request
from mainspring.chance import Chance

HEADER = "x-request-id"

_FIT = re.compile(r"[A-Za-z0-9._:/+=@-]{1,100}")


def begin(headers: Iterable[tuple[str, str]], chance: Chance) -> str:
    """The id of a request that begins; one that came and can't be taken is replaced, as it is no reason to refuse."""
    given = [value for name, value in headers if name == HEADER]
    taken = given[0] if len(given) == 1 and _FIT.fullmatch(given[0]) else chance.incarnation()
    request.begin(taken)
    return taken


def bound() -> dict[str, str]:
    """That of the request that is being worked on, as what is logged has it."""
    return {"request": taken} if (taken := request.current()) else {}
