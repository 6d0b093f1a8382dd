"""Webhooks as values: signatures that receivers can check, what follows from a try, which events are wanted."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest

from mainspring.clock import HOUR, MILLISECOND, SECOND, Duration, Instant
from mainspring.domain.event import Happening
from mainspring.domain.kinds import checked_kinds, is_one_of
from mainspring.domain.webhook import RETRY, DeliveryState, Sent, Verdict, after_try, new_secret, signed
from mainspring.errors import InvalidInput


def sent(status: int | None, error: str = "the receiver answered 500") -> Sent:
    return Sent(7, 1, Instant(0), Duration(MILLISECOND), status, "", "" if status == 200 else error)


def test_a_signature_is_that_of_standard_webhooks() -> None:
    """Computed here from the words of its specification, not by our code."""
    secret, other = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", new_secret("another")
    headers = signed((secret, other), 7, Instant(1_614_265_330 * SECOND + 5), '{"test": 2432232314}')
    assert (headers["webhook-id"], headers["webhook-timestamp"]) == ("dlv_7", "1614265330")
    for one, signature in zip((secret, other), headers["webhook-signature"].split(" "), strict=True):
        key = base64.b64decode(one.removeprefix("whsec_"))
        right = hmac.new(key, b'dlv_7.1614265330.{"test": 2432232314}', hashlib.sha256).digest()
        assert signature == f"v1,{base64.b64encode(right).decode()}"


def test_the_key_of_a_secret_is_long_enough_to_be_one() -> None:
    assert len(base64.b64decode(new_secret("a" * 43).removeprefix("whsec_"))) >= 24


@pytest.mark.parametrize(
    ("tried", "number", "most", "reached", "verdict"),
    [
        (sent(200), 1, 9, False, Verdict(DeliveryState.DELIVERED)),
        (sent(500), 1, 9, False, Verdict(DeliveryState.PENDING, Duration(5 * SECOND))),
        (sent(None, "no answer"), 8, 9, False, Verdict(DeliveryState.PENDING, Duration(4 * HOUR))),
        (sent(302), 2, 9, False, Verdict(DeliveryState.PENDING, Duration(20 * SECOND))),
        (sent(500), 9, 9, True, Verdict(DeliveryState.FAILED)),
        (sent(500), 1, 1, False, Verdict(DeliveryState.FAILED)),
    ],
)
def test_what_follows_from_a_try(tried: Sent, number: int, most: int, *, reached: bool, verdict: Verdict) -> None:
    found = after_try(tried, number, most=most, reached_since=reached, fraction=0.5)
    low, high = RETRY.computed_delay(number, 0.0), RETRY.computed_delay(number, 1.0)
    assert (found.state, found.pause) == (verdict.state, verdict.pause)
    if verdict.wait is not None:
        assert found.wait is not None
        assert low <= found.wait <= high <= 4 * HOUR
        assert abs(found.wait - verdict.wait) <= verdict.wait // 5


def test_a_receiver_that_is_gone_or_takes_nothing_any_more_is_left_alone() -> None:
    assert after_try(sent(410), 1, most=9, reached_since=True, fraction=0).pause is not None
    given_up = after_try(sent(500), 9, most=9, reached_since=False, fraction=0)
    assert given_up.state is DeliveryState.FAILED
    assert given_up.pause is not None
    assert "9 tries" in given_up.pause


@pytest.mark.parametrize(
    ("kinds", "fits"),
    [
        (("dead",), True),
        (("fail",), True),
        (("job.dead",), True),
        (("job.*",), True),
        (("run.*",), False),
        (("run.dead", "succeeded"), False),
    ],
)
def test_kinds_name_states_causes_and_what_it_happened_to(kinds: tuple[str, ...], *, fits: bool) -> None:
    one = Happening(1, Instant(0), 7, None, None, "shop.send", "shop", "fail", "running", "dead", 1, "worker:1")
    assert is_one_of(one, kinds) is fits


@pytest.mark.parametrize("kind", ["deaf", "thing.dead", "*", "job.", "", "job.job.dead"])
def test_a_kind_that_there_is_not_is_refused(kind: str) -> None:
    with pytest.raises(InvalidInput, match="not a kind of event"):
        checked_kinds(["dead", kind], "kinds")
