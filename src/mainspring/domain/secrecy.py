"""Secrets in texts: what looks like one, what is known to be one by the name beside it, and what hides both.

Pure. A text can always hide a secret in a form that is not looked for; docs/operations/secrets.md says which are.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit

HIDDEN = "***"

LEAST = 6
"""Characters of a value that is hidden wherever it stands; shorter ones would blot out ordinary words."""

_LONGEST = 16_384
"""Characters of a form that is looked for; of a longer value its lines are."""

_GUESSES = 20
"""Places at which a form may begin that are compared one by one; there are more only where it repeats itself."""

_SHAPES = (
    (re.compile(r"\b(mst_|mss_|whsec_)[A-Za-z0-9_+/=-]{8,}"), rf"\1{HIDDEN}"),
    (re.compile(r"(://[^/\s:@]*):[^/\s@]+@"), rf"\1:{HIDDEN}@"),
    (re.compile(r"(?i)\b(bearer|basic)\s+(?=[a-z._~+/-]*[0-9=])[a-z0-9._~+/=-]{8,}"), rf"\1 {HIDDEN}"),
    (
        re.compile(r"""(?i)(password|passwd|secret|token|api_?key)(["']?\s*[=:]\s*["']?)(?!\*\*\*)[^\s"',;&]{4,}"""),
        rf"\1\2{HIDDEN}",
    ),
)

_MARKS = ("://", "mst_", "mss_", "whsec_")
"""Without one of these the first two have nothing to look for."""

_TELLING = re.compile(
    r"(?i)pass(?:word|wd|phrase|code)|secret|token|credential|(?:api|access|private|signing|encryption)_?-?key|_pwd$"
)


def masked(text: str) -> str:
    """The same without what looks like a secret: our own, passwords in addresses, and what is said to be one."""
    for pattern, shown in _SHAPES:
        text = pattern.sub(shown, text)
    return text


def hiding(environment: Mapping[str, str]) -> Callable[[str], str]:
    """What a process says, without secrets: those of its environment, and what looks like one."""
    mask = Mask(of_environment(environment))
    return lambda text: masked(mask(text))


def is_telling(name: str) -> bool:
    """Whether what has this name is a secret: ``DB_PASSWORD``, ``api_key``, ``authToken``; not the place of one."""
    return _TELLING.search(name) is not None and not name.lower().endswith(("_file", "_path", "_dir"))


def of_environment(environment: Mapping[str, str]) -> list[str]:
    """Secrets among environment variables: values with telling names, and passwords in addresses."""
    return [
        secret
        for name, value in environment.items()
        for secret in ([value] if is_telling(name) else _password_in(value))
    ]


def of_parameters(params: bytes) -> list[str]:
    """Secrets among parameters (JSON): texts with telling names, however deep, and passwords in addresses."""
    text = params.decode(errors="replace")
    if "://" not in text and _TELLING.search(text) is None:
        return []
    try:
        return list(_in(json.loads(text), telling=False))
    except (ValueError, RecursionError):
        return []


def _in(value: Any, *, telling: bool) -> Iterator[str]:
    if isinstance(value, str):
        yield from [value] if telling else _password_in(value)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _in(each, telling=telling or is_telling(name))
    elif isinstance(value, list):
        for each in value:
            yield from _in(each, telling=telling)


def _password_in(value: str) -> list[str]:
    if "://" not in value or "@" not in value:
        return []
    try:
        password = urlsplit(value).password
    except ValueError:
        return []
    return [password, unquote(password)] if password else []


class Mask:
    """Hides known values, and the forms that they commonly take: base64, in an address, in JSON, and line by line."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret) if LEAST <= len(form) <= _LONGEST}
        self._forms = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, self._forms))) if forms else None

    def __call__(self, text: str) -> str:
        """The text without them, and without what can be nothing but a secret."""
        if self._pattern is not None:
            text = self._pattern.sub(HIDDEN, text)
        if any(mark in text for mark in _MARKS):
            for pattern, shown in _SHAPES[:2]:
                text = pattern.sub(shown, text)
        return text

    def within(self, document: Any) -> Any:
        """Plain JSON with each text in it masked."""
        if isinstance(document, str):
            return self(document)
        if isinstance(document, dict):
            return {name: self.within(value) for name, value in document.items()}
        return [self.within(value) for value in document] if isinstance(document, list) else document

    def unsettled(self, text: str) -> int:
        """How many characters at the end of a text may be the beginning of a secret, so that they should wait."""
        if not self._forms:
            return 0
        end = text[1 - len(self._forms[0]) :]
        return max(_begun(form, end) for form in self._forms)


NOTHING_KNOWN = Mask()


def _begun(form: str, text: str) -> int:
    """How many characters at the end of a text are the beginning of a form: the most that are."""
    end = text[-len(form) :]
    seed = form[:LEAST]
    at = end.find(seed)
    for _ in range(_GUESSES):
        if at < 0:
            break
        if form.startswith(end[at:]):
            return len(end) - at
        at = end.find(seed, at + 1)
    if at >= 0:
        return _overlap(form, end[at:])
    return next((length for length in range(min(len(seed), len(end)), 0, -1) if seed.startswith(end[-length:])), 0)


def _overlap(form: str, text: str) -> int:
    """The same for one that repeats itself, in time that grows with the text alone (Knuth, Morris and Pratt)."""
    back = [0] * len(form)
    met = 0
    for at in range(1, len(form)):
        while met and form[at] != form[met]:
            met = back[met - 1]
        met += form[at] == form[met]
        back[at] = met
    met = 0
    for letter in text:
        while met and (met == len(form) or letter != form[met]):
            met = back[met - 1]
        met += letter == form[met]
    return met


def _forms(secret: str) -> Iterator[str]:
    whole = secret.strip("\r\n")
    yield whole
    yield from (line.strip() for line in whole.splitlines())
    if len(whole) < LEAST:
        return
    data = whole.encode(errors="surrogateescape")
    yield from _base64(data)
    if secret != whole:
        yield from _base64(secret.encode(errors="surrogateescape"))
    yield from (quote(data), quote(data, safe=""), quote_plus(data))
    for ascii_only in (True, False):
        yield json.dumps(whole, ensure_ascii=ascii_only)[1:-1]
    yield repr(whole)[1:-1]


def _base64(data: bytes) -> Iterator[str]:
    """Its base64, wherever in a longer text it stands: the three ways in which it may begin within four characters."""
    for before in range(3):
        found = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
        own = found[(0, 2, 3)[before] : len(found) - ((before + len(data)) % 3 > 0)]
        yield own
        yield own.translate(str.maketrans("+/", "-_"))
