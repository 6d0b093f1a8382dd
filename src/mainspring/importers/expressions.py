"""Conditions as other systems write them, in our language where that can say them.

What looks at the outside (``github.ref``, inputs of a form) can't be said: it is taken as met, and noted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Sequence
from typing import Any, NamedTuple

from mainspring.domain import conditions
from mainspring.domain.joins import Rule
from mainspring.errors import InvalidWorkflow


class Translated(NamedTuple):
    """A rule and a condition. ``fails``: the condition can't be answered in the source, so the node fails there."""

    rule: Rule
    when: str | None = None
    note: str = ""
    fails: bool = False


_STATES = {
    "succeeded": ["succeeded"],
    "failed": ["failed"],
    "errored": ["failed"],
    "skipped": ["skipped"],
    "omitted": ["skipped"],
    "daemoned": ["active"],
    "anysucceeded": ["succeeded"],
    "allfailed": ["failed"],
}
_TERM = re.compile(r"\s*(&&|\|\||!|\(|\)|[A-Za-z0-9_.\-]+)")
_SIGNS = {"&&": "and", "||": "or", "!": "not", "(": "(", ")": ")"}


def depends(text: str, needs: Sequence[str]) -> Translated:
    """An Argo ``depends``: when all have ended, a condition on their states. Raises InvalidWorkflow."""
    words, end = [], 0
    for match in _TERM.finditer(text):
        if match.start() != end:
            break
        end = match.end()
        words.append(_SIGNS.get(match[1]) or _state(match[1], needs))
    if text[end:].strip():
        raise InvalidWorkflow(f"the expression {text!r} can't be read behind character {end}", place="depends_expr")
    return Translated(Rule.ALL_DONE, " ".join(words))


def _state(word: str, needs: Sequence[str]) -> str:
    name, dot, state = word.rpartition(".")
    if word in needs or not dot:
        name, wanted = word, ["succeeded", "skipped"]
    elif state.lower() in _STATES:
        wanted = _STATES[state.lower()]
    else:
        raise InvalidWorkflow(f"{word!r} names no state of a node", place="depends_expr")
    return f"states[{json.dumps(name)}] in {json.dumps(wanted)}"


_NAME = r"[A-Za-z0-9_\-]+"
_REWRITES = (
    (re.compile(r"\$?\{\{(.*?)\}\}", re.DOTALL), r"\1"),
    (re.compile(rf"\btasks\.({_NAME})\.outputs\.result\b"), r'results["\1"]'),
    (re.compile(rf"\bneeds\.({_NAME})\.result\s*==\s*'success'"), r'states["\1"] == "succeeded"'),
    (re.compile(rf"\bneeds\.({_NAME})\.result\s*==\s*'skipped'"), r'states["\1"] == "skipped"'),
    (re.compile(rf"\bneeds\.({_NAME})\.result\s*==\s*'failure'"), r'states["\1"] == "failed"'),
    (re.compile(rf"\bneeds\.({_NAME})\.outputs\.({_NAME})"), r'results["\1"]["\2"]'),
    (re.compile(rf"\boutputs\.({_NAME})"), r'results["\1"]'),
    (re.compile(r"&&"), " and "),
    (re.compile(r"\|\|"), " or "),
    (re.compile(r"!(?!=)"), " not "),
    (re.compile(r"(==|!=)\s*([A-Za-z][A-Za-z0-9_\-]*)\s*$"), r'\1 "\2"'),
)
_ALWAYS = re.compile(r"^\s*(?:\$?\{\{)?\s*always\(\)\s*(?:&&)?")


def translated(when: Any, known: Container[str], rule: Rule) -> Translated:
    """A ``when`` or ``if`` of the source. ``known``: the names of its nodes."""
    if when is None:
        return Translated(rule)
    text = str(when)
    if text.strip() == "manual":
        return Translated(rule, "false", "it waits for a person, so it is skipped.")
    if _ALWAYS.match(text):
        rule = Rule.ALL_DONE
        text = _ALWAYS.sub("{{", text, count=1) if "{{" in text else _ALWAYS.sub("", text, count=1)
        if not text.strip("{} \n"):
            return Translated(rule)
    for pattern, instead in _REWRITES:
        text = pattern.sub(instead, text)
    text = " ".join(text.split())
    try:
        condition = conditions.parse(text)
    except InvalidWorkflow:
        return Translated(rule, None, f"the condition {str(when)!r:.100} is about the outside; it is taken as met.")
    if any(name.root == "params" for name in condition.names):
        return Translated(rule, None, f"the condition {str(when)!r:.100} is about the outside; it is taken as met.")
    if any(name not in known for name in condition.nodes):
        return Translated(rule, fails=True)
    return Translated(rule, text)
