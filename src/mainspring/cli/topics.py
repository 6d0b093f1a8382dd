"""``mainspring publish``, ``topics``, ``subscribe`` and their like: messages, and what is made of them."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import looks, show
from mainspring.cli.access import Access, option
from mainspring.client.topic_wire import message_wire, subscription_wire, topic_wire
from mainspring.clock import SystemClock
from mainspring.domain.parameters import loads_strict
from mainspring.domain.topic import Subscription, SubscriptionWanted
from mainspring.errors import InvalidOption

TopicName = Annotated[str, Parameter(name="TOPIC", help="The topic.")]
Name = Annotated[str, Parameter(name="NAME", help="The subscription.")]
Params = Annotated[str | None, option("Parameters that each job or run has besides the message.", "JSON")]


def topics(
    topic: Annotated[str | None, Parameter(name="TOPIC", help="Show the messages of this one.")] = None,
    /,
    *,
    after: Annotated[int, option("Messages behind this number.", "N")] = 0,
    limit: Annotated[int, option("At most so many messages.", "N")] = 100,
    access: Access = of.DEFAULT,
) -> int:
    """List topics by name, or the messages of one, oldest first."""
    with access.client() as client:
        if topic is not None:
            messages = client.messages(topic, after=after, limit=limit)
            if access.json:
                show.as_json([message_wire(one) for one in messages])
                return 0
            rows = [
                (str(one.number), looks.moment(one.at), one.actor, looks.one_line(looks.compact(one.data)))
                for one in messages
            ]
            show.table(("NUMBER", "AT", "BY", "DATA"), rows, empty="No messages.", right=(0,), gives=(3,))
            return 0
        found = client.topics()
    if access.json:
        show.as_json([topic_wire(one) for one in found])
        return 0
    now = SystemClock().now()
    lines = [(one.name, f"{one.last:,}", str(one.first or "-"), looks.age(now, one.at)) for one in found]
    show.table(
        ("TOPIC", "MESSAGES", "KEPT FROM", "LAST"), lines, empty="No topics yet: publish something.", right=(1, 2)
    )
    return 0


def publish(
    topic: TopicName,
    /,
    *,
    data: Annotated[str, option("The message, in JSON (default: an empty object).", "JSON")] = "{}",
    access: Access = of.DEFAULT,
) -> int:
    """Add a message to a topic. Each subscription makes a job or a run of it, once a server is there."""
    message = loads_strict(data.encode(), "data")
    with access.client(actor=of.operator()) as client:
        number = client.publish(topic, [message])
    said = f"message {number} of {topic}"
    with show.done(said):
        show.as_json({"topic": topic, "first": number, "last": number}) if access.json else show.line(said)
    return 0


def subscriptions(*, access: Access = of.DEFAULT) -> int:
    """List subscriptions by name, how far they are, and what could not be made into a job."""
    with access.client() as client:
        found = client.subscriptions()
    if access.json:
        show.as_json([subscription_wire(one) for one in found])
        return 0
    show.table(
        ("NAME", "TOPIC", "MAKES", "TAKEN TO", "MADE", "REFUSED", "WHY"),
        [_row(one) for one in found],
        empty="No subscriptions: make one with mainspring subscribe NAME TOPIC --task TASK.",
        right=(3, 4, 5),
        gives=(6,),
    )
    return 0


def subscribe(  # noqa: PLR0913 - what is subscribed, and with what
    name: Name,
    topic: TopicName,
    /,
    *,
    task: Annotated[str | None, option("The task of which each message makes a job.", "TASK")] = None,
    workflow: Annotated[str | None, option("The workflow of which each message starts a run.", "NAME")] = None,
    params: Params = None,
    after: Annotated[int | None, option("Begin behind this message; 0: with the oldest.", "N")] = None,
    access: Access = of.DEFAULT,
) -> int:
    """Make a job or a run of each message of a topic, from the next one on; its fields are the parameters.

    A subscription of this name goes on where it was; ``--after`` goes back, or ahead.
    """
    fixed = {} if params is None else loads_strict(params.encode(), "params")
    if not isinstance(fixed, dict):
        raise InvalidOption("--params must be an object.", field="params")
    with access.client(actor=of.operator()) as client:
        one = client.subscribe(SubscriptionWanted(name, topic, task, workflow, fixed, after))
    _told(one, f"{one.name} takes {one.topic} behind message {one.cursor} to {_makes(one)}", access)
    return 0


def unsubscribe(name: Name, /, *, access: Access = of.DEFAULT) -> int:
    """Make nothing of further messages; jobs and runs that were made stay."""
    with access.client(actor=of.operator()) as client:
        one = client.unsubscribe(name)
    _told(one, f"{one.name} takes {one.topic} no more", access)
    return 0


def _told(one: Subscription, said: str, access: Any) -> None:
    with show.done(said):
        show.as_json(subscription_wire(one)) if access.json else show.line(said)


def _makes(one: Subscription) -> str:
    return f"task {one.task}" if one.task is not None else f"workflow {one.workflow}"


def _row(one: Subscription) -> tuple[str, ...]:
    why = looks.one_line(one.refusal or "-")
    return one.name, one.topic, _makes(one), str(one.cursor), f"{one.made:,}", f"{one.refused:,}", why
