"""Retry policies: what may be declared, the delays that follow, and which errors are retried."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mainspring.clock import LONGEST, Duration, duration, duration_text
from mainspring.domain.retry import DEFAULT, Retry
from mainspring.errors import InvalidDuration, InvalidInput, InvalidOption

HOUR = duration("1h")


def lengths(most: int = LONGEST) -> st.SearchStrategy[str]:
    return st.integers(0, most).map(lambda length: duration_text(Duration(length)))


@st.composite
def policies(draw: st.DrawFn) -> Retry:
    first = draw(lengths())
    cap = draw(st.none() | lengths())
    assume(cap is None or duration(cap) >= duration(first))
    return Retry(
        max_attempts=draw(st.integers(1, 1_000_000)),
        max_losses=draw(st.integers(0, 1_000_000)),
        delay=first,
        factor=draw(st.floats(1, 1000)),
        max_delay=cap,
        jitter=draw(st.floats(0, 1)),
        retry_on=draw(st.lists(st.sampled_from(["ValueError", "a.B", "Outer.Inner"]))),
        never_on=draw(st.lists(st.sampled_from(["KeyError", "c.D"]))),
    )


fractions = st.floats(0, 1, exclude_max=True)


def test_the_defaults_are_those_of_the_manual() -> None:
    assert DEFAULT.document() == {
        "max_attempts": 4,
        "max_losses": 3,
        "delay": "1s",
        "factor": 2.0,
        "max_delay": "5m",
        "jitter": 0.2,
        "retry_on": [],
        "never_on": [],
    }


def test_an_hour_doubled_four_times_is_not_cut_by_a_default_cap() -> None:  # B127
    policy = Retry(max_attempts=5, delay="1h", factor=2, jitter=0)
    assert [policy.computed_delay(n, 0.5) for n in (1, 2, 3, 4)] == [HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR]
    assert policy.document()["max_delay"] == "1d"


def test_a_short_delay_is_capped_at_five_minutes() -> None:
    assert Retry(delay="1s", jitter=0).computed_delay(1000, 0.5) == duration("5m")


@given(policies(), st.integers(0, 10**9), fractions)
def test_no_delay_is_negative_or_above_the_cap_or_outside_its_jitter(
    policy: Retry, failures: int, fraction: float
) -> None:
    delay = policy.computed_delay(failures, fraction)
    assert 0 <= delay <= policy.max_delay
    try:
        plain = min(float(policy.max_delay), policy.delay * policy.factor ** max(0, failures - 1))
    except OverflowError:
        plain = float(policy.max_delay if policy.delay else 0)
    assert plain * (1 - policy.jitter) - 1 <= delay <= plain * (1 + policy.jitter) + 1


@given(policies(), st.integers(1, 1000), fractions)
def test_later_failures_never_wait_less_at_the_same_throw_of_the_dice(
    policy: Retry, failures: int, fraction: float
) -> None:
    assert policy.computed_delay(failures + 1, fraction) >= policy.computed_delay(failures, fraction) - 1


def test_no_delay_stays_none_however_often_it_fails() -> None:
    assert Retry(delay=0).computed_delay(1_000_000, 0.9) == 0


def test_a_herd_at_the_cap_is_still_spread_out() -> None:
    policy = Retry(delay="1m", max_delay="5m", jitter=0.2)
    delays = [policy.computed_delay(50, n / 100) for n in range(100)]
    assert len(set(delays)) == 100
    assert min(delays) == duration("4m")
    assert max(delays) < duration("5m")


@given(policies())
def test_a_policy_survives_its_document(policy: Retry) -> None:
    stored = msgspec.json.decode(msgspec.json.encode(policy.document()))
    assert Retry.from_document(stored) == policy


@given(policies(), st.fixed_dictionaries({}, optional={"max_attempts": st.integers(1, 9), "jitter": st.floats(0, 1)}))
def test_a_partial_document_changes_only_what_it_names(base: Retry, change: dict[str, Any]) -> None:
    assert Retry.from_document(change, base=base).document() == base.document() | change


def test_a_new_delay_brings_its_own_default_cap() -> None:
    base = Retry(delay="1s", max_delay="10s")
    assert Retry.from_document({"delay": "1h"}, base=base).max_delay == 24 * HOUR


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"max_attempts": 0}, "retry.max_attempts"),
        ({"max_attempts": 1.5}, "retry.max_attempts"),
        ({"max_attempts": True}, "retry.max_attempts"),
        ({"max_attempts": "4"}, "retry.max_attempts"),
        ({"max_attempts": 10**7}, "retry.max_attempts"),
        ({"max_losses": -1}, "retry.max_losses"),
        ({"factor": 0.5}, "retry.factor"),
        ({"factor": float("nan")}, "retry.factor"),
        ({"factor": "2"}, "retry.factor"),
        ({"factor": 1001}, "retry.factor"),
        ({"jitter": 1.1}, "retry.jitter"),
        ({"jitter": -0.1}, "retry.jitter"),
        ({"jitter": None}, "retry.jitter"),
        ({"delay": "soon"}, "retry.delay"),
        ({"delay": None}, "retry.delay"),
        ({"delay": [1]}, "retry.delay"),
        ({"max_delay": {}}, "retry.max_delay"),
        ({"delay": "1m", "max_delay": "30s"}, "retry.max_delay"),
        ({"retry_on": 5}, "retry.retry_on"),
        ({"retry_on": [5]}, "retry.retry_on"),
        ({"retry_on": [int]}, "retry.retry_on"),
        ({"retry_on": ["a\0b"]}, "retry.retry_on"),
        ({"never_on": [""]}, "retry.never_on"),
        ({"never_on": None}, "retry.never_on"),
        ({"never_on": ["x" * 201]}, "retry.never_on"),
    ],
)
def test_a_wrong_value_is_refused_by_name_and_value(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Retry.from_document(options)
    assert caught.value.field == field
    assert isinstance(caught.value, InvalidOption | InvalidDuration)
    with pytest.raises(InvalidInput):
        Retry(**options)


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidOption, match=r"retry has no 'retries'.*max_attempts"):
        Retry.from_document({"retries": 3})


@pytest.mark.parametrize("document", [5, None, ["max_attempts", 3], "5"])
def test_what_is_no_object_is_refused(document: Any) -> None:
    with pytest.raises(InvalidOption, match="must be an object"):
        Retry.from_document(document)


class Flaky(ConnectionError):
    pass


def types_of(kind: type[BaseException]) -> tuple[str, ...]:
    """As a runner reports them."""
    names: list[str] = []
    for each in kind.__mro__[:-1]:
        names += [each.__qualname__, f"{each.__module__}.{each.__qualname__}"]
    return tuple(names)


@pytest.mark.parametrize(
    ("policy", "error", "retried"),
    [
        (Retry(), ValueError, True),
        (Retry(retry_on=[ConnectionError]), Flaky, True),
        (Retry(retry_on=[ConnectionError]), ValueError, False),
        (Retry(retry_on=["OSError"]), Flaky, True),
        (Retry(retry_on="builtins.OSError"), Flaky, True),
        (Retry(retry_on=Flaky), Flaky, True),
        (Retry(retry_on=Flaky), ConnectionError, False),
        (Retry(never_on=[OSError]), Flaky, False),
        (Retry(never_on=[OSError]), ValueError, True),
        (Retry(retry_on=[ConnectionError], never_on=[Flaky]), Flaky, False),
        (Retry(retry_on=[ConnectionError], never_on=[Flaky]), ConnectionError, True),
    ],
)
def test_which_errors_are_retried(policy: Retry, error: type[BaseException], retried: bool) -> None:  # noqa: FBT001
    assert policy.allows(types_of(error)) is retried


def test_an_error_without_types_is_retried_unless_types_were_named() -> None:
    assert Retry().allows(())
    assert not Retry(retry_on=[ValueError]).allows(())


def test_a_policy_is_a_value() -> None:
    assert Retry(max_attempts=2) == Retry(max_attempts=2)
    assert hash(Retry()) == hash(DEFAULT)
    with pytest.raises(AttributeError):
        Retry().max_attempts = 3  # type: ignore[misc]
