"""Code hashes: whether the code of a task, or all that an app declares, is what somebody else has seen."""

from __future__ import annotations

import hashlib
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any

_LENGTH = 16
_HEADS = ("def ", "async def ", "class ")
"""How a definition begins behind its decorators, whose options are no code."""


def code_hash(function: Callable[..., Any] | None, declared: bytes) -> str:
    """16 hexadecimal digits that change with the function's source, without decorators, and with ``declared`` (JSON).

    What the function calls is not looked at.
    The source is read when the task is declared, so a file that changes under a running program changes nothing.
    Without source (an interactive session, a frozen program) the byte code stands in for it.
    """
    digest = hashlib.sha256(declared)
    if function is not None:
        digest.update(_source(inspect.unwrap(function)))
    return digest.hexdigest()[:_LENGTH]


def combined(hashes: Iterable[str]) -> str:
    """One hash for an app, whatever the order of its tasks."""
    return hashlib.sha256(" ".join(sorted(hashes)).encode()).hexdigest()[:_LENGTH]


def _source(function: Callable[..., Any]) -> bytes:
    try:
        lines = inspect.getsource(function).splitlines(keepends=True)
        body = next((place for place, line in enumerate(lines) if line.lstrip().startswith(_HEADS)), 0)
        return "".join(lines[body:]).encode(errors="surrogatepass")
    except (OSError, TypeError, IndexError, SyntaxError):
        code = getattr(function, "__code__", None)
        return repr(function).encode() if code is None else _byte_code(code)


def _byte_code(code: types.CodeType) -> bytes:
    parts = [code.co_code, repr((code.co_names, code.co_varnames)).encode()]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            parts.append(_byte_code(constant))
        elif isinstance(constant, frozenset):  # its order differs from process to process
            parts.append(repr(sorted(map(repr, constant))).encode())
        else:
            parts.append(repr(constant).encode())
    return b"\0".join(parts)
