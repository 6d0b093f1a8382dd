"""Who may ask: a page in a browser on this machine may not, whatever name, form or header it uses."""

from __future__ import annotations

import json
import socket

import pytest

from mainspring.client.direct import DirectClient
from mainspring.clock import SECOND
from mainspring.engine.drive import Drive
from mainspring.engine.sweep import Sweep
from mainspring.server.app import routes
from mainspring.server.exchange import TAKES_BODY
from mainspring.server.health import Health
from mainspring.server.security import BODY_LIMIT, is_loopback
from mainspring.store import Store
from tests.api.serving import API, Serving

pytestmark = pytest.mark.usefixtures("worker")

GOOD = json.dumps({"task": "shop.echo"}).encode()
JSON = "application/json"


def request(server: Serving, *lines: str, body: bytes = GOOD, path: str = f"{API}/jobs", method: str = "POST") -> bytes:
    """A request with exactly these headers."""
    head = [f"{method} {path} HTTP/1.1", *lines, f"Content-Length: {len(body)}", "Connection: close"]
    return server.raw("\r\n".join([*head, "", ""]).encode("latin-1") + body)


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def code(answer: bytes) -> str:
    return str(json.loads(answer.partition(b"\r\n\r\n")[2])["code"])


def count(server: Serving) -> int:
    items = server.http.get(f"{API}/jobs?limit=1").json()["items"]
    return items[0]["id"] if items else 0


@pytest.mark.parametrize(
    "host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}", "127.9.9.9:{port}"]
)
def test_loopback_names_with_our_port_are_answered(server: Serving, host: str) -> None:
    answer = request(server, f"Host: {host.format(port=server.port)}", f"Content-Type: {JSON}")
    assert status(answer) == 201, answer


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["Host: "],
        ["Host: 127.0.0.1"],
        ["Host: localhost"],
        ["Host: 127.0.0.1:1"],
        ["Host: evil.example:{port}"],
        ["Host: localhost.evil.example:{port}"],
        ["Host: 127.0.0.1.evil.example:{port}"],
        ["Host: evil.example:{port}", "X-Forwarded-Host: localhost:{port}"],
        ["Host: 127.0.0.1:{port}", "Host: evil.example"],
        ["Host: 0.0.0.0:{port}"],
        ["Host: 10.0.0.1:{port}"],
        ["Host: [::]:{port}"],
        ["Host: ::1:{port}"],
        ["Host: [127.0.0.1]:{port}"],
        ["Host: 2130706433:{port}"],
        ["Host: 127.1:{port}"],
        ["Host: user@127.0.0.1:{port}"],
        ["Host: 127.0.0.1:0{port}"],
    ],
)
@pytest.mark.parametrize(("method", "path"), [("POST", f"{API}/jobs"), ("GET", f"{API}/jobs"), ("GET", "/healthz")])
def test_other_hosts_are_refused(server: Serving, lines: list[str], method: str, path: str) -> None:
    before = count(server)
    headers = [line.format(port=server.port) for line in lines]
    answer = request(server, *headers, f"Content-Type: {JSON}", method=method, path=path)
    assert (status(answer), code(answer)) == (403, "foreign_origin"), answer
    assert count(server) == before


@pytest.mark.parametrize(
    "line",
    [
        "Origin: null",
        "Origin: http://evil.example",
        "Origin: https://localhost:{port}",
        "Origin: http://localhost",
        "Origin: http://localhost:3000",
        "Origin: http://localhost:{port}.evil.example",
        "Origin: http://localhost:{port}/x",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ],
)
def test_pages_of_other_sites_are_refused(server: Serving, line: str) -> None:
    before = count(server)
    host = f"Host: localhost:{server.port}"
    for method in ("POST", "GET"):
        answer = request(server, host, f"Content-Type: {JSON}", line.format(port=server.port), method=method)
        assert (status(answer), code(answer)) == (403, "foreign_origin"), answer
        assert b"access-control" not in answer.lower()
    assert count(server) == before


def test_our_own_pages_may_ask(server: Serving) -> None:
    host = f"Host: 127.0.0.1:{server.port}"
    own = [f"Origin: http://localhost:{server.port}", "Sec-Fetch-Site: same-origin"]
    assert status(request(server, host, f"Content-Type: {JSON}; charset=UTF-8", *own)) == 201


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["Content-Type: text/plain"],
        ["Content-Type: application/x-www-form-urlencoded"],
        ["Content-Type: multipart/form-data; boundary=x"],
        ["Content-Type: text/plain; application/json"],
        ["Content-Type: application/json; charset=utf-16"],
        ["Content-Type: application/json", "Content-Type: text/plain"],
        ["Content-Type: application/jsonx"],
        ["Content-Type: application/json", "Content-Encoding: gzip"],
    ],
)
def test_only_json_is_taken(server: Serving, lines: list[str]) -> None:
    before = count(server)
    answer = request(server, f"Host: 127.0.0.1:{server.port}", *lines)
    assert (status(answer), code(answer)) == (415, "unsupported_media_type"), answer
    assert count(server) == before


@pytest.mark.parametrize("action", ["cancel", "retry"])
def test_an_action_by_a_form_is_refused(server: Serving, action: str) -> None:
    number = server.submit(delay="1h")["id"]
    path, host = f"{API}/jobs/{number}/{action}", f"Host: 127.0.0.1:{server.port}"
    for kind, body in (("text/plain", b""), ("application/x-www-form-urlencoded", b"a=1"), ("text/plain", b"{}")):
        assert status(request(server, host, f"Content-Type: {kind}", body=body, path=path)) == 415
    assert status(request(server, host, body=b"{}", path=path)) == 415
    assert server.job(number)["state"] == "scheduled"


def test_a_method_can_not_be_slipped_in(server: Serving) -> None:
    number = server.submit(delay="1h")["id"]
    for header in ("X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"):
        answer = server.http.get(f"{API}/jobs/{number}", headers={header: "DELETE"})
        assert answer.json()["id"] == number
    assert server.http.get(f"{API}/jobs/{number}/cancel", headers={"X-HTTP-Method-Override": "POST"}).status_code == 405
    assert server.job(number)["state"] == "scheduled"


def test_answers_are_not_kept_guessed_or_framed(server: Serving) -> None:
    for answer in (server.http.get(f"{API}/session"), server.http.get("/nothing"), server.http.get("/healthz")):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        policy = answer.headers["content-security-policy"]
        assert policy == "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert "strict-transport-security" not in answer.headers
        assert "server" not in answer.headers


def test_a_large_body_is_refused_by_its_announced_length(server: Serving) -> None:
    """The answer comes although not a byte of the body was sent."""
    head = f"POST {API}/jobs HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: {JSON}\r\n"
    answer = server.raw(f"{head}Content-Length: {BODY_LIMIT + 1}\r\n\r\n".encode())
    assert (status(answer), code(answer)) == (413, "payload_too_large")
    assert b"connection: close" in answer.lower()


def test_a_large_body_is_refused_while_it_streams(server: Serving) -> None:
    before = count(server)
    pieces = (b" " * 65_536 for _ in range(2 * BODY_LIMIT // 65_536))
    answer = server.http.post(f"{API}/jobs", content=pieces, headers={"content-type": JSON})
    assert (answer.status_code, answer.json()["code"]) == (413, "payload_too_large")
    assert count(server) == before


def test_a_submit_of_2_mib_is_refused_with_its_size(server: Serving) -> None:
    before = count(server)
    answer = server.http.post(f"{API}/jobs", json={"task": "echo", "params": {"text": "x" * 2 * 1_048_576}})
    assert (answer.status_code, answer.json()["code"]) == (413, "payload_too_large")
    assert "1,048,576" in answer.json()["detail"]
    assert count(server) == before


def test_a_mib_of_escaped_characters_is_taken(server: Serving) -> None:
    """What is limited is the text, not the way it is written down."""
    text = "ж" * 520_000
    job = server.submit("echo", params={"text": text})
    assert job["params"]["text"] == text


def test_nonsense_on_the_wire_does_not_end_the_server(server: Serving) -> None:
    for junk in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nConnection: close\r\n\r\n",
    ):
        assert server.raw(junk).startswith(b"HTTP/1.1 40")
    upgrade = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAA"]
    assert status(request(server, f"Host: 127.0.0.1:{server.port}", *upgrade, method="GET", path="/x", body=b"")) == 404
    with socket.create_connection(("127.0.0.1", server.port)) as half:
        half.sendall(f"POST {API}/jobs HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Ty".encode())
    assert server.http.get("/healthz").status_code == 200


def test_a_client_that_hangs_up_half_way_changes_nothing(server: Serving) -> None:
    before = count(server)
    host = f"Host: 127.0.0.1:{server.port}"
    head = f"POST {API}/jobs HTTP/1.1\r\n{host}\r\nContent-Type: {JSON}\r\nContent-Length: 500\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port)) as half:
        half.sendall(head.encode() + GOOD)
    assert server.http.get("/healthz").status_code == 200
    assert count(server) == before


def test_no_route_is_outside_the_gate(server: Serving, store: Store) -> None:
    """Every route that there is, by its table: a new one can't be forgotten here."""
    client = DirectClient(store)
    sweeper = Drive("sweeper", Sweep(store, store.clock, SECOND), store.clock, lambda _: None)
    entries = routes(client, Health([sweeper], store.clock, lambda: None, client.workers))
    assert len(entries) >= 12
    own = f"Host: 127.0.0.1:{server.port}"
    for entry in entries:
        path = entry.path.replace("{id}", "1")
        changes = entry.access in TAKES_BODY
        assert changes == (entry.method not in {"GET", "HEAD"}), entry
        for lines in (
            ["Host: evil.example"],
            [own, "Origin: http://evil.example"],
            [own, "Sec-Fetch-Site: cross-site"],
        ):
            answer = request(server, *lines, f"Content-Type: {JSON}", method=entry.method, path=path)
            assert status(answer) == 403, (entry, answer)
        if changes:
            assert status(request(server, own, "Content-Type: text/plain", method=entry.method, path=path)) == 415, (
                entry
            )


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [("localhost", True), ("127.0.0.1", True), ("[::1]", True), ("::1", False), ("localhost.", False), ("", False)],
)
def test_what_counts_as_this_machine(host: str, is_ours: bool) -> None:  # noqa: FBT001
    assert is_loopback(host) is is_ours
