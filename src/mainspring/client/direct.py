"""The client that works on a store directly: control and questions, in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mainspring.client.webhook_wire import news_of_test
from mainspring.clock import Duration
from mainspring.config.layers import environment, load
from mainspring.config.live import Live
from mainspring.control import (
    access,
    bulk,
    catalog,
    declared_schedules,
    enlist,
    explain,
    jobs,
    metrics,
    queues,
    read,
    records,
    replays,
    runs,
    schedules,
    settings,
    submit,
    topics,
    users,
    webhooks,
    workers,
    workflows,
)
from mainspring.domain.access import Asker, Change, ChangeFilter, Role, Token, User, UserChange
from mainspring.domain.address import is_postgres
from mainspring.domain.attempt import Attempt
from mainspring.domain.backfill import BackfillRequest
from mainspring.domain.borrowed import Borrowed
from mainspring.domain.bulk import Bulk, BulkDone
from mainspring.domain.configured import Edit, Holding, Kept
from mainspring.domain.event import Event, EventPage, Happening
from mainspring.domain.ids import JobId
from mainspring.domain.job import Job, JobCount, JobFilter, JobPage, JobRequest, Receipt
from mainspring.domain.logline import LogLine
from mainspring.domain.metric import Figures, Point, SeriesWanted
from mainspring.domain.outward import Network, networks_of
from mainspring.domain.plan import Plan
from mainspring.domain.queue import Queue, QueueChange
from mainspring.domain.reason import Explanation
from mainspring.domain.record import Record, RecordFilter
from mainspring.domain.run import Replay, Run, RunEvent, RunFilter, RunNode, RunPage, RunRequest, WorkflowShown
from mainspring.domain.task import Catalog, Task
from mainspring.domain.timetable import Backfill, Filling, Origin, Schedule, Tick, TickPage
from mainspring.domain.topic import Message, Subscription, SubscriptionWanted, Topic
from mainspring.domain.webhook import Delivery, DeliveryPage, Webhook, WebhookChange, WebhookWanted
from mainspring.domain.worker import Worker
from mainspring.domain.workflow import Workflow
from mainspring.errors import NoDatabase
from mainspring.store import Store, database_path
from mainspring.store.bell import Listening


def connect(url: str, *, make: bool = True, actor: str = "client", live: Live | None = None) -> DirectClient:
    """Open a store and a client on it. Raises the StoreError that fits.

    ``live``: as a DirectClient has it; ``make``: whether a database is made where none is; otherwise that is
    NoDatabase, and nothing is touched.
    """
    if not make:
        require_database(url)
    return DirectClient(Store.open(url), actor=actor, live=live)


def require_database(url: str) -> None:
    """Raise NoDatabase where no SQLite file is: a question must not make one."""
    if is_postgres(url):
        return  # one without our tables is as good as one that we have just made them in
    path = database_path(url)
    if path == ":memory:":
        return
    try:
        there = Path(path).stat().st_size > 0
    except FileNotFoundError:
        there = False
    except OSError:
        return  # opening it says what is wrong
    if not there:
        raise NoDatabase(Path(path).absolute())


class DirectClient:
    """Client on an open store; ``close`` closes the store. ``actor`` is who events name.

    ``kept_to``: the queues that they are kept to (None: to none);
    ``live``: the configuration of this process (default: what one has that is started here and now).
    """

    def __init__(
        self,
        store: Store,
        *,
        actor: str = "client",
        parent: JobId | None = None,
        live: Live | None = None,
        kept_to: Sequence[str] | None = None,
    ) -> None:
        self.store = store
        self._kept_to = kept_to
        self._live = live
        self._actor = actor
        self._parent = parent
        self._by: dict[str, Any] = {"actor": actor, "parent": parent, "kept_to": kept_to}
        self._listener: Listening | None = None

    def declare(self, catalog_: Catalog) -> None:
        """Record an app's tasks. Idempotent."""
        catalog.declare(self.store, catalog_)

    def submit(
        self,
        requests: Sequence[JobRequest],
        *,
        idempotency_key: str | None = None,
        borrowed: Borrowed | None = None,
    ) -> list[Receipt]:
        """Store the jobs and answer, once they are durable, which job each request led to. Up to 2,000: all or none."""
        if borrowed is not None:
            return enlist.enlist(self.store, requests, borrowed, actor=self._actor, parent=self._parent)
        return submit.submit(self.store, requests, idempotency_key=idempotency_key, **self._by)

    def submit_one(self, request: JobRequest, *, idempotency_key: str | None = None) -> tuple[Job, bool]:
        """The job that a request led to, once it is durable, and whether it is a new one."""
        return submit.submit_one(self.store, request, idempotency_key=idempotency_key, **self._by)

    def job(self, job: int) -> Job:
        """One job. Raises UnknownJob."""
        return read.job(self.store, job)

    def jobs(self, wanted: JobFilter) -> JobPage:
        """A page of jobs, newest first."""
        return read.listed(self.store, wanted)

    def count(self, wanted: JobFilter) -> int:
        """How many jobs the filter matches."""
        return read.counted(self.store, wanted)

    def explain(self, job: int) -> Explanation:
        """Why a job waits, runs or ended as it did."""
        return explain.explanation(self.store, job)

    def attempts(self, job: int) -> list[Attempt]:
        """The attempts of a job in order, the running one last."""
        return read.attempts(self.store, job)

    def count_part(self, wanted: JobFilter) -> JobCount:
        """How many jobs of the next part of the list match."""
        return read.counted_part(self.store, wanted)

    def events(
        self, *, after: int = 0, job: int | None = None, kinds: Sequence[str] = (), limit: int = 1000
    ) -> list[Event]:
        """Events behind the cursor, oldest first."""
        return read.history(self.store, after=after, job=job, kinds=kinds, limit=limit)

    def event_page(self, *, after: int, job: int | None, kinds: Sequence[str], limit: int) -> EventPage:
        """The next part of the events, oldest first."""
        return read.history_page(self.store, after=after, job=job, kinds=kinds, limit=limit)

    def last_event(self) -> int:
        """The newest cursor."""
        return read.last_event(self.store)

    def logs(self, job: int, *, attempt: int | None = None, after: int = 0, limit: int = 10_000) -> list[LogLine]:
        """Log lines behind the cursor."""
        return read.logs(self.store, job, attempt=attempt, after=after, limit=limit)

    def cancel(self, job: int) -> Job:
        """Cancel a waiting job at once, or ask a running one to stop."""
        return jobs.cancel(self.store, job, actor=self._actor)

    def retry(self, job: int) -> Job:
        """A new job with the same task and parameters."""
        return jobs.retry(self.store, job, actor=self._actor, kept_to=self._kept_to)

    def bulk(self, asked: Bulk) -> BulkDone:
        """Cancel or retry all jobs that a filter matches, up to a limit."""
        return bulk.bulk(self.store, asked, actor=self._actor)

    def put_workflow(self, document: Workflow) -> WorkflowShown:
        """Store a definition under its name."""
        return workflows.put(self.store, document, actor=self._actor)

    def workflow(self, name: str) -> WorkflowShown:
        """What a name stands for."""
        return workflows.one(self.store, name)

    def workflows(self) -> list[WorkflowShown]:
        """All workflows, by name, without their nodes."""
        return workflows.listed(self.store)

    def start_run(self, request: RunRequest) -> Run:
        """Begin a run; it is durable when this answers."""
        return runs.start(self.store, request, actor=self._actor, parent=self._parent)

    def run(self, run: int) -> Run:
        """One run."""
        return runs.one(self.store, run)

    def runs(self, wanted: RunFilter) -> RunPage:
        """A page of runs, newest first."""
        return runs.listed(self.store, wanted)

    def run_nodes(self, run: int, *, after: int = 0, limit: int = 1000, jobs: int = 20) -> list[RunNode]:
        """Nodes of a run in the order of its definition, behind a number, each with at most so many jobs."""
        return runs.nodes(self.store, run, after=after, limit=limit, jobs=jobs)

    def run_events(self, run: int, *, after: int = 0, limit: int = 1000) -> list[RunEvent]:
        """What happened in a run behind a cursor, oldest first."""
        return runs.events(self.store, run, after=after, limit=limit)

    def run_document(self, run: int) -> Workflow:
        """The definition that a run keeps."""
        return runs.document(self.store, run)

    def restart_run(self, run: int, *, newest: bool = False) -> Replay:
        """Run it all again, as a new run."""
        return replays.restart(self.store, run, actor=self._actor, newest=newest)

    def resume_run(self, run: int, *, since: str | None = None, as_it_was: bool = False) -> Replay:
        """Go on from what failed, as a new run that keeps what is good."""
        return replays.resume(self.store, run, actor=self._actor, since=since, as_it_was=as_it_was)

    def cancel_run(self, run: int) -> Run:
        """Tell a run to stop."""
        return runs.cancel(self.store, run, actor=self._actor)

    def tasks(self) -> list[Task]:
        """The catalog."""
        return read.tasks(self.store)

    def workers(self) -> list[Worker]:
        """All workers that are known, newest first."""
        return read.all_workers(self.store)

    def worker(self, worker: int) -> Worker:
        """One worker."""
        return workers.one(self.store, worker)

    def drain(self, worker: int) -> Worker:
        """Let a worker claim nothing more, and end when its jobs have."""
        return workers.drain(self.store, worker, actor=self._actor)

    def queues(self) -> list[Queue]:
        """All queues that are known, by name."""
        return queues.listed(self.store)

    def queue(self, name: str) -> Queue:
        """One queue."""
        return queues.one(self.store, name)

    def change_queue(self, name: str, change: QueueChange) -> Queue:
        """Pause or resume a queue, set its limit or its note."""
        return queues.change(self.store, name, change, actor=self._actor)

    def schedules(self) -> list[Schedule]:
        """All schedules that were not removed, by name."""
        return schedules.listed(self.store)

    def schedule(self, name: str) -> Schedule:
        """One schedule, also a removed one."""
        return schedules.one(self.store, name)

    def put_schedule(self, name: str, plan: Plan, origin: Origin) -> Schedule:
        """Declare a schedule, or say all anew of the one with this name."""
        return schedules.put(self.store, name, plan, origin=origin, actor=self._actor)

    def declare_schedules(self, stated: Mapping[str, Plan]) -> list[str]:
        """Record all schedules that a file declares, and withdraw what it declares no more."""
        return declared_schedules.declare(self.store, stated)

    def change_schedule(self, name: str, fields: Mapping[str, Any]) -> Schedule:
        """Say something else in these fields of its plan."""
        return schedules.change(self.store, name, fields, actor=self._actor)

    def reset_schedule(self, name: str) -> Schedule:
        """Take back what operators have changed."""
        return schedules.reset(self.store, name, actor=self._actor)

    def pause_schedule(self, name: str, note: str | None) -> Schedule:
        """Let no tick make a job until it is resumed."""
        return schedules.pause(self.store, name, note=note, actor=self._actor)

    def resume_schedule(self, name: str, note: str | None) -> Schedule:
        """Let its ticks make jobs again."""
        return schedules.resume(self.store, name, note=note, actor=self._actor)

    def remove_schedule(self, name: str) -> Schedule:
        """Take it away."""
        return schedules.remove(self.store, name, actor=self._actor)

    def trigger_schedule(self, name: str) -> Tick:
        """Make a job now."""
        return schedules.trigger(self.store, name, actor=self._actor)

    def backfill(self, name: str, wanted: BackfillRequest) -> Filling:
        """Make ticks of the past, or only say which they are."""
        return schedules.backfill(self.store, name, wanted, actor=self._actor)

    def backfills(self, name: str) -> list[Backfill]:
        """The backfills of a schedule, newest first."""
        return schedules.listed_backfills(self.store, name)

    def ticks(self, name: str, *, cursor: str | None = None, limit: int = 50) -> TickPage:
        """Ticks of a schedule, newest first."""
        return schedules.listed_ticks(self.store, name, cursor=cursor, limit=limit)

    # --- what only operators ask --------------------------------------------------------------------------------

    def acting(self, actor: str, kept_to: Sequence[str] | None = None) -> DirectClient:
        """The same client, of which events and the audit trail say that it was somebody else."""
        return DirectClient(self.store, actor=actor, parent=self._parent, live=self._live, kept_to=kept_to)

    def create_token(
        self, name: str, role: Role, *, lasts: Duration | None = None, queues: Sequence[str] | None = None
    ) -> tuple[Token, str]:
        """A new token and its secret."""
        return access.create(self.store, name, role, lasts=lasts, queues=queues, actor=self._actor)

    def create_user(self, name: str, password: str, role: Role, *, queues: Sequence[str] | None = None) -> User:
        """Somebody who may sign in."""
        return users.create(self.store, name, password, role, queues=queues, actor=self._actor)

    def change_user(self, name: str, wanted: UserChange) -> User:
        """Another role, other queues, another password."""
        return users.change(self.store, name, wanted, actor=self._actor)

    def remove_user(self, name: str) -> User:
        """They may nothing any more."""
        return users.remove(self.store, name, actor=self._actor)

    def users(self) -> list[User]:
        """All users, by name, removed ones last."""
        return users.listed(self.store)

    def sign_in(self, name: str, password: str, *, address: str) -> tuple[str, Asker]:
        """The secret of a new session, and whose it is."""
        return users.sign_in(self.store, name, password, address=address)

    def sign_out(self, secret: str, *, address: str) -> None:
        """A session is over."""
        users.sign_out(self.store, secret, address=address)

    def revoke_token(self, wanted: str) -> Token:
        """Take a token back, by number or name."""
        return access.revoke(self.store, wanted, actor=self._actor)

    def tokens(self) -> list[Token]:
        """All tokens, newest first."""
        return access.tokens(self.store)

    def changes(self, wanted: ChangeFilter) -> list[Change]:
        """Lines of the audit trail, newest first."""
        return access.changes(self.store, wanted)

    def happenings(self, *, after: int, limit: int) -> list[Happening]:
        """All that happened behind a cursor."""
        return read.happenings(self.store, after=after, limit=limit)

    def holdings(self) -> list[Holding]:
        """Every setting with what holds, and why."""
        return self._held(settings.kept(self.store))

    def change_settings(self, wanted: Mapping[str, object], *, dry_run: bool = False) -> list[Holding]:
        """Set these keys in the store, or take back what was set."""
        if dry_run:
            settings.checked(wanted)
            return self.holdings()
        return self._held(settings.change(self.store, wanted, actor=self._actor))

    def setting_edits(self, *, below: int | None = None, limit: int = 100) -> list[Edit]:
        """Changes of the configuration below a cursor, newest first."""
        return settings.history(self.store, below=below, limit=limit)

    def revert_settings(self, seq: int) -> list[Holding]:
        """Set everything to what people had set right after that change."""
        return self._held(settings.revert(self.store, seq, actor=self._actor))

    def _held(self, kept: list[Kept]) -> list[Holding]:
        return self._configured().holdings(kept)

    def _configured(self) -> Live:
        return self._live or Live(load(environment=environment(), directory=Path.cwd()))

    def figures(self) -> Figures:
        """All numbers as they are now."""
        return metrics.figures(self.store)

    def series(self, wanted: SeriesWanted) -> list[Point]:
        """A metric over time."""
        return metrics.points(self.store, wanted)

    def publish(self, topic: str, data: Sequence[Any]) -> int:
        """Add messages to a topic; the number of the last one."""
        return topics.publish(self.store, topic, data, actor=self._actor)

    def topics(self) -> list[Topic]:
        """Every topic."""
        return topics.listed(self.store)

    def messages(self, topic: str, *, after: int = 0, limit: int = 100) -> list[Message]:
        """Messages of a topic behind a number."""
        return topics.messages(self.store, topic, after=after, limit=limit)

    def subscriptions(self) -> list[Subscription]:
        """Every subscription."""
        return topics.subscriptions(self.store)

    def subscribe(self, wanted: SubscriptionWanted) -> Subscription:
        """Make a job or a run of each message."""
        return topics.subscribe(self.store, wanted, actor=self._actor)

    def unsubscribe(self, name: str) -> Subscription:
        """Make nothing of further messages."""
        return topics.unsubscribe(self.store, name, actor=self._actor)

    def records(self, wanted: RecordFilter) -> list[Record]:
        """What servers and workers said of themselves."""
        return records.found(self.store, wanted)

    def webhooks(self) -> list[Webhook]:
        """Every webhook."""
        return webhooks.listed(self.store)

    def webhook(self, name: str) -> Webhook:
        """One webhook."""
        return webhooks.one(self.store, name)

    def create_webhook(self, wanted: WebhookWanted) -> tuple[Webhook, str]:
        """A new webhook and its secret."""
        return webhooks.create(self.store, wanted, inside=self._inside(), actor=self._actor)

    def change_webhook(self, name: str, wanted: WebhookChange) -> Webhook:
        """Send somewhere else, or be told of something else."""
        return webhooks.change(self.store, name, wanted, inside=self._inside(), actor=self._actor)

    def renew_webhook_secret(self, name: str) -> tuple[Webhook, str]:
        """A new secret."""
        return webhooks.renew_secret(self.store, name, actor=self._actor)

    def pause_webhook(self, name: str, reason: str | None = None) -> Webhook:
        """Send nothing until it is resumed."""
        return webhooks.pause(self.store, name, reason=reason, actor=self._actor)

    def resume_webhook(self, name: str, *, skip: bool = False) -> Webhook:
        """Send again."""
        return webhooks.resume(self.store, name, skip=skip, actor=self._actor)

    def remove_webhook(self, name: str) -> Webhook:
        """Take it away."""
        return webhooks.remove(self.store, name, actor=self._actor)

    def check_webhook(self, name: str) -> Delivery:
        """Deliver something that tells of nothing."""
        return webhooks.test(self.store, name, news_of_test(name, self.store.clock.now()), actor=self._actor)

    def deliveries(
        self, name: str, *, cursor: str | None = None, state: str | None = None, limit: int = 50
    ) -> DeliveryPage:
        """Deliveries of a webhook, newest first."""
        return webhooks.deliveries(self.store, name, cursor=cursor, state=state, limit=limit)

    def redeliver(self, name: str, delivery: int) -> Delivery:
        """Deliver once more what has ended."""
        return webhooks.redeliver(self.store, name, delivery, actor=self._actor)

    def _inside(self) -> tuple[Network, ...]:
        return networks_of(self._configured().settings.webhook_networks)

    # --- news ---------------------------------------------------------------------------------------------------

    def await_news(self, timeout: Duration) -> None:
        """Block until something may have happened, at most this long."""
        if self._listener is None:
            self._listener = self.store.news_bell.listen(self.store.chance.incarnation())
        self._listener.wait(timeout)

    def close(self) -> None:
        """Let go of files and connections."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self.store.close()
