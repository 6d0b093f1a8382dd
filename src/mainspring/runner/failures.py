"""From what a job's code raised, or how its process ended, to a Failure. Pure; never raises, whatever it is handed."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import TracebackType

from mainspring.clock import duration
from mainspring.domain.attempt import Failure
from mainspring.errors import InvalidDuration
from mainspring.runner.output import clean

LONGEST_MESSAGE = 16_384
LONGEST_TRACEBACK = 65_536
"""Characters kept; the middle of a longer text is left out, visibly."""

_OURS = f"{Path(__file__).resolve().parents[1]}/"


def failure_of(error: BaseException) -> Failure:
    """The failure that an exception stands for; its traceback begins at the user's first line."""
    kind = type(error)
    ignored = _unreadable_wish(error)
    return Failure(
        type=kind.__qualname__,
        message=_kept(_told(error), LONGEST_MESSAGE),
        traceback=_kept(_traceback(error), LONGEST_TRACEBACK),
        types=_types(kind),
        evidence={} if ignored is None else {"retry_after_ignored": ignored},
    )


def retry_after(error: BaseException) -> str | float | None:
    """The delay that the error chose by its attribute ``retry_after``, where that is one."""
    try:
        wish = getattr(error, "retry_after", None)
        if isinstance(wish, str | int | float):
            duration(wish)
            return wish
    except (InvalidDuration, Exception):  # noqa: BLE001 - an attribute of foreign code; no readable wish, no wish
        return None
    return None


def _unreadable_wish(error: BaseException) -> str | None:
    """A delay that the error asks for and that can't be kept, so that it is said and not only left out."""
    try:
        wish = getattr(error, "retry_after", None)
        if wish is None or retry_after(error) is not None:
            return None
        return _kept(f"{wish!r} is not a duration; the policy's delay was taken", 300)
    except Exception:  # noqa: BLE001 - an attribute of foreign code
        return "it could not be read; the policy's delay was taken"


def _types(kind: type[BaseException]) -> tuple[str, ...]:
    """The class and its bases up to BaseException, by plain and by dotted names: what retry rules may name."""
    names: dict[str, None] = {}
    for each in kind.__mro__:
        if issubclass(each, BaseException):
            names[each.__qualname__] = None
            names[f"{each.__module__}.{each.__qualname__}"] = None
    return tuple(names)


def _told(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as fault:  # noqa: BLE001 - foreign __str__
        return f"(its text could not be made: {type(fault).__qualname__})"


def _traceback(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(type(error), error, _from_users(error.__traceback__)))
    except Exception as fault:  # noqa: BLE001 - foreign __str__ of a cause, or a stack too deep to format
        return f"{type(error).__qualname__} (its traceback could not be made: {type(fault).__qualname__})"


def _from_users(trace: TracebackType | None) -> TracebackType | None:
    """The trace without the frames of this package that lead to the user's code; None where there are no others."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OURS):
        trace = trace.tb_next
    return trace


def _kept(text: str, most: int) -> str:
    text = clean(text)
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"
