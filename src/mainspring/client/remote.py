"""The clients that ask a server over REST: the verbs of the one on a store, the same answers, the same errors.

``connect`` makes one that waits for its answers, ``aconnect`` one for asynchronous code. What they ask is written once,
in ``verbs/``. Must not open a store.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from mainspring.client.http import PATIENCE, Awaiting, Blocking, Steps
from mainspring.client.verbs import access as access_verbs
from mainspring.client.verbs import jobs as job_verbs
from mainspring.client.verbs import platform as platform_verbs
from mainspring.client.verbs import runs as run_verbs
from mainspring.client.verbs import schedules as schedule_verbs
from mainspring.client.verbs import topics as topic_verbs
from mainspring.client.verbs import webhooks as webhook_verbs
from mainspring.clock import MILLISECOND, Duration, SystemClock
from mainspring.domain.task import Catalog
from mainspring.errors import NotYetSupported

T = TypeVar("T")
P = ParamSpec("P")

_LOOK_AGAIN = Duration(300 * MILLISECOND)
"""Nothing rings over REST, so whoever waits looks so often."""


def connect(url: str, *, token: str = "", patience: Duration = PATIENCE) -> HttpClient:
    """A client of the server at this address (``http://127.0.0.1:8750``). Nothing is asked of it yet.

    ``token``: what shows who we are, an empty text where nobody asks; ``patience``: how long one answer may take.
    Raises ServerUnreachable for what is no address.
    """
    return HttpClient(Blocking(url, token, patience=patience))


def aconnect(url: str, *, token: str = "", patience: Duration = PATIENCE) -> AsyncHttpClient:
    """The same for asynchronous code: each verb is awaited, and many may be under way at once.

    Use it with ``async with``, or await its ``close``.
    """
    return AsyncHttpClient(Awaiting(url, token, patience=patience))


def _blocking(verb: Callable[P, Steps[T]]) -> Callable[Concatenate[HttpClient, P], T]:
    """The verb as a method that waits for the answer."""

    @wraps(verb)
    def ask(client: HttpClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return client.rest.take(verb(*args, **kwargs))

    return ask


def _awaiting(verb: Callable[P, Steps[T]]) -> Callable[Concatenate[AsyncHttpClient, P], Coroutine[Any, Any, T]]:
    """The verb as a method that is awaited."""

    @wraps(verb)
    async def ask(client: AsyncHttpClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await client.rest.take(verb(*args, **kwargs))

    return ask


class HttpClient:
    """Client of one server; who acts is known by the token."""

    def __init__(self, rest: Blocking) -> None:
        self.rest = rest

    def acting(self, actor: str, kept_to: Sequence[str] | None = None) -> Self:
        """The same client: the server knows us by our token."""
        return self

    def declare(self, catalog: Catalog) -> None:
        """Not over REST: apps are declared where their code is."""
        raise NotYetSupported(f"declaring the tasks of {catalog.app} over --api")

    def await_news(self, timeout: Duration) -> None:
        """Wait a moment: nothing rings over REST."""
        SystemClock().wait(min(timeout, _LOOK_AGAIN))

    def close(self) -> None:
        """Let go of connections."""
        self.rest.close()

    submit = _blocking(job_verbs.submit)
    job = _blocking(job_verbs.job)
    jobs = _blocking(job_verbs.jobs)
    count = _blocking(job_verbs.count)
    explain = _blocking(job_verbs.explain)
    attempts = _blocking(job_verbs.attempts)
    events = _blocking(job_verbs.events)
    last_event = _blocking(job_verbs.last_event)
    logs = _blocking(job_verbs.logs)
    cancel = _blocking(job_verbs.cancel)
    retry = _blocking(job_verbs.retry)
    bulk = _blocking(job_verbs.bulk)

    records = _blocking(platform_verbs.records)
    tasks = _blocking(platform_verbs.tasks)
    workers = _blocking(platform_verbs.workers)
    worker = _blocking(platform_verbs.worker)
    drain = _blocking(platform_verbs.drain)
    queues = _blocking(platform_verbs.queues)
    series = _blocking(platform_verbs.series)
    queue = _blocking(platform_verbs.queue)
    change_queue = _blocking(platform_verbs.change_queue)

    put_workflow = _blocking(run_verbs.put_workflow)
    workflow = _blocking(run_verbs.workflow)
    workflows = _blocking(run_verbs.workflows)
    start_run = _blocking(run_verbs.start_run)
    run = _blocking(run_verbs.run)
    runs = _blocking(run_verbs.runs)
    run_nodes = _blocking(run_verbs.run_nodes)
    run_events = _blocking(run_verbs.run_events)
    run_document = _blocking(run_verbs.run_document)
    restart_run = _blocking(run_verbs.restart_run)
    resume_run = _blocking(run_verbs.resume_run)
    cancel_run = _blocking(run_verbs.cancel_run)

    schedules = _blocking(schedule_verbs.schedules)
    schedule = _blocking(schedule_verbs.schedule)
    put_schedule = _blocking(schedule_verbs.put_schedule)
    change_schedule = _blocking(schedule_verbs.change_schedule)
    reset_schedule = _blocking(schedule_verbs.reset_schedule)
    pause_schedule = _blocking(schedule_verbs.pause_schedule)
    resume_schedule = _blocking(schedule_verbs.resume_schedule)
    remove_schedule = _blocking(schedule_verbs.remove_schedule)
    trigger_schedule = _blocking(schedule_verbs.trigger_schedule)
    backfill = _blocking(schedule_verbs.backfill)
    backfills = _blocking(schedule_verbs.backfills)
    ticks = _blocking(schedule_verbs.ticks)

    publish = _blocking(topic_verbs.publish)
    topics = _blocking(topic_verbs.topics)
    messages = _blocking(topic_verbs.messages)
    subscriptions = _blocking(topic_verbs.subscriptions)
    subscribe = _blocking(topic_verbs.subscribe)
    unsubscribe = _blocking(topic_verbs.unsubscribe)

    create_token = _blocking(access_verbs.create_token)
    revoke_token = _blocking(access_verbs.revoke_token)
    tokens = _blocking(access_verbs.tokens)
    create_user = _blocking(access_verbs.create_user)
    change_user = _blocking(access_verbs.change_user)
    remove_user = _blocking(access_verbs.remove_user)
    users = _blocking(access_verbs.users)
    changes = _blocking(access_verbs.changes)
    holdings = _blocking(access_verbs.holdings)
    change_settings = _blocking(access_verbs.change_settings)
    setting_edits = _blocking(access_verbs.setting_edits)
    revert_settings = _blocking(access_verbs.revert_settings)

    webhooks = _blocking(webhook_verbs.webhooks)
    webhook = _blocking(webhook_verbs.webhook)
    create_webhook = _blocking(webhook_verbs.create_webhook)
    change_webhook = _blocking(webhook_verbs.change_webhook)
    renew_webhook_secret = _blocking(webhook_verbs.renew_webhook_secret)
    pause_webhook = _blocking(webhook_verbs.pause_webhook)
    resume_webhook = _blocking(webhook_verbs.resume_webhook)
    remove_webhook = _blocking(webhook_verbs.remove_webhook)
    check_webhook = _blocking(webhook_verbs.check_webhook)
    deliveries = _blocking(webhook_verbs.deliveries)
    redeliver = _blocking(webhook_verbs.redeliver)


class AsyncHttpClient:
    """Client of one server, for asynchronous code."""

    def __init__(self, rest: Awaiting) -> None:
        self.rest = rest

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of connections."""
        await self.rest.close()

    submit = _awaiting(job_verbs.submit)
    job = _awaiting(job_verbs.job)
    jobs = _awaiting(job_verbs.jobs)
    count = _awaiting(job_verbs.count)
    explain = _awaiting(job_verbs.explain)
    attempts = _awaiting(job_verbs.attempts)
    events = _awaiting(job_verbs.events)
    last_event = _awaiting(job_verbs.last_event)
    logs = _awaiting(job_verbs.logs)
    cancel = _awaiting(job_verbs.cancel)
    retry = _awaiting(job_verbs.retry)
    bulk = _awaiting(job_verbs.bulk)

    records = _awaiting(platform_verbs.records)
    tasks = _awaiting(platform_verbs.tasks)
    workers = _awaiting(platform_verbs.workers)
    worker = _awaiting(platform_verbs.worker)
    drain = _awaiting(platform_verbs.drain)
    queues = _awaiting(platform_verbs.queues)
    series = _awaiting(platform_verbs.series)
    queue = _awaiting(platform_verbs.queue)
    change_queue = _awaiting(platform_verbs.change_queue)

    put_workflow = _awaiting(run_verbs.put_workflow)
    workflow = _awaiting(run_verbs.workflow)
    workflows = _awaiting(run_verbs.workflows)
    start_run = _awaiting(run_verbs.start_run)
    run = _awaiting(run_verbs.run)
    runs = _awaiting(run_verbs.runs)
    run_nodes = _awaiting(run_verbs.run_nodes)
    run_events = _awaiting(run_verbs.run_events)
    run_document = _awaiting(run_verbs.run_document)
    restart_run = _awaiting(run_verbs.restart_run)
    resume_run = _awaiting(run_verbs.resume_run)
    cancel_run = _awaiting(run_verbs.cancel_run)

    schedules = _awaiting(schedule_verbs.schedules)
    schedule = _awaiting(schedule_verbs.schedule)
    put_schedule = _awaiting(schedule_verbs.put_schedule)
    change_schedule = _awaiting(schedule_verbs.change_schedule)
    reset_schedule = _awaiting(schedule_verbs.reset_schedule)
    pause_schedule = _awaiting(schedule_verbs.pause_schedule)
    resume_schedule = _awaiting(schedule_verbs.resume_schedule)
    remove_schedule = _awaiting(schedule_verbs.remove_schedule)
    trigger_schedule = _awaiting(schedule_verbs.trigger_schedule)
    backfill = _awaiting(schedule_verbs.backfill)
    backfills = _awaiting(schedule_verbs.backfills)
    ticks = _awaiting(schedule_verbs.ticks)

    publish = _awaiting(topic_verbs.publish)
    topics = _awaiting(topic_verbs.topics)
    messages = _awaiting(topic_verbs.messages)
    subscriptions = _awaiting(topic_verbs.subscriptions)
    subscribe = _awaiting(topic_verbs.subscribe)
    unsubscribe = _awaiting(topic_verbs.unsubscribe)

    create_token = _awaiting(access_verbs.create_token)
    revoke_token = _awaiting(access_verbs.revoke_token)
    tokens = _awaiting(access_verbs.tokens)
    create_user = _awaiting(access_verbs.create_user)
    change_user = _awaiting(access_verbs.change_user)
    remove_user = _awaiting(access_verbs.remove_user)
    users = _awaiting(access_verbs.users)
    changes = _awaiting(access_verbs.changes)
    holdings = _awaiting(access_verbs.holdings)
    change_settings = _awaiting(access_verbs.change_settings)
    setting_edits = _awaiting(access_verbs.setting_edits)
    revert_settings = _awaiting(access_verbs.revert_settings)

    webhooks = _awaiting(webhook_verbs.webhooks)
    webhook = _awaiting(webhook_verbs.webhook)
    create_webhook = _awaiting(webhook_verbs.create_webhook)
    change_webhook = _awaiting(webhook_verbs.change_webhook)
    renew_webhook_secret = _awaiting(webhook_verbs.renew_webhook_secret)
    pause_webhook = _awaiting(webhook_verbs.pause_webhook)
    resume_webhook = _awaiting(webhook_verbs.resume_webhook)
    remove_webhook = _awaiting(webhook_verbs.remove_webhook)
    check_webhook = _awaiting(webhook_verbs.check_webhook)
    deliveries = _awaiting(webhook_verbs.deliveries)
    redeliver = _awaiting(webhook_verbs.redeliver)
