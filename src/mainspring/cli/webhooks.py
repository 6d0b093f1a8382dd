"""``mainspring webhooks`` and ``mainspring webhook``: who is told of what happens, and what became of each delivery."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from cyclopts import Parameter
from msgspec import UNSET

from mainspring.cli import access as of
from mainspring.cli import looks, show
from mainspring.cli.access import Access, option
from mainspring.client.operating import OperatingClient
from mainspring.client.webhook_wire import delivery_wire, webhook_wire
from mainspring.clock import MILLISECOND, Instant, SystemClock
from mainspring.domain.outward import destination
from mainspring.domain.webhook import Delivery, Webhook, WebhookChange, WebhookWanted
from mainspring.errors import WrongUse

Name = Annotated[str, Parameter(name="NAME", help="The webhook.")]
Number = Annotated[int, Parameter(name="ID", help="The delivery's number.")]
Kinds = Annotated[
    list[str] | None, option("Only these kinds of events, such as job.dead or run.*; repeat it for more.", "KIND")
]
Queue = Annotated[str | None, option("Only events of jobs of this queue ('any': of all).", "NAME")]
Task = Annotated[str | None, option("Only events of jobs of this task, by its full name ('any': of all).", "TASK")]
_ANY = "any"


def webhooks(*, access: Access = of.DEFAULT) -> int:
    """List webhooks by name, and how they do."""
    with access.client() as client:
        found = client.webhooks()
    if access.json:
        show.as_json([webhook_wire(one) for one in found])
        return 0
    now = SystemClock().now()
    show.table(
        ("NAME", "TO", "TOLD OF", "DELIVERED", "FAILED", "WAITING", "LAST", "STATE"),
        [_row(one, now) for one in found],
        empty="No webhooks: make one with mainspring webhook add NAME URL.",
        right=(3, 4, 5),
        gives=(7,),
    )
    return 0


def add(  # noqa: PLR0913 - where to, and of what
    name: Name,
    url: Annotated[str, Parameter(name="URL", help="Where deliveries go: https://...")],
    /,
    *,
    kind: Kinds = None,
    queue: Queue = None,
    task: Task = None,
    topic: Annotated[str | None, option("Tell it of the messages of this topic instead of events.", "TOPIC")] = None,
    after: Annotated[int | None, option("Begin behind this event or message; 0: with the oldest.", "N")] = None,
    access: Access = of.DEFAULT,
) -> int:
    """Tell a receiver of what happens. The secret that signs deliveries is printed once."""
    wanted = WebhookWanted(name, url, tuple(kind or ()), _narrow(queue), _narrow(task), topic, after)
    with access.client(actor=of.operator()) as client:
        made, secret = client.create_webhook(wanted)
    return _told_secret(made, secret, access)


def set_(  # noqa: PLR0913 - what may be changed
    name: Name,
    /,
    *,
    url: Annotated[str | None, option("Where deliveries go.", "URL")] = None,
    kind: Kinds = None,
    queue: Queue = None,
    task: Task = None,
    access: Access = of.DEFAULT,
) -> int:
    """Change where a webhook sends to, or what it is told of. ``--kind any`` tells it of all kinds."""
    kinds = () if kind == [_ANY] else tuple(kind or ())
    wanted = WebhookChange(
        UNSET if url is None else url,
        UNSET if kind is None else kinds,
        UNSET if queue is None else _narrow(queue),
        UNSET if task is None else _narrow(task),
    )
    if wanted == WebhookChange():
        raise WrongUse("Nothing to change was given.", remedy="Give --url, --kind, --queue or --task.")
    return _changed(access, lambda client: client.change_webhook(name, wanted))


def show_(name: Name, /, *, access: Access = of.DEFAULT) -> int:
    """Show a webhook and its last deliveries."""
    with access.client() as client:
        one = client.webhook(name)
        found = client.deliveries(name, limit=10).items
    if access.json:
        show.as_json(webhook_wire(one) | {"deliveries": [delivery_wire(each) for each in found]})
        return 0
    now = SystemClock().now()
    show.draw(show.title("webhook", one.name), show.facts(_facts(one, now)))
    _table(found, now)
    return 0


def deliveries(
    name: Name,
    /,
    *,
    state: Annotated[str | None, option("Only those in this state.", "pending|delivered|failed")] = None,
    limit: Annotated[int, option("At most so many.", "N")] = 50,
    access: Access = of.DEFAULT,
) -> int:
    """List what was and is to be delivered, newest first."""
    with access.client() as client:
        found = client.deliveries(name, state=state, limit=limit).items
    if access.json:
        show.as_json([delivery_wire(one) for one in found])
    else:
        _table(found, SystemClock().now())
    return 0


def redeliver(name: Name, delivery: Number, /, *, access: Access = of.DEFAULT) -> int:
    """Deliver once more what was delivered, or given up."""
    with access.client(actor=of.operator()) as client:
        one = client.redeliver(name, delivery)
    return _queued(one, access)


def check(name: Name, /, *, access: Access = of.DEFAULT) -> int:
    """Deliver something that tells of nothing, once, even while the webhook is paused."""
    with access.client(actor=of.operator()) as client:
        one = client.check_webhook(name)
    return _queued(one, access)


def pause(
    name: Name,
    /,
    *,
    reason: Annotated[str | None, option("Why, for whoever looks.", "TEXT")] = None,
    access: Access = of.DEFAULT,
) -> int:
    """Send nothing until it is resumed."""
    return _changed(access, lambda client: client.pause_webhook(name, reason))


def resume(
    name: Name,
    /,
    *,
    skip: Annotated[bool, option("Leave out what came while it was paused.")] = False,
    access: Access = of.DEFAULT,
) -> int:
    """Send again; what came while it was paused too."""
    return _changed(access, lambda client: client.resume_webhook(name, skip=skip))


def secret(name: Name, /, *, access: Access = of.DEFAULT) -> int:
    """Give it a new secret, printed once; for a day deliveries are signed with the one before too."""
    with access.client(actor=of.operator()) as client:
        one, made = client.renew_webhook_secret(name)
    return _told_secret(one, made, access)


def remove(name: Name, /, *, access: Access = of.DEFAULT) -> int:
    """Take a webhook away, with its deliveries."""
    with access.client(actor=of.operator()) as client:
        one = client.remove_webhook(name)
    with show.done(f"webhook {one.name} is removed"):
        show.as_json(webhook_wire(one)) if access.json else show.line(f"webhook {one.name} is removed")
    return 0


def _changed(access: Access, change: Callable[[OperatingClient], Webhook]) -> int:
    with access.client(actor=of.operator()) as client:
        one = change(client)
    said = f"webhook {one.name}: to {_origin(one)}, told of {_told_of(one)}, {_state(one)}"
    with show.done(said):
        show.as_json(webhook_wire(one)) if access.json else show.line(said)
    return 0


def _told_secret(one: Webhook, secret: str, access: Access) -> int:
    with show.done(f"webhook {one.name} has a secret that could not be shown: mainspring webhook secret {one.name}"):
        if access.json:
            show.as_json(webhook_wire(one) | {"secret": secret})
        else:
            show.note(f"webhook {one.name}: to {_origin(one)}, told of {_told_of(one)}; its secret:")
            show.line(secret)
    return 0


def _queued(one: Delivery, access: Access) -> int:
    said = f"delivery {one.id} is made as soon as a server is there: mainspring webhook deliveries {one.webhook}"
    with show.done(said):
        show.as_json(delivery_wire(one)) if access.json else show.line(said)
    return 0


def _narrow(name: str | None) -> str | None:
    return None if name == _ANY else name


def _origin(one: Webhook) -> str:
    return destination(one.url).origin


def _told_of(one: Webhook) -> str:
    if one.topic is not None:
        return f"topic {one.topic}"
    of_queue = "" if one.queue is None else f" of queue {one.queue}"
    of_task = "" if one.task is None else f" of task {one.task}"
    return f"{', '.join(one.kinds) or 'all events'}{of_queue}{of_task}"


def _state(one: Webhook) -> str:
    if one.paused_at is not None:
        return f"paused by {one.paused_by}" + (f": {looks.one_line(one.reason)}" if one.reason else "")
    return looks.one_line(one.trouble) if one.trouble else "active"


def _row(one: Webhook, now: Instant) -> tuple[str, ...]:
    counts = (f"{one.delivered:,}", f"{one.failed:,}", f"{one.pending:,}")
    return one.name, _origin(one), _told_of(one), *counts, looks.age(now, one.reached_at), _state(one)


def _facts(one: Webhook, now: Instant) -> list[tuple[str, str]]:
    return [
        ("to", one.url),
        ("told of", _told_of(one)),
        ("state", _state(one)),
        ("read up to", str(one.cursor)),
        ("delivered", f"{one.delivered:,}, last {looks.age(now, one.reached_at)}"),
        ("given up", f"{one.failed:,}"),
        ("waiting", f"{one.pending:,}"),
        ("made", f"{looks.moment(one.created_at)} by {one.created_by}"),
    ]


def _table(found: list[Delivery], now: Instant) -> None:
    show.table(
        ("ID", "OF", "TYPE", "STATE", "MADE", "TRIES", "STATUS", "TOOK", "NEXT", "WHY"),
        [_line(one, now) for one in found],
        empty="Nothing was delivered yet.",
        right=(0, 1, 5, 6),
        gives=(9,),
    )


def _line(one: Delivery, now: Instant) -> tuple[str, ...]:
    last = one.tries[-1] if one.tries else None
    return (
        str(one.id),
        "-" if one.seq is None else str(one.seq),
        one.type,
        one.state.value,
        looks.age(now, one.created_at),
        str(len(one.tries)),
        "-" if last is None or last.status is None else str(last.status),
        "-" if last is None else f"{last.lasted // MILLISECOND} ms",
        "-" if one.due_at is None else looks.moment(one.due_at),
        "-" if last is None or last.error is None else looks.one_line(last.error),
    )
