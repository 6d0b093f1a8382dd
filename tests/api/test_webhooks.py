"""Webhooks over REST: a real receiver is told, by a signed request, of what happens; what is inside is not reached."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import pytest

from mainspring.cli.main import main
from mainspring.client.direct import DirectClient
from mainspring.client.remote import connect
from mainspring.clock import MINUTE, SystemClock
from mainspring.domain.outward import networks_of
from mainspring.domain.webhook import Parcel, Sent, WebhookChange, WebhookWanted, new_secret
from mainspring.errors import DestinationRefused, UnknownDelivery, UnknownWebhook, WebhookExists
from mainspring.server.courier import Courier
from mainspring.store import Store
from tests.api.serving import API, HandWorker, Serving, eventually
from tests.api.test_refusals import problem


class Heard(NamedTuple):
    """A request that the receiver got."""

    path: str
    headers: dict[str, str]
    body: bytes


class Receiver:
    """A small HTTP server. What it answers is in the path: ``/200``, ``/500``, ``/302``; ``/hang`` never answers."""

    def __init__(self) -> None:
        self.heard: list[Heard] = []
        self.ending = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.heard.append(Heard(self.path, headers, self.rfile.read(length)))
                if self.path == "/hang":
                    receiver.ending.wait(60)
                    return
                answer = b"x" * 2_000_000 if self.path == "/200?long" else b"thanks"
                self.send_response(int(self.path[1:4]))
                self.send_header("location", "/200")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                try:
                    self.wfile.write(answer)
                except OSError:  # whoever asked has heard enough
                    return

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self.ending.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Iterator[Serving]:
    """A server that may reach this machine's own addresses of IPv4."""
    serving = Serving(tmp_path_factory.mktemp("webhooks"), options=("--webhook-network", "127.0.0.1/32"))
    try:
        yield serving.wait_until_up()
        serving.http.close()
        receiver.ending.set()
        assert serving.end() == 0, serving.said
    finally:
        serving.close()


def create(server: Serving, name: str, url: str, **values: Any) -> str:
    """A webhook; its secret."""
    made = server.http.post(f"{API}/webhooks", json={"name": name, "url": url, **values})
    assert made.status_code == 201, made.text
    return str(made.json()["secret"])


def ended(server: Serving, name: str) -> list[dict[str, Any]]:
    """Its deliveries, once there are some and each was tried."""

    def look() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = server.http.get(f"{API}/webhooks/{name}/deliveries").json()["items"]
        return found if found and all(one["tries"] for one in found) else []

    return eventually(look, within=MINUTE)


def test_a_receiver_is_told_by_a_signed_request(server: Serving, receiver: Receiver, worker: HandWorker) -> None:
    secret = create(server, "told", f"{receiver.url}/200?told", kinds=["job.queued"], queue="shop")
    job = server.submit("shop.echo")["id"]
    (delivery,) = ended(server, "told")
    assert (delivery["state"], delivery["type"], delivery["answer"]) == ("delivered", "job.queued", "thanks")
    (heard,) = [one for one in receiver.heard if one.path == "/200?told"]
    body = json.loads(heard.body)
    assert (body["type"], body["data"]["job"], body["data"]["to"]) == ("job.queued", job, "queued")
    number, moment = heard.headers["webhook-id"], heard.headers["webhook-timestamp"]
    key = base64.b64decode(secret.removeprefix("whsec_"))
    right = hmac.new(key, f"{number}.{moment}.".encode() + heard.body, hashlib.sha256).digest()
    assert heard.headers["webhook-signature"] == f"v1,{base64.b64encode(right).decode()}"
    assert heard.headers["content-type"] == "application/json"
    shown = server.http.get(f"{API}/webhooks/told").text + server.http.get(f"{API}/audit").text + server.said
    assert secret not in shown


def test_no_redirect_is_followed_and_a_long_answer_is_cut(server: Serving, receiver: Receiver) -> None:
    create(server, "sent-on", f"{receiver.url}/302", topic="nothing")
    create(server, "wordy", f"{receiver.url}/200?long", topic="nothing")
    for name in ("sent-on", "wordy"):
        assert server.http.post(f"{API}/webhooks/{name}/test").status_code == 201
    (delivery,) = ended(server, "sent-on")
    assert (delivery["state"], delivery["tries"][0]["status"]) == ("failed", 302)
    (delivery,) = ended(server, "wordy")
    assert (delivery["state"], len(delivery["answer"])) == ("delivered", 1_000)
    assert [one for one in receiver.heard if one.path == "/200"] == []


def test_a_receiver_that_hangs_holds_up_nobody_else(server: Serving, receiver: Receiver) -> None:
    create(server, "hangs", f"{receiver.url}/hang", topic="nothing")
    create(server, "quick", f"{receiver.url}/200?quick", topic="nothing")
    for _ in range(6):
        server.http.post(f"{API}/webhooks/hangs/test")
    eventually(lambda: len([one for one in receiver.heard if one.path == "/hang"]) == 4, within=MINUTE)
    server.http.post(f"{API}/webhooks/quick/test")
    assert ended(server, "quick")[0]["state"] == "delivered"
    waiting = server.http.get(f"{API}/webhooks/hangs/deliveries?state=pending").json()["items"]
    assert len(waiting) == 6, waiting


def test_what_is_inside_is_refused_when_it_is_made(server: Serving) -> None:
    for url in ("http://169.254.169.254/", "https://[::1]/", "https://127.0.0.2/", "https://0x7f000001/"):
        made = server.http.post(f"{API}/webhooks", json={"name": "inside", "url": url})
        assert (made.status_code, problem(made)["code"], problem(made)["field"]) == (422, "destination_refused", "url")


class Resolver:
    """Names and their addresses, as a resolver would say; another answer each time that it is asked."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)

    def __call__(self, _host: str, port: int, **_: object) -> list[Any]:
        return [(0, 0, 0, "", (address, port)) for address in self.answers.pop(0)]


@pytest.fixture
def courier() -> Iterator[Courier]:
    made = Courier(SystemClock(), lambda: None, networks_of(["127.0.0.1/32"]))
    yield made
    made.close()


def tried(courier: Courier, url: str) -> Sent:
    courier.send([Parcel(1, 1, url, "{}", (new_secret("x" * 40),))])
    (sent,) = eventually(courier.returned, within=MINUTE)
    return sent


def test_a_name_is_resolved_once_and_connected_to_where_it_was_judged(
    courier: Courier, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver = Resolver(["127.0.0.1"], ["10.0.0.1"])
    monkeypatch.setattr("socket.getaddrinfo", resolver)
    port = receiver.url.rpartition(":")[2]
    sent = tried(courier, f"http://hooks.test:{port}/200?named")
    assert (sent.status, sent.error) == (200, "")
    (heard,) = [one for one in receiver.heard if one.path == "/200?named"]
    assert heard.headers["host"] == f"hooks.test:{port}"
    assert resolver.answers == [["10.0.0.1"]], "it is asked once"


@pytest.mark.parametrize(
    "addresses", [["10.0.0.1"], ["8.8.8.8", "169.254.169.254"], ["::ffff:127.0.0.1"], ["fe80::1%eth0"]]
)
def test_a_name_is_refused_if_any_of_its_addresses_is(
    courier: Courier, addresses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.getaddrinfo", Resolver(addresses))
    sent = tried(courier, "https://hooks.test/")
    assert sent.status is None
    assert "not a public address" in sent.error


def test_the_client_asks_over_rest_what_it_asks_of_a_store(server: Serving, store: Store, receiver: Receiver) -> None:
    remote, direct = connect(server.url), DirectClient(store)
    made, secret = remote.create_webhook(WebhookWanted("both", f"{receiver.url}/200?both", ("dead",), task="shop.x"))
    assert secret.startswith("whsec_")
    assert made == remote.webhook("both") == direct.webhook("both")
    with pytest.raises(WebhookExists):
        remote.create_webhook(WebhookWanted("both", f"{receiver.url}/"))
    with pytest.raises(DestinationRefused):
        remote.change_webhook("both", WebhookChange(url="https://127.0.0.2/"))
    changed = remote.change_webhook("both", WebhookChange(kinds=(), task=None))
    assert (changed.kinds, changed.task) == ((), None)
    assert remote.renew_webhook_secret("both")[1] != secret
    assert remote.pause_webhook("both", "moving").reason == "moving"
    delivery = remote.check_webhook("both")
    eventually(lambda: remote.deliveries("both").items[0].ended_at, within=MINUTE)
    assert remote.deliveries("both", state="delivered").items[0].id == delivery.id
    assert remote.redeliver("both", delivery.id).tries == remote.deliveries("both").items[0].tries[:1]
    for unknown in (lambda: remote.redeliver("both", 10**9), lambda: direct.redeliver("both", 10**9)):
        with pytest.raises(UnknownDelivery):
            unknown()
    assert remote.resume_webhook("both", skip=True).paused_at is None
    assert "both" in [one.name for one in remote.webhooks()]
    assert remote.remove_webhook("both").name == "both"
    with pytest.raises(UnknownWebhook):
        remote.webhook("both")
    remote.close()


def test_the_command_line_looks_after_webhooks_either_way(
    server: Serving, receiver: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*words: str, way: str = "--api", status: int = 0) -> str:
        where = server.url if way == "--api" else server.database
        assert main([*words, way, where]) == status, words
        captured = capsys.readouterr()
        return captured.out + captured.err

    url = f"{receiver.url}/200?hidden"
    assert "whsec_" in said("webhook", "add", "cli", url, "--kind", "job.dead", "--queue", "shop")
    assert "job.dead of queue shop" in said("webhooks")
    assert "run.*" in said("webhook", "set", "cli", "--kind", "run.*", "--queue", "any")
    assert "paused by" in said("webhook", "pause", "cli", "--reason", "moving")
    said("webhook", "test", "cli")
    ended(server, "cli")
    for way in ("--api", "--db"):
        shown = json.loads(said("webhook", "show", "cli", "--json", way=way))
        assert (shown["reason"], shown["deliveries"][0]["state"]) == ("moving", "delivered")
        assert "webhook.test" in said("webhook", "deliveries", "cli", way=way)
    assert "moving" in said("webhook", "show", "cli")
    number = str(json.loads(said("webhook", "deliveries", "cli", "--json"))[0]["id"])
    assert "is made" in said("webhook", "redeliver", "cli", number)
    assert "active" in said("webhook", "resume", "cli", "--skip")
    assert "whsec_" in said("webhook", "secret", "cli")
    assert "Nothing to change" in said("webhook", "set", "cli", status=2)
    assert "is removed" in said("webhook", "remove", "cli")
    assert "unknown webhook" in said("webhook", "show", "cli", status=3)
