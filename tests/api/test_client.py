"""The client over REST beside the one on the store: the same answers, the same errors, and what a lost answer means."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from mainspring.cli.main import main
from mainspring.client.direct import DirectClient
from mainspring.client.operating import OperatingClient
from mainspring.client.remote import AsyncHttpClient, HttpClient, aconnect, connect
from mainspring.clock import MILLISECOND, Duration
from mainspring.domain.access import ChangeFilter, Role, UserChange
from mainspring.domain.bulk import Bulk
from mainspring.domain.ids import JobId
from mainspring.domain.job import Job, JobFilter, JobRequest, Unique
from mainspring.domain.queue import QueueChange
from mainspring.domain.states import Outcome, State
from mainspring.domain.topic import SubscriptionWanted
from mainspring.errors import (
    IllegalState,
    InvalidOption,
    InvalidParameters,
    InvalidSetting,
    KeyHeld,
    MainspringError,
    OutcomeUnknown,
    ServerUnreachable,
    TooManyJobs,
    UnknownEdit,
    UnknownJob,
    UnknownQueue,
    UnknownSubscription,
    UnknownTask,
    UnknownToken,
    UnknownUser,
    UnknownWorker,
)
from mainspring.store import Store
from tests.api.serving import HandWorker, Serving

IMPATIENT = Duration(300 * MILLISECOND)


@pytest.fixture(scope="module")
def direct(server: Serving, store: Store, worker: HandWorker) -> DirectClient:
    """A client on the store of the server."""
    return DirectClient(store)


@pytest.fixture(scope="module")
def remote(server: Serving, worker: HandWorker) -> Iterator[OperatingClient]:
    """A client of the server."""
    client = connect(server.url)
    yield client
    client.close()


@pytest.fixture(params=["direct", "remote"])
def client(request: pytest.FixtureRequest) -> OperatingClient:
    """Either."""
    found: OperatingClient = request.getfixturevalue(request.param)
    return found


def submitted(client: OperatingClient, **fields: object) -> int:
    (receipt,) = client.submit([JobRequest("shop.echo", **fields)])  # type: ignore[arg-type]
    return receipt.job


# --- one suite, two ways ----------------------------------------------------------------------------------------------


def test_a_submit_leads_to_jobs_as_they_were_asked_for(client: OperatingClient) -> None:
    asked = JobRequest(
        "echo", {"count": 3}, queue="bulk", priority=2, delay="1h", tags={"team": "mail"}, meta=[1], expires="2h"
    )
    first, second = client.submit([asked, JobRequest("shop.receipt", {"order_id": 7})])
    job = client.job(first.job)
    assert (first.new, second.new) == (True, True)
    assert (job.task, job.params, job.queue, job.priority) == ("shop.echo", {"count": 3}, "bulk", 2)
    assert (job.state, job.tags, job.meta) == (State.SCHEDULED, {"team": "mail"}, [1])
    assert job.run_at - job.created_at == 3_600_000_000
    assert client.cancel(first.job).state is State.CANCELLED
    again = client.retry(first.job)
    assert (again.replay_of, client.job(first.job).replayed_by) == (first.job, again.id)
    assert client.count(JobFilter(tag="team=mail", queue="bulk", state=State.CANCELLED)) >= 1


def test_a_key_of_the_callers_gets_the_same_answer_again(client: OperatingClient) -> None:
    key = f"key-{type(client).__name__}"
    asked = [JobRequest("shop.echo"), JobRequest("shop.echo")]
    assert client.submit(asked, idempotency_key=key) == client.submit(asked, idempotency_key=key)


def test_queues_are_paused_resumed_and_limited(client: OperatingClient) -> None:
    client.change_queue("slow", QueueChange(limit=3, note="by day"))
    paused = client.change_queue("slow", QueueChange(paused=True))
    assert (paused.limit, paused.note, paused.paused_at is None) == (3, "by day", False)
    assert client.change_queue("slow", QueueChange(paused=False, limit=None)).paused_at is None
    assert client.queue("slow").limit is None


def test_a_bulk_action_counts_what_it_did(client: OperatingClient) -> None:
    for _ in range(3):
        submitted(client, tags={"of": "bulk"})
    wanted = Bulk("cancel", JobFilter(tag="of=bulk"), dry_run=True)
    assert client.bulk(wanted).matched >= 3
    assert client.bulk(Bulk("cancel", JobFilter(tag="of=bulk"))).changed >= 3


def test_tokens_are_made_and_revoked(client: OperatingClient) -> None:
    token, secret = client.create_token("ci", Role.VIEWER, lasts=Duration(3_600_000_000))
    assert secret.startswith("mst_")
    assert client.revoke_token("ci").id == token.id
    assert client.tokens()[0].revoked_at is not None
    assert [change.action for change in client.changes(ChangeFilter(subject="token ci", limit=2))] == [
        "token.revoke",
        "token.create",
    ]


def test_users_are_made_changed_and_removed(client: OperatingClient) -> None:
    name = f"ann-{type(client).__name__}"
    made = client.create_user(name, "correct horse battery", Role.VIEWER, queues=["mail"])
    assert (made.role, made.queues, made.created_by != "") == (Role.VIEWER, ("mail",), True)
    changed = client.change_user(name, UserChange(role=Role.OPERATOR, queues=None))
    assert (changed.role, changed.queues) == (Role.OPERATOR, None)
    assert name in [user.name for user in client.users() if user.removed_at is None]
    assert client.remove_user(name).removed_at is not None
    trail = client.changes(ChangeFilter(subject=f"user {name}"))
    assert [change.action for change in trail] == ["user.remove", "user.change", "user.create"]


def test_messages_are_published_read_and_subscribed_to(client: OperatingClient) -> None:
    topic = f"orders-{type(client).__name__}"
    last = client.publish(topic, [{"id": 1}, {"id": 2}])
    assert [message.data for message in client.messages(topic, after=last - 2)] == [{"id": 1}, {"id": 2}]
    assert topic in [one.name for one in client.topics()]
    wanted = SubscriptionWanted(topic, topic, task="shop.echo", params={"count": 3})
    made = client.subscribe(wanted)
    assert (made.topic, made.task, made.params, made.cursor) == (topic, "shop.echo", {"count": 3}, last)
    assert topic in [one.name for one in client.subscriptions()]
    assert client.unsubscribe(topic).name == topic


_REFUSED: list[tuple[type[MainspringError], Callable[[OperatingClient], object]]] = [
    (UnknownJob, lambda client: client.job(987_654)),
    (UnknownJob, lambda client: client.logs(987_654)),
    (UnknownWorker, lambda client: client.drain(987_654)),
    (UnknownQueue, lambda client: client.queue("nobody has named it")),
    (UnknownQueue, lambda client: client.change_queue("nobody", QueueChange(paused=True))),
    (UnknownToken, lambda client: client.revoke_token("nobody")),
    (UnknownUser, lambda client: client.remove_user("nobody")),
    (InvalidOption, lambda client: client.create_user("ann", "short", Role.VIEWER)),
    (UnknownSubscription, lambda client: client.unsubscribe("nobody")),
    (InvalidOption, lambda client: client.publish("x", [])),
    (UnknownEdit, lambda client: client.revert_settings(987_654)),
    (UnknownTask, lambda client: client.submit([JobRequest("shop.nothing")])),
    (InvalidParameters, lambda client: client.submit([JobRequest("shop.receipt", {"order_id": "x"})])),
    (InvalidOption, lambda client: client.submit([JobRequest("shop.echo", priority=5_000)])),
    (TooManyJobs, lambda client: client.submit([JobRequest("shop.echo")] * 2_001, idempotency_key="many")),
    (InvalidOption, lambda client: client.submit([JobRequest("shop.echo")], idempotency_key="")),
    (InvalidOption, lambda client: client.submit([JobRequest("shop.echo")], idempotency_key="schlüssel")),
    (InvalidSetting, lambda client: client.change_settings({"leese": "3s"})),
    (InvalidSetting, lambda client: client.change_settings({"port": 3}, dry_run=True)),
]


@pytest.mark.parametrize(("kind", "ask"), _REFUSED, ids=range(len(_REFUSED)))
def test_a_refusal_is_the_same_error_in_the_same_words(
    direct: OperatingClient,
    remote: OperatingClient,
    kind: type[MainspringError],
    ask: Callable[[OperatingClient], object],
) -> None:
    said = []
    for client in (direct, remote):
        with pytest.raises(kind) as raised:
            ask(client)
        error = raised.value
        assert type(error) is kind
        said.append((error.message, error.remedy, error.code, error.http_status, error.exit_status))
    assert said[0] == said[1]


def test_a_refusal_keeps_what_more_it_says(client: OperatingClient) -> None:
    job = submitted(client)
    client.cancel(job)
    with pytest.raises(IllegalState) as illegal:
        client.cancel(job)
    assert illegal.value.state == "cancelled"
    key = f"held-{type(client).__name__}"
    holder = submitted(client, unique=key)
    with pytest.raises(KeyHeld) as held:
        submitted(client, unique=Unique(key, on_conflict="reject"))
    assert held.value.job == holder
    with pytest.raises(InvalidParameters) as wrong:
        client.submit([JobRequest("shop.echo"), JobRequest("shop.receipt")])
    assert wrong.value.index == 1


def test_all_that_can_be_seen_is_the_same_either_way(
    direct: DirectClient, remote: OperatingClient, worker: HandWorker
) -> None:
    job = submitted(direct, params={"text": "<b>\u00e9\u2028</b>"}, queue="seen")
    assert worker.claim("seen") == job
    worker.end(job, Outcome.FAILED)
    looks: list[Callable[[OperatingClient], object]] = [
        lambda client: client.job(job),
        lambda client: client.jobs(JobFilter(limit=5)),
        lambda client: client.jobs(JobFilter(state=State.CANCELLED, limit=1, until=direct.job(job).created_at)),
        lambda client: client.attempts(job),
        lambda client: client.events(job=job),
        lambda client: client.events(job=job, after=client.events(job=job)[0].seq, limit=1),
        lambda client: client.logs(job),
        lambda client: client.explain(job).reasons[0].code,
        lambda client: client.queues(),
        lambda client: client.tasks(),
        lambda client: client.tokens(),
        lambda client: client.changes(ChangeFilter(limit=3)),
        lambda client: client.setting_edits(),
        lambda client: client.users(),
        lambda client: client.topics(),
        lambda client: client.subscriptions(),
    ]
    for look in looks:
        assert look(remote) == look(direct)


# --- in asynchronous code ---------------------------------------------------------------------------------------------


def test_asynchronous_code_asks_the_same_and_many_things_at_once(server: Serving, direct: DirectClient) -> None:
    verbs = {name for name, verb in vars(HttpClient).items() if hasattr(verb, "__wrapped__")}
    assert verbs == {name for name, verb in vars(AsyncHttpClient).items() if hasattr(verb, "__wrapped__")}

    async def talk() -> tuple[list[JobId], Job]:
        async with aconnect(server.url) as client:
            made = await asyncio.gather(*(client.submit([JobRequest("shop.echo")]) for _ in range(20)))
            numbers = [receipt.job for (receipt,) in made]
            with pytest.raises(UnknownJob, match="987654"):
                await client.job(987_654)
            with pytest.raises(InvalidParameters) as wrong:
                await client.submit([JobRequest("shop.echo"), JobRequest("shop.receipt")])
            assert wrong.value.index == 1
            pages = await asyncio.gather(*map(client.job, numbers))
            assert [page.id for page in pages] == numbers
            return numbers, await client.cancel(numbers[0])

    numbers, cancelled = asyncio.run(talk())
    assert len(set(numbers)) == 20
    assert cancelled == direct.job(numbers[0])


# --- when something is wrong with the server --------------------------------------------------------------------------


class Relay:
    """A way to a server, one request a connection. ``answer``: what becomes of the n-th one."""

    def __init__(self, to: int, answer: Callable[[int], bool | bytes]) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._to = to
        self._answer = answer
        self.seen = 0
        threading.Thread(target=self._run, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def _run(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                with client:
                    self._pass(client)

    def _pass(self, client: socket.socket) -> None:
        asked = b""
        while b"\r\n\r\n" not in asked or len(asked.partition(b"\r\n\r\n")[2]) < _length(asked):
            if not (piece := client.recv(65_536)):
                return
            asked += piece
        self.seen += 1
        what = self._answer(self.seen)
        if isinstance(what, bytes):
            client.sendall(what)
            return
        head, _, rest = asked.partition(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith((b"host:", b"connection:"))]
        own = [b"Host: 127.0.0.1:%d" % self._to, b"Connection: close"]
        with socket.create_connection(("127.0.0.1", self._to)) as server:
            server.sendall(b"\r\n".join([lines[0], *own, *lines[1:]]) + b"\r\n\r\n" + rest)
            while piece := server.recv(65_536):
                if what:
                    client.sendall(piece)

    def close(self) -> None:
        self._listener.close()


def _length(asked: bytes) -> int:
    found = re.search(rb"content-length: (\d+)", asked.lower())
    return int(found[1]) if found else 0


@pytest.fixture
def relayed(server: Serving) -> Iterator[Callable[[Callable[[int], bool | bytes]], tuple[Relay, OperatingClient]]]:
    made: list[tuple[Relay, OperatingClient]] = []

    def make(answer: Callable[[int], bool | bytes]) -> tuple[Relay, OperatingClient]:
        relay = Relay(server.port, answer)
        made.append((relay, connect(relay.url)))
        return made[-1]

    yield make
    for relay, client in made:
        client.close()
        relay.close()


Relayed = Callable[[Callable[[int], bool | bytes]], tuple[Relay, OperatingClient]]


def test_a_submit_whose_answer_is_lost_is_sent_again_and_stored_once(relayed: Relayed, direct: DirectClient) -> None:
    relay, client = relayed(lambda number: number > 1)
    (receipt,) = client.submit([JobRequest("shop.echo", tags={"sent": "twice"})])
    assert relay.seen == 2
    assert [job.id for job in direct.jobs(JobFilter(tag="sent=twice")).items] == [receipt.job]


def test_a_change_whose_answer_is_lost_is_not_sent_again_and_says_that_nothing_is_known(
    relayed: Relayed, direct: DirectClient
) -> None:
    job = submitted(direct)
    relay, client = relayed(lambda _: False)
    with pytest.raises(OutcomeUnknown) as raised:
        client.cancel(job)
    assert (relay.seen, raised.value.exit_status) == (1, 5)
    assert direct.job(job).state is State.CANCELLED, "it was done, as may be"


def test_a_question_is_asked_again(relayed: Relayed, direct: DirectClient) -> None:
    relay, client = relayed(lambda number: number > 2)
    job = submitted(direct)
    assert client.job(job) == direct.job(job)
    assert relay.seen == 3


def test_what_a_lost_answer_means_is_the_same_in_asynchronous_code(relayed: Relayed, direct: DirectClient) -> None:
    relay, _ = relayed(lambda number: number == 2)
    job = submitted(direct)

    async def talk() -> None:
        async with aconnect(relay.url) as client:
            assert await client.job(job) == direct.job(job)
            with pytest.raises(OutcomeUnknown):
                await client.cancel(job)

    asyncio.run(talk())
    assert (relay.seen, direct.job(job).state) == (3, State.CANCELLED)


OTHERS = {
    "a page": b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>",
    "a proxy": b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    "no HTTP": b"SSH-2.0-OpenSSH\r\n",
}


@pytest.mark.parametrize("other", OTHERS)
def test_what_is_no_server_of_ours_is_told_with_its_address(relayed: Relayed, other: str) -> None:
    relay, client = relayed(lambda _: OTHERS[other])
    with pytest.raises(ServerUnreachable, match=relay.url):
        client.job(1)


def test_a_server_that_is_gone_or_has_an_impossible_address_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # taken, and nobody listens
        gone = f"http://127.0.0.1:{silent.getsockname()[1]}"
        for url in (gone, "127.0.0.1:8750", "ftp://x", "http://", "http://[::1"):
            assert main(["jobs", "--api", url]) == 5, url
            said = capsys.readouterr().err
            assert "server" in said
            assert "--api http://127.0.0.1:8750" in said


def test_an_address_with_the_wrong_scheme_is_told_with_the_right_one(
    server: Serving, capsys: pytest.CaptureFixture[str]
) -> None:
    address = server.url.partition("://")[2]
    assert main(["jobs", "--api", f"https://{address}"]) == 5
    assert "it speaks no TLS there" in (said := capsys.readouterr().err)
    assert said.endswith(f"\n  --api {server.url}\n")
    assert main(["jobs", "--api", address]) == 5
    assert "begins with neither http:// nor https://.\n  Write it as --api http://" in capsys.readouterr().err


def test_what_can_be_no_token_is_refused_and_not_shown(
    server: Serving, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for wrong in ("mst_geheim\nmore", "mst_geheim ", "mst_geheim\N{LATIN SMALL LETTER U WITH DIAERESIS}"):
        monkeypatch.setenv("MAINSPRING_TOKEN", wrong)
        assert main(["jobs", "--api", server.url]) == 4
        said = capsys.readouterr().err
        assert "The token has a character in it that no token has" in said
        assert "geheim" not in said


def test_a_server_that_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = connect(f"http://127.0.0.1:{listener.getsockname()[1]}", patience=IMPATIENT)
        with pytest.raises(ServerUnreachable):
            client.job(1)
        with pytest.raises(OutcomeUnknown):
            client.cancel(1)
        client.close()


def test_what_rest_does_not_have_is_refused_and_not_both_may_be_named(server: Serving) -> None:
    assert main(["export", "jobs", "--api", server.url]) == 2
    assert main(["server", "--api", server.url]) == 2
    assert main(["jobs", "--api", server.url, "--db", server.database]) == 2
