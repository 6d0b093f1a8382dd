from __future__ import annotations

import pytest

from mainspring.domain.conditions import Facts, Name, holds, parse
from mainspring.errors import ConditionFailed, InvalidWorkflow

FACTS = Facts(
    params={"day": "monday", "limit": 3, "dry": False, "tags": ["a", "b"], "none": None},
    results={"raw": {"rows": [1, 2, 3], "by name": {"x": 1.5}}, "b:odd.name": "heads"},
    states={"raw": "succeeded", "lint": "skipped"},
)


@pytest.mark.parametrize(
    "text",
    [
        'params.day == "monday"',
        "params.day == 'monday' and not params.dry",
        "params.limit >= 3 and params.limit < 3.5",
        "results.raw.rows[1] == 2",
        'results.raw["by name"].x == 1.5',
        'results["b:odd.name"] in ["heads", "tails"]',
        '"a" in params.tags and "c" not in params.tags',
        'states.lint in ["succeeded", "skipped"]',
        "len(results.raw.rows) > 2",
        "false or true and true",
        "not (true and false)",
        "not not true",
        "not 1 == 2",
        "results.missing == null",
        "results.missing.deep.path == null",
        "params.none == null",
        "1 != true",
        "1 == 1.0",
        "[1, [2]] == [1, [2]]",
        "-1 < 0 and 1e3 == 1000",
        '"it\\"s" == \'it"s\'',
        "'x' in results.raw['by name']",
        r'"\u006donday" == params.day',
        r"'\u006donday' == params.day",
        r'"\ud83d\ude00" == "😀"',
        r'"a\/b\r" == ' + '"a/b\r"',
        "results.raw.rows",
    ],
)
def test_a_condition_that_is_met(text: str) -> None:
    assert holds(parse(text), FACTS)
    assert not holds(parse(f"not ({text})"), FACTS)


def test_terms_that_need_no_look_are_not_looked_at() -> None:
    assert not holds(parse("params.dry and results.raw.nothing == 1"), FACTS)
    assert holds(parse("true or results.raw.nothing == 1"), FACTS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("results.raw.row == 1", "the result of raw has no 'row': it has by name, rows"),
        ("results.raw.rows[7] == 1", "has no 7: it has 3 items"),
        ("params.day < 3", '"monday" < 3'),
        ("len(params.limit) == 1", "len() of 3"),
        ("1 in 2", "1 in 2"),
        ("params.limit.deep == 1", "it is a number"),
    ],
)
def test_a_condition_that_can_not_be_answered_says_why(text: str, said: str) -> None:
    with pytest.raises(ConditionFailed) as caught:
        holds(parse(text), FACTS)
    assert caught.value.code == "condition_failed"
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("params.day = 1", "'=' at character 12. Write '=='."),
        ("a == 1", "'a' at character 1. Write params.a"),
        ("params.day ==", "its end at character 14"),
        ("(true", "its end at character 6"),
        ("true true", "'true' at character 6"),
        ("params == 1", "Write params.name"),
        ("params[0] == 1", "Write params.name"),
        ("results.a-b == 1", "character 10"),
        ('results["x" == 1', "']' was expected"),
        ("__import__('os')", "'__import__' at character 1"),
        ("1 < 2 < 3", "'<' at character 7"),
        ("params.x && true", "Write 'and'."),
        ("", "its end at character 1"),
        ("(" * 40 + "1" + ")" * 40, "nested 30 deep"),
        ("1 and " * 2000 + "1", "at most 5,000"),
        ("params.x[-1] == 1", "number of an item from 0"),
    ],
)
def test_a_condition_that_can_not_be_read_is_refused_with_the_character(text: str, said: str) -> None:
    with pytest.raises(InvalidWorkflow) as caught:
        parse(text)
    assert said in str(caught.value)


def test_a_condition_tells_what_it_looks_at() -> None:
    condition = parse('results["a b"].x == params.day and states.c == "failed"')
    assert condition.nodes == {"a b", "c"}
    assert Name("params", "day", ()) in condition.names
