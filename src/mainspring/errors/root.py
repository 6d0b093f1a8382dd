"""The base of every error, and the sentence that names what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable


class MainspringError(Exception):
    """Base of every error of this package.

    ``code``: stable name; ``http_status`` and ``exit_status``: what REST and the CLI answer; ``remedy``: what to do,
    or an empty text; ``field``: the part of the request that was wrong, or an empty text; ``index``: which of several
    things that were asked for at once, counted from 0, or None where it is about all.
    """

    code = "mainspring_error"
    http_status = 500
    exit_status = 1

    def __init__(self, message: str, *, remedy: str = "", field: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.field = field
        self.index: int | None = None

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


def near(name: str, among: Iterable[str]) -> str:
    """A sentence that names the closest known names, or an empty text."""
    import difflib  # for those who have made a mistake alone

    close = difflib.get_close_matches(name, list(among), n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(close)}?" if close else ""
