"""The client that asks a server over REST: the same verbs as on a store, the same errors.

A submit always goes with an idempotency key, so that it is sent again when its answer was lost, and nothing is doubled.
What REST does not have yet is refused. Must not open a store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, cast

from msgspec import to_builtins

from mainspring.chance import SystemChance
from mainspring.client import unwire
from mainspring.client.http import PATIENCE, Rest
from mainspring.client.operating import OperatingClient
from mainspring.client.record_wire import record_of
from mainspring.client.remote_webhooks import WebhookVerbs
from mainspring.clock import MILLISECOND, Duration, SystemClock, duration_text, instant_text
from mainspring.domain.access import Change, ChangeFilter, Role, Token, User, UserChange
from mainspring.domain.attempt import Attempt
from mainspring.domain.borrowed import Borrowed
from mainspring.domain.bulk import Bulk, BulkDone
from mainspring.domain.configured import Edit, Holding
from mainspring.domain.event import Event
from mainspring.domain.job import ATOMIC, Job, JobFilter, JobPage, JobRequest, Receipt
from mainspring.domain.logline import LogLine
from mainspring.domain.queue import Queue, QueueChange
from mainspring.domain.reason import Explanation
from mainspring.domain.record import Record, RecordFilter
from mainspring.domain.task import Task
from mainspring.domain.topic import Message, Subscription, SubscriptionWanted, Topic
from mainspring.domain.worker import Worker
from mainspring.errors import MainspringError, NotYetSupported

_LOOK_AGAIN = Duration(300 * MILLISECOND)
"""Nothing rings over REST, so whoever waits looks so often."""


def connect(url: str, *, token: str = "", patience: Duration = PATIENCE) -> OperatingClient:
    """A client of the server at this address (``http://127.0.0.1:8750``). Nothing is asked of it yet."""
    return cast("OperatingClient", HttpClient(Rest(url, token, patience=patience)))


class HttpClient(WebhookVerbs):
    """Client of one server; who acts is known by the token."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest
        self._chance = SystemChance()
        self._clock = SystemClock()

    def __getattr__(self, verb: str) -> NoReturn:
        if verb.startswith("_"):
            raise AttributeError(verb)
        raise NotYetSupported(f"{verb} over --api")

    def acting(self, actor: str) -> HttpClient:
        """The same: the server knows us by our token."""
        return self

    # --- jobs ---------------------------------------------------------------------------------------------------

    def submit(
        self,
        requests: Sequence[JobRequest],
        *,
        idempotency_key: str | None = None,
        borrowed: Borrowed | None = None,
    ) -> list[Receipt]:
        """Store the jobs and answer, once they are durable, which job each request led to."""
        if borrowed is not None:
            raise NotYetSupported("connection over --api")
        receipts: list[Receipt] = []
        most = ATOMIC if idempotency_key is None else max(1, len(requests))
        for start in range(0, len(requests), most):
            some = requests[start : start + most]
            key = idempotency_key or self._chance.secret()
            try:
                answer = self._rest.change("POST", "/jobs/batch", {"jobs": to_builtins(some)}, key=key)
            except MainspringError as error:
                if error.index is not None:
                    error.index += start
                raise
            receipts += [unwire.receipt_of(one) for one in answer["items"]]
        return receipts

    def job(self, job: int) -> Job:
        """One job."""
        return unwire.job_of(self._rest.get(f"/jobs/{job}"))

    def jobs(self, wanted: JobFilter) -> JobPage:
        """A page of jobs, newest first."""
        page = self._rest.get("/jobs", **_narrowed(wanted), cursor=wanted.cursor, limit=wanted.limit)
        return JobPage([unwire.job_of(one) for one in page["items"]], page["next"])

    def count(self, wanted: JobFilter) -> int:
        """How many jobs the filter matches."""
        return int(self._rest.get("/jobs/count", **_narrowed(wanted))["count"])

    def explain(self, job: int) -> Explanation:
        """Why a job waits, runs or ended as it did."""
        return unwire.explanation_of(self._rest.get(f"/jobs/{job}/explain"))

    def attempts(self, job: int) -> list[Attempt]:
        """The attempts of a job in order, the running one last."""
        return [unwire.attempt_of(one) for one in self._rest.pages(f"/jobs/{job}/attempts")]

    def events(
        self, *, after: int = 0, job: int | None = None, kinds: Sequence[str] = (), limit: int = 1000
    ) -> list[Event]:
        """Events of a job behind the cursor, oldest first."""
        if job is None or kinds:
            raise NotYetSupported("events of all jobs over --api")
        return [unwire.event_of(one) for one in self._rest.items(f"/jobs/{job}/events", cursor=after, limit=limit)]

    def logs(self, job: int, *, attempt: int | None = None, after: int = 0, limit: int = 10_000) -> list[LogLine]:
        """Log lines behind the cursor."""
        found = self._rest.items(f"/jobs/{job}/logs", attempt=attempt, cursor=after, limit=limit)
        return [unwire.logline_of(one) for one in found]

    def cancel(self, job: int) -> Job:
        """Cancel a waiting job at once, or ask a running one to stop."""
        return unwire.job_of(self._rest.change("POST", f"/jobs/{job}/cancel"))

    def retry(self, job: int) -> Job:
        """A new job with the same task and parameters."""
        return unwire.job_of(self._rest.change("POST", f"/jobs/{job}/retry"))

    def bulk(self, asked: Bulk) -> BulkDone:
        """Cancel or retry all jobs that a filter matches, up to a limit."""
        body = to_builtins(asked) | {"filter": _narrowed(asked.filter)}
        found = {name: value for name, value in body.items() if value is not None}
        return unwire.bulk_done_of(self._rest.change("POST", "/jobs/bulk", found))

    # --- the platform ---------------------------------------------------------------------------------------------

    def tasks(self) -> list[Task]:
        """The catalog."""
        return [unwire.task_of(one) for one in self._rest.pages("/tasks")]

    def workers(self) -> list[Worker]:
        """All workers that are known, newest first."""
        return [unwire.worker_of(one) for one in self._rest.pages("/workers")]

    def worker(self, worker: int) -> Worker:
        """One worker."""
        return unwire.worker_of(self._rest.get(f"/workers/{worker}"))

    def drain(self, worker: int) -> Worker:
        """Let a worker claim nothing more, and end when its jobs have."""
        return unwire.worker_of(self._rest.change("POST", f"/workers/{worker}/drain"))

    def queues(self) -> list[Queue]:
        """All queues that are known, by name."""
        return [unwire.queue_of(one) for one in self._rest.pages("/queues")]

    def queue(self, name: str) -> Queue:
        """One queue."""
        return unwire.queue_of(self._rest.get(f"/queues/{_part(name)}"))

    def change_queue(self, name: str, change: QueueChange) -> Queue:
        """Pause or resume a queue, set its limit or its note."""
        return unwire.queue_of(self._rest.change("PATCH", f"/queues/{_part(name)}", to_builtins(change)))

    # --- what only operators ask ----------------------------------------------------------------------------------

    def create_token(
        self, name: str, role: Role, *, lasts: Duration | None = None, queues: Sequence[str] | None = None
    ) -> tuple[Token, str]:
        """A new token and its secret, which can't be had again."""
        body = {"name": name, "role": role.value, "queues": None if queues is None else list(queues)}
        expires = {} if lasts is None else {"expires_in": duration_text(lasts)}
        made = self._rest.change("POST", "/tokens", body | expires)
        return unwire.token_of(made), made["token"]

    def revoke_token(self, wanted: str) -> Token:
        """Take a token back, by number or name."""
        return unwire.token_of(self._rest.change("DELETE", f"/tokens/{_part(wanted)}"))

    def tokens(self) -> list[Token]:
        """All tokens, newest first."""
        return [unwire.token_of(one) for one in self._rest.pages("/tokens")]

    def create_user(self, name: str, password: str, role: Role, *, queues: Sequence[str] | None = None) -> User:
        """Somebody who may sign in."""
        kept_to = None if queues is None else list(queues)
        body = {"name": name, "password": password, "role": role.value, "queues": kept_to}
        return unwire.user_of(self._rest.change("POST", "/users", body))

    def change_user(self, name: str, wanted: UserChange) -> User:
        """Another role, other queues, another password."""
        return unwire.user_of(self._rest.change("PATCH", f"/users/{_part(name)}", to_builtins(wanted)))

    def remove_user(self, name: str) -> User:
        """They may nothing any more."""
        return unwire.user_of(self._rest.change("DELETE", f"/users/{_part(name)}"))

    def users(self) -> list[User]:
        """All users, by name, removed ones last."""
        return [unwire.user_of(one) for one in self._rest.pages("/users")]

    def changes(self, wanted: ChangeFilter) -> list[Change]:
        """Lines of the audit trail, newest first."""
        query = {"subject": wanted.subject, "actor": wanted.actor, "action": wanted.action}
        found = self._rest.items("/audit", cursor=wanted.below, limit=wanted.limit, **query)
        return [unwire.change_of(one) for one in found]

    def holdings(self) -> list[Holding]:
        """Every setting with what holds in the server, and why."""
        return [unwire.holding_of(one) for one in self._rest.items("/config")]

    def change_settings(self, wanted: Mapping[str, object], *, dry_run: bool = False) -> list[Holding]:
        """Set these keys in the store, or take back what was set."""
        dry = "true" if dry_run else None
        found = self._rest.change("PATCH", "/config", dict(wanted), dry_run=dry)
        return [unwire.holding_of(one) for one in found["items"]]

    def setting_edits(self, *, below: int | None = None, limit: int = 100) -> list[Edit]:
        """Changes of the configuration below a cursor, newest first."""
        return [unwire.edit_of(one) for one in self._rest.items("/config/history", cursor=below, limit=limit)]

    def revert_settings(self, seq: int) -> list[Holding]:
        """Set everything to what people had set right after that change."""
        found = self._rest.change("POST", f"/config/history/{seq}/revert")
        return [unwire.holding_of(one) for one in found["items"]]

    # --- topics ---------------------------------------------------------------------------------------------------

    def publish(self, topic: str, data: Sequence[Any]) -> int:
        """Add messages to a topic, all or none; the number of the last one."""
        answer = self._rest.change("POST", f"/topics/{_part(topic)}/messages", {"messages": to_builtins(list(data))})
        return int(answer["last"])

    def topics(self) -> list[Topic]:
        """Every topic, by name."""
        return [unwire.topic_of(one) for one in self._rest.pages("/topics")]

    def messages(self, topic: str, *, after: int = 0, limit: int = 100) -> list[Message]:
        """Messages of a topic behind a number, in order."""
        found = self._rest.items(f"/topics/{_part(topic)}/messages", cursor=after, limit=limit)
        return [unwire.message_of(one) for one in found]

    def subscriptions(self) -> list[Subscription]:
        """Every subscription, by name."""
        return [unwire.subscription_of(one) for one in self._rest.pages("/subscriptions")]

    def subscribe(self, wanted: SubscriptionWanted) -> Subscription:
        """Make a job or a run of each message."""
        body = to_builtins(wanted)
        return unwire.subscription_of(self._rest.change("PUT", f"/subscriptions/{_part(body.pop('name'))}", body))

    def unsubscribe(self, name: str) -> Subscription:
        """Make nothing of further messages."""
        return unwire.subscription_of(self._rest.change("DELETE", f"/subscriptions/{_part(name)}"))

    def records(self, wanted: RecordFilter) -> list[Record]:
        """What servers and workers said of themselves."""
        query = {name: getattr(wanted, name) for name in ("level", "process", "job", "run", "worker", "limit")}
        times = {name: instant_text(at) for name in ("since", "until") if (at := getattr(wanted, name)) is not None}
        return [record_of(one) for one in self._rest.items("/logs", **query, **times, cursor=wanted.after)]

    # --- news -----------------------------------------------------------------------------------------------------

    def await_news(self, timeout: Duration) -> None:
        """Wait a moment: nothing rings over REST."""
        self._clock.wait(min(timeout, _LOOK_AGAIN))

    def close(self) -> None:
        """Let go of connections."""
        self._rest.close()


def _narrowed(wanted: JobFilter) -> dict[str, Any]:
    """A filter as a query has it."""
    found: dict[str, Any] = {
        "state": None if wanted.state is None else wanted.state.value,
        "task": wanted.task,
        "queue": wanted.queue,
        "tag": wanted.tag,
        "since": None if wanted.since is None else instant_text(wanted.since),
        "until": None if wanted.until is None else instant_text(wanted.until),
    }
    return {name: value for name, value in found.items() if value is not None}


def _part(name: str) -> str:
    """A name as a part of a path."""
    from urllib.parse import quote

    return quote(name, safe="")
