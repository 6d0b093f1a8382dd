"""Conditions (``when``): a small language, parsed into values; nothing is ever evaluated as Python.

    params.day == "monday" and not params.dry_run
    results.count.rows[0] > 100          a node's result, or a part of it; null where it has none
    results["b:odd name"] in ["x", "y"]  a name or key with other characters
    states.lint in ["succeeded", "skipped"]
    len(results.split) > 0

In falling order of binding: ``( )``; ``== != < <= > >= in``, ``not in``; ``not``; ``and``; ``or``. Literals are those
of JSON, texts also in single quotes. False, null, 0 and what is empty count as false; all else as true. ``<`` and its
kin take two numbers or two texts; ``==`` takes anything, and values of different kinds are not equal. A key or an item
that is not there is an error, and the node fails; below null everything is null.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from mainspring.domain.references import Path, reached
from mainspring.errors import ConditionFailed, InvalidWorkflow, UnresolvedReference

LONGEST = 5_000
_DEEPEST = 30


class Literal(msgspec.Struct, frozen=True):
    """A value as it stands."""

    value: Any


class Name(msgspec.Struct, frozen=True):
    """``params.day.hour``: root ``params``, name ``day``, path ``("hour",)``. Roots: params, results, states."""

    root: str
    name: str
    path: Path


class Items(msgspec.Struct, frozen=True):
    """A list of expressions."""

    items: tuple[Expression, ...]


class Length(msgspec.Struct, frozen=True):
    """``len(...)``: of a text, list or object."""

    of: Expression


class Not(msgspec.Struct, frozen=True):
    """``not``."""

    term: Expression


class Compare(msgspec.Struct, frozen=True):
    """A comparison; ``sign`` is one of SIGNS."""

    left: Expression
    sign: str
    right: Expression


class Every(msgspec.Struct, frozen=True):
    """``and``: looks at no further term than the first that is false."""

    terms: tuple[Expression, ...]


class Either(msgspec.Struct, frozen=True):
    """``or``: looks at no further term than the first that is true."""

    terms: tuple[Expression, ...]


Expression = Literal | Name | Items | Length | Not | Compare | Every | Either


class Condition(msgspec.Struct, frozen=True):
    """A parsed condition and the names in it."""

    text: str
    expression: Expression
    names: tuple[Name, ...]

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes whose results or states it looks at."""
        return frozenset(name.name for name in self.names if name.root != "params")


class Facts(NamedTuple):
    """What a condition is judged by: parameters of the run, results of nodes that succeeded, states of nodes."""

    params: Mapping[str, Any]
    results: Mapping[str, Any]
    states: Mapping[str, str]


# ------------------------------------------------------------------------------------------------------- judging
def holds(condition: Condition, facts: Facts) -> bool:
    """Whether it is met. Raises ConditionFailed where that can't be said: a key that is not there, 1 < "a"."""
    try:
        return _true(_value(condition.expression, facts))
    except UnresolvedReference as error:
        raise ConditionFailed(condition.text, error.what) from error
    except _Unfit as error:
        raise ConditionFailed(condition.text, str(error)) from error


class _Unfit(Exception):
    """Two values that can't be compared so."""


def _true(value: Any) -> bool:
    return bool(value)


def _value(expression: Expression, facts: Facts) -> Any:
    match expression:
        case Literal(value=value):
            return value
        case Name(root=root, name=name, path=path):
            known = {"params": facts.params, "results": facts.results, "states": facts.states}[root]
            return reached(known.get(name), path, f"{_ROOTS[root]} {name}", "when")
        case Items(items=items):
            return [_value(item, facts) for item in items]
        case Length(of=of):
            return _length(_value(of, facts))
        case Not(term=term):
            return not _true(_value(term, facts))
        case Every(terms=terms):
            return all(_true(_value(term, facts)) for term in terms)
        case Either(terms=terms):
            return any(_true(_value(term, facts)) for term in terms)
        case Compare(left=left, sign=sign, right=right):
            return SIGNS[sign](_value(left, facts), _value(right, facts))


def _length(value: Any) -> int:
    if isinstance(value, str | list | dict):
        return len(value)
    raise _Unfit(f"len() of {_shown(value)}")


def _equal(left: Any, right: Any) -> bool:
    """As JSON has it: true is not 1, and 1 is 1.0."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in left)
    return bool(left == right)


def _among(left: Any, right: Any) -> bool:
    if isinstance(right, list):
        return any(_equal(left, one) for one in right)
    if isinstance(right, dict | str) and isinstance(left, str):
        return left in right
    raise _Unfit(f"{_shown(left)} in {_shown(right)}")


def _ordered(sign: str, compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], bool]:
    def judge(left: Any, right: Any) -> bool:
        numbers = _number(left) and _number(right)
        if numbers or (isinstance(left, str) and isinstance(right, str)):
            return bool(compare(left, right))
        raise _Unfit(f"{_shown(left)} {sign} {_shown(right)}")

    return judge


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    return f"{json.dumps(value):.60}"


SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": _ordered("<", operator.lt),
    "<=": _ordered("<=", operator.le),
    ">": _ordered(">", operator.gt),
    ">=": _ordered(">=", operator.ge),
    "in": _among,
    "not in": lambda left, right: not _among(left, right),
}

# ------------------------------------------------------------------------------------------------------- parsing
_ROOTS = {"params": "parameter", "results": "result of", "states": "state of"}
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<sign>==|!=|<=|>=|<|>)
    | (?P<mark>[()\[\],.])
    | (?P<end>$)
    )""",
    re.VERBOSE,
)
_OTHERS = {"=": "==", "&": "and", "|": "or", "!": "not"}


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


@lru_cache(maxsize=10_000)
def parse(text: str) -> Condition:
    """Read a condition. Raises InvalidWorkflow, which says at which character (from 1) what was wrong."""
    if len(text) > LONGEST:
        raise InvalidWorkflow(f"the condition has {len(text):,} characters; at most {LONGEST:,}")
    parser = _Parser(text)
    expression = parser.either()
    parser.expect("end", "")
    return Condition(text, expression, tuple(parser.names))


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while True:
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            rest = text[at:].lstrip()
            other = _OTHERS.get(rest[:1])
            raise _fault(text, len(text) - len(rest), f"{rest[:1]!r}", f"Write {other!r}." if other else "")
        yield _Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup))
        if match.lastgroup == "end":
            return
        at = match.end()


def _fault(text: str, at: int, what: str, remedy: str = "") -> InvalidWorkflow:
    return InvalidWorkflow(f"the condition {text!r:.200} has {what} at character {at + 1}", remedy=remedy)


class _Parser:
    """Descends once through the grammar; ``either`` is its top."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.names: list[Name] = []
        self._tokens = list(_tokens(text))
        self._next = 0
        self._depth = 0

    @property
    def token(self) -> _Token:
        return self._tokens[self._next]

    def taken(self, kind: str, *texts: str) -> str | None:
        """The next token, passed over, if it is of this kind and one of these texts."""
        token = self.token
        if token.kind != kind or (texts and token.text not in texts):
            return None
        self._next += 1
        return token.text

    def expect(self, kind: str, text: str) -> None:
        if self.taken(kind, text) is None:
            wanted = f"{text!r}" if text else "its end"
            raise self.fault(f"Here {wanted} was expected, or 'and', 'or', a comparison.")

    def fault(self, remedy: str) -> InvalidWorkflow:
        token = self.token
        return _fault(self.text, token.at, f"{token.text!r}" if token.text else "its end", remedy)

    def either(self) -> Expression:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self.fault(f"It may be nested {_DEEPEST} deep.")
        terms = [self.every()]
        while self.taken("word", "or"):
            terms.append(self.every())
        self._depth -= 1
        return terms[0] if len(terms) == 1 else Either(tuple(terms))

    def every(self) -> Expression:
        terms = [self.negation()]
        while self.taken("word", "and"):
            terms.append(self.negation())
        return terms[0] if len(terms) == 1 else Every(tuple(terms))

    def negation(self) -> Expression:
        negated = False
        while self.taken("word", "not"):
            negated = not negated
        term = self.comparison()
        return Not(term) if negated else term

    def comparison(self) -> Expression:
        left = self.operand()
        sign = self.taken("sign") or self.taken("word", "in")
        if sign is None and self.token.text == "not" and self._tokens[self._next + 1].text == "in":
            self._next += 2
            sign = "not in"
        return left if sign is None else Compare(left, sign, self.operand())

    def operand(self) -> Expression:
        if self.taken("mark", "("):
            inner = self.either()
            self.expect("mark", ")")
            return inner
        if self.taken("mark", "["):
            return Items(tuple(self.items()))
        number = self.taken("number")
        if number is not None:
            return Literal(float(number) if set(number) & set(".eE") else int(number))
        text = self.taken("text")
        if text is not None:
            return Literal(_unquoted(text))
        return self.word()

    def items(self) -> Iterator[Expression]:
        if self.taken("mark", "]"):
            return
        yield self.either()
        while self.taken("mark", ","):
            yield self.either()
        self.expect("mark", "]")

    def word(self) -> Expression:
        word = self.token.text
        if self.token.kind != "word" or word in ("and", "or", "not", "in"):
            raise self.fault("Here a value was expected.")
        if word not in _WORDS and word not in _ROOTS and word != "len":
            raise self.fault(f"Write params.{word}, results.{word} or states.{word}; a text stands in quotes.")
        self._next += 1
        if word in _WORDS:
            return Literal(_WORDS[word])
        if word == "len":
            self.expect("mark", "(")
            inner = self.either()
            self.expect("mark", ")")
            return Length(inner)
        path = self.path()
        if not path or not isinstance(path[0], str):
            raise self.fault(f'Write {word}.name or {word}["name"].')
        name = Name(word, path[0], path[1:])
        self.names.append(name)
        return name

    def path(self) -> Path:
        steps: list[str | int] = []
        while True:
            if self.taken("mark", "."):
                step = self.taken("word")
                if step is None:
                    raise self.fault('A name that is not a plain word stands in brackets: ["name"].')
                steps.append(step)
            elif self.taken("mark", "["):
                steps.append(self.step())
                self.expect("mark", "]")
            else:
                return tuple(steps)

    def step(self) -> str | int:
        text = self.taken("text")
        if text is not None:
            return _unquoted(text)
        if not self.token.text.isdigit():
            raise self.fault("A step is a text in quotes, or the number of an item from 0.")
        return int(self.taken("number") or 0)


def _unquoted(text: str) -> str:
    """What it stands for: escapes are those of JSON, and any other character that is escaped is itself."""
    if text.startswith('"'):
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(text, type=str)
    return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", _escaped, text[1:-1], flags=re.DOTALL)


def _escaped(match: re.Match[str]) -> str:
    word = match[1]
    return chr(int(word[1:], 16)) if len(word) > 1 else _ESCAPES.get(word, word)


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
