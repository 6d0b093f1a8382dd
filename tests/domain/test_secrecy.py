"""Secrets are hidden, also transformed and in pieces (field report B221); what is none stays as it is."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainspring.clock import MINUTE, SECOND
from mainspring.domain.address import shown
from mainspring.domain.logline import LOG_LIMIT
from mainspring.domain.secrecy import Mask, hiding, is_telling, masked, of_environment, of_parameters
from mainspring.runner.output import PIECE, JobLog
from tests.contract.engines import HandClock

SECRETS = [
    "hunter22",
    "s3cr3t-Zq8/vX+w",
    'with "quotes" and \\ back',
    "grüße & 日本語",
    "a b?c=d&e",
    "x" * 5_000,
    "-----BEGIN KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0B\n-----END KEY-----\n",
]


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


FORMS: dict[str, Callable[[str], str]] = {
    "as it is": lambda secret: secret,
    "base64": base64_of,
    "base64 behind a name": lambda secret: base64_of(f"user:{secret}"),
    "base64 amid other things": lambda secret: base64_of(f"ab{secret}cd"),
    "base64 for addresses": lambda secret: base64.urlsafe_b64encode(secret.encode()).decode(),
    "in an address": quote,
    "in an address, all of it": lambda secret: quote(secret, safe=""),
    "in a form": quote_plus,
    "in JSON": lambda secret: json.dumps([secret]),
    "in JSON as it is": lambda secret: json.dumps([secret], ensure_ascii=False),
    "as Python shows it": lambda secret: repr([secret]),
    "its first line": lambda secret: secret.splitlines()[0],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secret", SECRETS, ids=range(len(SECRETS)))
def test_a_known_secret_is_hidden_in_each_of_its_forms(secret: str, form: str) -> None:
    text = FORMS[form](secret)
    shown = Mask([secret])(f"before {text} after")
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    assert "***" in shown
    assert [text[at : at + 9] for at in range(len(text) - 8) if text[at : at + 9] in shown] == []


def test_short_values_hide_nothing_as_they_would_hide_everything() -> None:
    assert Mask(["on", "12345", ""])("it is on, 12345 times") == "it is on, 12345 times"


def test_names_tell_what_is_a_secret() -> None:
    telling = ("DB_PASSWORD", "api_key", "authToken", "AWS_SECRET_ACCESS_KEY", "PRIVATE_KEY", "passphrase", "MY_PWD")
    assert [name for name in telling if not is_telling(name)] == []
    plain = ("PWD", "PATH", "KEYBOARD", "monkey", "SECRET_FILE", "TOKEN_PATH", "keys", "user", "SSH_AUTH_SOCK")
    assert [name for name in plain if is_telling(name)] == []
    environment = {"A_TOKEN": "first-one", "HOME": "/root", "DSN": "postgresql://ann:p%40ssw0rd@db/x", "X": "http://h/"}
    assert of_environment(environment) == ["first-one", "p%40ssw0rd", "p@ssw0rd"]
    assert of_parameters(b'{"a":{"tokens":["deep-down",7]},"password":"on-top","text":"not this"}') == [
        *("deep-down", "on-top"),
    ]
    assert of_parameters(b'{"text":"nothing here"}') == of_parameters(b'{"password": not JSON') == []


SECRET = "s3cr3t-Zq8vXw"


@pytest.mark.parametrize(
    "text",
    [
        f"connecting to postgresql://ann:{SECRET}@db.example/main failed",
        f"Authorization: Bearer {SECRET}",
        f"authorization: basic {SECRET}==",
        f"token mst_{SECRET} is revoked",
        f"cookie mss_{SECRET}",
        f"signed with whsec_{SECRET}==",
        f"password={SECRET} host=x",
        f"db_password={SECRET}",
        f"api_key: {SECRET}",
        f'{{"secret": "{SECRET}"}}',
        f"https://hooks.example/?token={SECRET}&x=1",
    ],
)
def test_what_looks_like_a_secret_is_hidden_in_what_processes_say(text: str) -> None:
    assert SECRET not in masked(text)
    assert "***" in masked(text)


@pytest.mark.parametrize(
    ("url", "seen"),
    [
        ("postgresql://ann:hunter22@db/x?password=hunter22&schema=s", "postgresql://ann@db/x?schema=s"),
        ("mysql://ann:hunter22@db/x", "mysql://ann@db/x"),
        ("redis://:hunter22@db", "redis://@db"),
        ("https://ann:hunter22@collector:4318", "https://ann@collector:4318"),
        ("sqlite:///a:b@c.db", "sqlite:///a:b@c.db"),
        ("http://127.0.0.1:8750", "http://127.0.0.1:8750"),
    ],
)
def test_addresses_are_shown_without_passwords(url: str, seen: str) -> None:
    assert shown(url) == seen


def test_what_is_no_secret_stays_as_it_is() -> None:
    for text in (
        *("worker 3 runs 2 tasks of shop", "http://127.0.0.1:8750/api", "tokens: 3", "a@b", "no password given"),
        *("basic understanding of it", "max_tokens=4096", "the token of ann was revoked"),
    ):
        assert masked(text) == Mask([SECRET])(text) == hiding({"X_TOKEN": SECRET})(text) == text


def test_what_a_process_says_hides_the_secrets_of_its_environment() -> None:
    assert hiding({"X_TOKEN": "opensesame", "PATH": "/usr/bin"})("opensesame in /usr/bin") == "*** in /usr/bin"


class Printed:
    """A job's log, taken as the runner takes it."""

    def __init__(self, *secrets: str) -> None:
        self.clock = HandClock()
        self.log = JobLog(LOG_LIMIT, self.clock, lambda: None, Mask(secrets))
        self.text = ""

    def say(self, text: str, stream: str = "stdout") -> None:
        self.log.write(stream, text)
        self.clock.forward(SECOND * 2)
        self.text += "".join(chunk.text for chunk in self.log.take())

    def end(self) -> str:
        self.log.close()
        while chunks := self.log.take():
            self.text += "".join(chunk.text for chunk in chunks)
        return self.text


@pytest.mark.parametrize("cut", range(1, len(SECRET)))
def test_a_secret_in_two_writes_with_a_pause_between_is_hidden(cut: int) -> None:
    printed = Printed(SECRET)
    printed.say(f"it is {SECRET[:cut]}")
    assert printed.text == "it is ", "the line is shown while it is unfinished, but for what may become a secret"
    printed.say(SECRET[cut:])
    printed.say(" and no more\n")
    assert printed.end() == "it is *** and no more\n"


def test_a_secret_letter_by_letter_among_other_streams_is_hidden() -> None:
    printed = Printed(SECRET)
    for letter in f"<{SECRET}>":
        printed.say(letter)
        printed.say("another stream\n", "stderr")
    assert printed.end().replace("another stream\n", "") == "<***>"


def test_what_only_begins_like_a_secret_is_shown_when_it_goes_on_otherwise_or_ends() -> None:
    printed = Printed(SECRET)
    printed.say(f"{SECRET[:5]}")
    printed.say(" it was not\n")
    printed.say(SECRET[:7])
    assert printed.end() == f"{SECRET[:5]} it was not\n{SECRET[:7]}"


def test_a_secret_across_the_border_of_a_very_long_line_is_hidden() -> None:
    printed = Printed(SECRET)
    printed.say("x" * PIECE + SECRET[:4])
    printed.say(f"{SECRET[4:]}\n")
    assert printed.end() == "x" * PIECE + "***\n"


def test_lines_of_a_secret_that_come_one_by_one_are_hidden() -> None:
    printed = Printed(SECRETS[-1])
    for line in SECRETS[-1].splitlines(keepends=True):
        printed.say(line)
        printed.clock.forward(MINUTE)
    assert printed.end() == "***\n" * 4


def naively(forms: list[str], text: str) -> int:
    longest = max(map(len, forms))
    ends = (text[-length:] for length in range(min(longest - 1, len(text)), 0, -1))
    return next((len(end) for end in ends if any(form.startswith(end) for form in forms)), 0)


LETTERS = st.sampled_from("ab")
FORM = st.text(LETTERS, min_size=6, max_size=40)


@given(st.lists(FORM, min_size=1, max_size=3), st.text(LETTERS, max_size=60), st.integers(0, 40))
def test_what_may_become_a_secret_is_all_that_it_begins_with(forms: list[str], text: str, begun: int) -> None:
    mask = Mask()
    mask._forms = sorted(forms, key=len, reverse=True)
    text += forms[0][:begun]
    assert mask.unsettled(text) == naively(forms, text)


@pytest.mark.parametrize("form", ["a" * 60, "a" * 40 + "b" + "a" * 19, "ab" * 30])
@pytest.mark.parametrize("text", ["a" * 59, "a" * 59 + "b", "ab" * 29 + "a", "b" * 9, "a" * 30 + "b" + "a" * 30, ""])
def test_a_secret_that_repeats_itself_is_found_as_any_other(form: str, text: str) -> None:
    assert Mask([form]).unsettled(text) >= naively([form], text)
    mask = Mask()
    mask._forms = [form]
    assert mask.unsettled(text) == naively([form], text)
