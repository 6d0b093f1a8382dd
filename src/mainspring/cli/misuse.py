"""What the parser of command lines complains of, in our words."""

from __future__ import annotations

from cyclopts import CycloptsError
from cyclopts.exceptions import (
    CoercionError,
    MissingArgumentError,
    RepeatArgumentError,
    UnknownCommandError,
    UnusedCliTokensError,
)

_KINDS = {int: "a whole number", float: "a number", bool: "given without a value"}


def told(error: CycloptsError) -> str:
    """One sentence: what was wrong, and with which word."""
    match error:
        case UnusedCliTokensError(unused_tokens=words) if words:
            return f"{_quoted(words)} {'is' if len(words) == 1 else 'are'} one too many."
        case UnknownCommandError(unused_tokens=[word, *_]):
            return f"There is no command {word!r} here."
        case RepeatArgumentError(token=token) if token.keyword:
            return f"{token.keyword} is given more than once."
        case MissingArgumentError(argument=argument) if argument is not None:
            name = error.keyword or argument.name
            return f"{name} needs a value." if name.startswith("-") else f"{name} is missing."
        case CoercionError(token=token, target_type=kind) if token is not None and kind in _KINDS:
            name = token.keyword or (error.argument.name if error.argument is not None else "A value")
            return f"{name} is {token.value!r}; it must be {_KINDS[kind]}."
        case _:
            return str(error)


def _quoted(words: list[str]) -> str:
    return ", ".join(repr(word) for word in words)
