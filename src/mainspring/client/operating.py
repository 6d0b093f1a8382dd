"""What only operators ask: the verbs that the server and the command line have beyond those of jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, Self

from mainspring.client import Client
from mainspring.clock import Duration
from mainspring.domain.access import Asker, Change, ChangeFilter, Role, Token, User, UserChange
from mainspring.domain.configured import Edit, Holding
from mainspring.domain.event import EventPage, Happening
from mainspring.domain.job import Job, JobCount, JobFilter, JobRequest
from mainspring.domain.metric import Figures, Point, SeriesWanted
from mainspring.domain.plan import Plan
from mainspring.domain.record import Record, RecordFilter
from mainspring.domain.topic import Message, Subscription, Topic
from mainspring.domain.webhook import Delivery, DeliveryPage, Webhook, WebhookChange, WebhookWanted


class OperatingClient(Client, Protocol):
    """A client for whoever looks after a platform: on its store, or over REST; no command knows which it has."""

    def acting(self, actor: str, kept_to: Sequence[str] | None = None) -> Self:
        """The same client, of which events and the audit trail say that it was somebody else.

        ``kept_to``: the queues that they are kept to: no submit or retry names a job of another one; None: to none.
        """
        ...

    def create_token(
        self, name: str, role: Role, *, lasts: Duration | None = None, queues: Sequence[str] | None = None
    ) -> tuple[Token, str]:
        """A new token and its secret, which can't be had again. ``lasts`` None: until it is revoked.

        ``queues``: that it is kept to; None: to none. Raises InvalidOption, InvalidTask, TokenExists, UserExists.
        """
        ...

    def create_user(self, name: str, password: str, role: Role, *, queues: Sequence[str] | None = None) -> User:
        """Somebody who may sign in. Raises InvalidOption, InvalidTask, UserExists, TokenExists."""
        ...

    def change_user(self, name: str, wanted: UserChange) -> User:
        """Another role, other queues, another password, which ends their sessions. Raises as ``create_user``."""
        ...

    def remove_user(self, name: str) -> User:
        """They may nothing any more. Raises UnknownUser."""
        ...

    def users(self) -> list[User]:
        """All users, by name, removed ones last."""
        ...

    def revoke_token(self, wanted: str) -> Token:
        """Take a token back, by number or name. Raises UnknownToken."""
        ...

    def tokens(self) -> list[Token]:
        """All tokens, newest first, revoked ones too."""
        ...

    def changes(self, wanted: ChangeFilter) -> list[Change]:
        """Lines of the audit trail, newest first."""
        ...

    def holdings(self) -> list[Holding]:
        """Every setting with what holds, and why: in a server as it runs, elsewhere as a command started now has it."""
        ...

    def change_settings(self, wanted: Mapping[str, object], *, dry_run: bool = False) -> list[Holding]:
        """Set these keys in the store, or take back (None) what was set, all or none; what holds then.

        Raises InvalidSetting.
        """
        ...

    def setting_edits(self, *, below: int | None = None, limit: int = 100) -> list[Edit]:
        """Changes of the configuration below a cursor (``seq``), newest first."""
        ...

    def revert_settings(self, seq: int) -> list[Holding]:
        """Set everything to what people had set right after that change. Raises UnknownEdit."""

    def series(self, wanted: SeriesWanted) -> list[Point]:
        """A metric over time, in order; stretches in which nothing happened are left out. Raises InvalidOption."""
        ...

    def topics(self) -> list[Topic]:
        """Every topic, by name."""
        ...

    def messages(self, topic: str, *, after: int = 0, limit: int = 100) -> list[Message]:
        """Messages of a topic behind a number, in order."""
        ...

    def subscriptions(self) -> list[Subscription]:
        """Every subscription, by name."""
        ...

    def unsubscribe(self, name: str) -> Subscription:
        """Make nothing of further messages. Raises UnknownSubscription."""
        ...

    def records(self, wanted: RecordFilter) -> list[Record]:
        """What servers and workers said of themselves, oldest first. Raises InvalidInput."""
        ...

    def webhooks(self) -> list[Webhook]:
        """Every webhook, by name."""
        ...

    def webhook(self, name: str) -> Webhook:
        """One webhook. Raises UnknownWebhook."""
        ...

    def create_webhook(self, wanted: WebhookWanted) -> tuple[Webhook, str]:
        """A new webhook and its secret, which can't be had again.

        Raises DestinationRefused, InvalidInput and its kinds, WebhookExists.
        """
        ...

    def change_webhook(self, name: str, wanted: WebhookChange) -> Webhook:
        """Send somewhere else, or be told of something else. Raises as ``create_webhook``, and UnknownWebhook."""
        ...

    def renew_webhook_secret(self, name: str) -> tuple[Webhook, str]:
        """A new secret; the one before is good for a day yet. Raises UnknownWebhook."""
        ...

    def pause_webhook(self, name: str, reason: str | None = None) -> Webhook:
        """Send nothing until it is resumed. Raises UnknownWebhook, InvalidOption."""
        ...

    def resume_webhook(self, name: str, *, skip: bool = False) -> Webhook:
        """Send again: what came meanwhile too, unless ``skip``. Raises UnknownWebhook."""
        ...

    def remove_webhook(self, name: str) -> Webhook:
        """Take it away, with its deliveries. Raises UnknownWebhook."""
        ...

    def check_webhook(self, name: str) -> Delivery:
        """Deliver something that tells of nothing, once. Raises UnknownWebhook."""
        ...

    def deliveries(
        self, name: str, *, cursor: str | None = None, state: str | None = None, limit: int = 50
    ) -> DeliveryPage:
        """Deliveries of a webhook, newest first. Raises UnknownWebhook, InvalidInput."""
        ...

    def redeliver(self, name: str, delivery: int) -> Delivery:
        """Deliver once more what has ended. Raises UnknownWebhook, UnknownDelivery, NotEnded."""
        ...


class ServingClient(OperatingClient, Protocol):
    """What a server needs beside that; it is not asked over REST."""

    def sign_in(self, name: str, password: str, *, address: str) -> tuple[str, Asker]:
        """The secret of a new session, and whose it is. Raises WrongPassword."""
        ...

    def sign_out(self, secret: str, *, address: str) -> None:
        """A session is over. Raises Unauthenticated."""
        ...

    def submit_one(self, request: JobRequest, *, idempotency_key: str | None = None) -> tuple[Job, bool]:
        """The job that a request led to, once it is durable, and whether it is a new one. Raises as ``submit``."""
        ...

    def count_part(self, wanted: JobFilter) -> JobCount:
        """How many jobs match of those that one look passes, and where the next one goes on.

        Raises UnknownTask, InvalidCursor, InvalidInput.
        """
        ...

    def event_page(self, *, after: int, job: int | None, kinds: Sequence[str], limit: int) -> EventPage:
        """Events behind a cursor that one look finds, oldest first. Raises UnknownJob, InvalidCursor, InvalidInput."""
        ...

    def happenings(self, *, after: int, limit: int) -> list[Happening]:
        """All that happened behind a cursor, to jobs and to runs, oldest first."""
        ...

    def declare_schedules(self, stated: Mapping[str, Plan]) -> list[str]:
        """Record all schedules that a file declares, and withdraw what it declares no more; what is to be told."""
        ...

    def figures(self) -> Figures:
        """All numbers as they are now."""
        ...
