"""A server that asks who is there: nothing without a token, to each what its role covers, and a record of changes."""

from __future__ import annotations

import re
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mainspring.cli.main import main
from mainspring.client import remote
from mainspring.client.direct import connect
from mainspring.clock import MILLISECOND, SECOND, Duration
from mainspring.domain.access import Asker, Role
from mainspring.errors import (
    AddressRefused,
    InvalidSetting,
    RoleTooLow,
    ServerUnreachable,
    TooManyFailures,
    Unauthenticated,
    UnknownToken,
)
from mainspring.server.admission import MOST_FAILURES, REMEMBERED, Admission, Shown, shown
from mainspring.server.exchange import Access, Answer, Entry
from mainspring.server.listen import Terms, check, listen
from mainspring.server.operation import gives
from mainspring.server.security import check_role
from mainspring.server.serving import Serving as Served
from tests.api.hand_clock import HandClock
from tests.api.serving import API, Serving, eventually
from tests.patience import ended

PUBLIC = {"/healthz", "/readyz", f"{API}/login"}
"""What answers to anybody."""


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def given(text: str) -> Shown:
    """The secret of a request with this header."""
    return shown([("authorization", text)])


class Asking:
    """A server that asks, and one token of each role."""

    def __init__(self, directory: Path) -> None:
        self.admin = connect(f"sqlite:///{directory}/main.db", actor="ann@here")
        self.secrets = {role: self.admin.create_token(role.value, role)[1] for role in Role}
        self.serving = Serving(directory, options=("--auth", "token")).wait_until_up()

    def ask(self, method: str, path: str, secret: str | None = None, **more: object) -> httpx2.Response:
        headers = {} if secret is None else bearer(secret)
        return self.serving.http.request(method, path, headers=headers, **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    one = Asking(tmp_path_factory.mktemp("asking"))
    yield one
    one.admin.close()
    one.serving.http.close()
    assert one.serving.end() == 0, one.serving.said
    one.serving.close()


def every_route() -> list[tuple[str, str]]:
    """Method and path of all routes, as the server itself lists them, with something in each place of a path."""
    from mainspring.server.app import routes

    entries = routes(None, None)  # type: ignore[arg-type]
    return [(one.method, re.sub(r"\{\w+\}", "1", one.path)) for one in entries]


def test_no_route_but_the_probes_answers_without_a_token(asking: Asking) -> None:
    for method, path in every_route():
        answer = asking.ask(method, path, json={} if method != "GET" else None)
        if path in PUBLIC:
            assert answer.status_code in {200, 422, 503}, path
        else:
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated"), path
            assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("role", Role)
def test_each_role_may_what_it_covers_and_nothing_above(asking: Asking, role: Role) -> None:
    reads = asking.ask("GET", f"{API}/jobs", asking.secrets[role])
    acts = asking.ask("POST", f"{API}/jobs/999/cancel", asking.secrets[role])
    rules = asking.ask("GET", f"{API}/tokens", asking.secrets[role])
    assert reads.status_code == 200
    assert acts.status_code == (404 if role.covers(Role.OPERATOR) else 403)
    assert rules.status_code == (200 if role is Role.ADMIN else 403)
    refused = [one.json()["code"] for one in (acts, rules) if one.status_code == 403]
    assert set(refused) <= {"role_too_low"}


def test_the_command_line_is_told_where_a_token_goes(
    asking: Asking, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MAINSPRING_TOKEN", raising=False)
    assert main(["jobs", "--api", asking.serving.url]) == 4
    assert "Set MAINSPRING_TOKEN to one that is valid" in capsys.readouterr().err


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("access", Access)
def test_a_route_needs_the_role_of_its_access(role: Role, access: Access) -> None:
    entry = Entry("GET", "/x", access, lambda _: Answer(200, None), gives("Nothing"))
    needed = {
        Access.PROBE: None,
        Access.READ: Role.VIEWER,
        Access.CHANGE: Role.OPERATOR,
        Access.ACT: Role.OPERATOR,
        Access.DOOR: None,
    }
    assert entry.needs is needed[access]
    if entry.needs is None or role.covers(entry.needs):
        check_role(entry, Asker("a", role))
    else:
        with pytest.raises(RoleTooLow, match=entry.needs.value):
            check_role(entry, Asker("a", role))


def test_a_token_made_over_rest_opens_until_it_is_revoked(asking: Asking) -> None:
    boss = asking.secrets[Role.ADMIN]
    made = asking.ask("POST", f"{API}/tokens", boss, json={"name": "ci", "role": "viewer", "expires_in": "1h"})
    assert made.status_code == 201
    secret = made.json()["token"]
    assert secret.startswith("mst_")
    assert asking.ask("GET", f"{API}/queues", secret).status_code == 200
    again = asking.ask("POST", f"{API}/tokens", boss, json={"name": "ci", "role": "viewer"})
    assert (again.status_code, again.json()["code"]) == (409, "token_exists")
    gone = asking.ask("DELETE", f"{API}/tokens/{made.json()['id']}", boss)
    assert gone.json()["revoked_by"] == "admin@127.0.0.1"
    eventually(lambda: asking.ask("GET", f"{API}/queues", secret).status_code == 401)
    assert secret not in asking.ask("GET", f"{API}/tokens", boss).text


def test_who_changed_what_is_told_with_how_it_was_before(asking: Asking) -> None:
    boss = asking.secrets[Role.OPERATOR]
    first = asking.ask("PATCH", f"{API}/queues/mail", boss, json={"limit": 3})
    second = asking.ask("PATCH", f"{API}/queues/mail", boss, json={"limit": 5})
    trail = asking.ask("GET", f"{API}/audit?subject=queue+mail", boss).json()["items"]
    assert [(line["actor"], line["action"]) for line in trail] == [("operator@127.0.0.1", "queue.change")] * 2
    assert [(line["before"]["limit"], line["after"]["limit"]) for line in trail] == [(3, 5), (None, 3)]
    assert [line["request"] for line in trail] == [one.headers["x-request-id"] for one in (second, first)]
    pages = asking.ask("GET", f"{API}/audit?limit=1", boss).json()
    assert asking.ask("GET", f"{API}/audit?limit=1&cursor={pages['next']}", boss).json()["items"] != pages["items"]


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic YTpi", "Bearer mst_wrong", "Token x", "Bearer \x00", "bearer  two words"]
)
def test_whatever_is_no_valid_token_opens_nothing(header: str) -> None:
    def recognise(secret: str) -> Asker:
        raise Unauthenticated(f"no {len(secret)}")

    with pytest.raises(Unauthenticated):
        Admission(recognise, HandClock()).who(given(header), "10.0.0.1")


def test_ten_wrong_tokens_slow_the_eleventh_of_that_address_only() -> None:
    asked: list[str] = []
    clock = HandClock()

    def recognise(secret: str) -> Asker:
        asked.append(secret)
        if secret != "right":
            raise Unauthenticated("wrong")
        return Asker("ann", Role.VIEWER)

    admission = Admission(recognise, clock)
    for number in range(MOST_FAILURES):
        with pytest.raises(Unauthenticated):
            admission.who(given(f"Bearer wrong-{number}"), "10.0.0.1")
    with pytest.raises(TooManyFailures):
        admission.who(given("Bearer right"), "10.0.0.1")
    assert len(asked) == MOST_FAILURES
    assert admission.who(given("Bearer right"), "10.0.0.2").name == "ann"
    clock.at += 61 * SECOND
    assert admission.who(given("Bearer right"), "10.0.0.1").name == "ann"


def test_a_token_is_looked_up_once_in_a_while_and_not_for_each_request() -> None:
    asked: list[str] = []
    clock = HandClock()

    def recognise(secret: str) -> Asker:
        asked.append(secret)
        return Asker("ann", Role.VIEWER)

    admission = Admission(recognise, clock)
    for _ in range(5):
        admission.who(given("Bearer a"), "10.0.0.1")
    assert asked == ["a"]
    clock.at += REMEMBERED
    admission.who(given("Bearer a"), "10.0.0.1")
    assert asked == ["a", "a"]


# --- where it may listen ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "169.254.1.1"])
def test_an_address_of_others_needs_tokens_and_encryption(host: str) -> None:
    with pytest.raises(AddressRefused, match="auth"):
        check(Terms(host, 0, auth="none"))
    with pytest.raises(AddressRefused, match="certificate"):
        check(Terms(host, 0))
    check(Terms(host, 0, transport="plain"))
    assert Terms(host, 0).asks


@pytest.mark.parametrize("host", ["example.org", "", "127.0.0.1.example.org"])
def test_what_is_no_address_is_refused(host: str) -> None:
    with pytest.raises(AddressRefused, match="no address"):
        check(Terms(host, 0))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "127.9.9.9"])
def test_loopback_asks_for_nothing_unless_told(host: str) -> None:
    check(Terms(host, 0))
    assert (Terms(host, 0).asks, Terms(host, 0).encrypted) == (False, False)
    assert Terms(host, 0, auth="token").asks


def test_a_server_that_would_ask_says_so_when_there_is_no_token_yet(tmp_path: Path) -> None:
    serving = Serving(tmp_path, options=("--auth", "token"))
    assert ended(serving.process, 40) == AddressRefused.exit_status
    assert "mainspring token create" in serving.said


def certificate(folder: Path) -> tuple[Path, Path]:
    """One of our own, and its key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(cert), *names],
        check=True,
        capture_output=True,
    )
    return cert, key


class Hello:
    """All that a server has to say."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
        await send({"type": "http.response.body", "body": b"hello"})

    def end_streams(self) -> None: ...


def test_tls_that_does_not_come_about_is_given_up(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)

    class Hasty(Served):
        greeting = Duration(300 * MILLISECOND)

    up = threading.Event()
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        server = Hasty(Hello(), Terms("127.0.0.1", port, tls_cert=str(cert), tls_key=str(key)), up.set)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            assert up.wait(60)
            with socket.create_connection(("127.0.0.1", port), timeout=30) as half:
                half.sendall(b"\x16\x03\x01\x02\x00\x01")  # the beginning of a hello
                with suppress(ConnectionResetError):
                    assert half.recv(1) == b""
            trusting = ssl.create_default_context(cafile=str(cert))
            with httpx2.Client(verify=trusting, trust_env=False) as http:
                assert http.get(f"https://127.0.0.1:{port}/").text == "hello"
        finally:
            server.handle_exit(signal.SIGTERM, None)
            thread.join()


def test_it_speaks_tls_with_the_certificate_that_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cert, key = certificate(tmp_path)
    with pytest.raises(InvalidSetting, match=r"cert\.pem"):
        check(Terms("127.0.0.1", 0, tls_cert=str(cert), tls_key=str(cert)))
    serving = Serving(tmp_path, options=("--tls-cert", str(cert), "--tls-key", str(key))).wait_until_up()
    assert serving.url.startswith("https://")
    trusting = ssl.create_default_context(cafile=str(cert))
    with httpx2.Client(base_url=serving.url, verify=trusting, trust_env=False) as http:
        assert http.get("/healthz").headers["strict-transport-security"] == "max-age=31536000"
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with (
        closing(remote.connect(serving.url)) as client,
        pytest.raises(ServerUnreachable, match="CERTIFICATE") as raised,
    ):
        client.queues()
    assert "SSL_CERT_FILE=cert.pem" in raised.value.remedy
    plain = serving.url.replace("https", "http")
    with closing(remote.connect(plain)) as client, pytest.raises(ServerUnreachable) as raised:
        client.queues()
    assert raised.value.remedy == f"If it speaks TLS: --api {serving.url}"
    monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    with closing(remote.connect(serving.url)) as client:
        assert client.queues() == []
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(ServerUnreachable, match="certificates to trust can't be read"):
        remote.connect(serving.url)
    serving.http.close()
    serving.end()
    serving.close()


def test_an_unknown_token_can_not_be_revoked(asking: Asking) -> None:
    with pytest.raises(UnknownToken, match="boss"):
        asking.admin.revoke_token("boss")
