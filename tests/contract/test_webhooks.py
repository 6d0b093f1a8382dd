"""Webhooks: each event is delivered once to each of them, whoever of several servers does it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mainspring.client.webhook_wire import news_of_event, news_of_message, news_of_test
from mainspring.clock import DAY, MINUTE, SECOND, Duration, Instant
from mainspring.control import access, topics, webhooks
from mainspring.domain.access import ChangeFilter
from mainspring.domain.states import Outcome
from mainspring.domain.webhook import (
    LEASE,
    MOST_AT_ONCE,
    RETRY,
    Delivery,
    DeliveryState,
    Parcel,
    Sent,
    Webhook,
    WebhookChange,
    WebhookWanted,
)
from mainspring.engine.notify import Forms, Notify
from mainspring.errors import (
    DestinationRefused,
    InvalidInput,
    InvalidOption,
    InvalidTask,
    MainspringError,
    NotEnded,
    UnknownDelivery,
    UnknownWebhook,
    WebhookExists,
)
from mainspring.store import webhooks as kept
from mainspring.store.sight import see
from tests.contract.stories import Story

URL = "https://hooks.example.com/secret-path"
FORMS = Forms(news_of_event, news_of_message)


class Hand:
    """A courier that goes nowhere: the test says what each try comes to."""

    def __init__(self) -> None:
        self.carried: list[Parcel] = []
        self._over: list[Sent] = []

    def send(self, parcels: Sequence[Parcel]) -> None:
        self.carried += parcels

    def returned(self) -> list[Sent]:
        found, self._over = self._over, []
        return found

    def end(self, status: int | None = 200, parcel: Parcel | None = None) -> Parcel:
        """A try comes to this: the oldest that is under way."""
        one = parcel or self.carried.pop(0)
        error = "" if status == 200 else f"the receiver answered {status}"
        self._over.append(Sent(one.delivery, one.claim, Instant(0), Duration(SECOND), status, "thanks", error))
        return one


class Serving:
    """A server's turn, and its courier."""

    def __init__(self, story: Story) -> None:
        self.hand = Hand()
        self.story = story
        self._notify = Notify(story.store, story.clock, self.hand, FORMS, keep=DAY)

    def turn(self) -> None:
        self._notify.turn()

    @property
    def rung(self) -> bool:
        """Whether a look-out would wake it."""
        sight = self.story.store.read(see)
        return self._notify.has_work(sight, self.story.clock.now())


def add(story: Story, name: str = "on-call", **values: object) -> Webhook:
    wanted = WebhookWanted(name, URL, **values)  # type: ignore[arg-type]
    return webhooks.create(story.store, wanted, inside=(), actor="ann")[0]


def listed(story: Story, name: str = "on-call") -> list[Delivery]:
    return webhooks.deliveries(story.store, name, cursor=None, state=None, limit=1000).items


def test_each_event_that_is_wanted_becomes_one_delivery_whoever_reads_it(story: Story) -> None:
    add(story, kinds=("job.dead",), queue="shop")
    add(story, "all")
    jobs = [story.running("shop.once") for _ in range(3)]
    for job in jobs:
        story.end(job, Outcome.FAILED)
    one, two = Serving(story), Serving(story)
    for server in (one, two, one, two):
        server.turn()
    found = listed(story)
    assert [each.type for each in found] == ["job.dead"] * 3
    assert len({each.seq for each in found}) == 3
    everything = listed(story, "all")
    assert len({each.seq for each in everything}) == len(everything) >= 9
    taken = [parcel.delivery for server in (one, two) for parcel in server.hand.carried]
    assert len(set(taken)) == len(taken), "no delivery is under way twice"


def test_a_stale_reader_makes_nothing(story: Story) -> None:
    before = add(story)
    story.submit()
    Serving(story).turn()
    made = listed(story)
    again = [news_of_test("x", Instant(0))._replace(seq=each.seq) for each in made]
    assert not story.store.write(lambda tx: kept.read_on(tx, before, before.cursor + 5, again))
    assert listed(story) == made


def test_a_delivery_that_fails_is_tried_again_later_and_one_that_comes_through_is_over(story: Story) -> None:
    add(story, kinds=("new", "queued"))
    story.submit()
    server = Serving(story)
    server.turn()
    first = server.hand.end(500)
    server.turn()
    (one,) = listed(story)
    assert (one.state, [each.status for each in one.tries]) == (DeliveryState.PENDING, [500])
    assert one.due_at is not None
    assert 4 * SECOND <= one.due_at - story.clock.now() <= 6 * SECOND
    assert server.hand.carried == [], "not before it is due"
    assert webhooks.one(story.store, "on-call").trouble == "the receiver answered 500"
    story.clock.forward(6 * SECOND)
    server.turn()
    second = server.hand.end(200)
    assert (second.delivery, second.body) == (first.delivery, first.body)
    server.turn()
    (one,) = listed(story)
    assert (one.state, one.answer, one.due_at) == (DeliveryState.DELIVERED, "thanks", None)
    known = webhooks.one(story.store, "on-call")
    assert (known.delivered, known.failed, known.pending, known.trouble) == (1, 0, 0, None)


def test_whoever_looks_out_wakes_it_when_there_is_something_and_not_else(story: Story) -> None:
    story.submit()
    server = Serving(story)
    assert not server.rung, "nobody wants to know"
    add(story, kinds=("queued",))
    add(story, "paid", topic="paid")
    server.turn()
    assert not server.rung
    story.submit()
    assert server.rung
    server.turn()
    assert not server.rung, "it is under way"
    server.hand.end(500)
    server.turn()
    assert not server.rung
    story.clock.forward(6 * SECOND)
    assert server.rung
    webhooks.pause(story.store, "on-call", reason=None, actor="ann")
    assert not server.rung
    topics.publish(story.store, "paid", [1], actor="ann")
    assert server.rung


def test_so_many_are_under_way_at_once_and_no_more_whoever_asks(story: Story) -> None:
    add(story, kinds=("queued",))
    add(story, "other", kinds=("queued",))
    for _ in range(10):
        story.submit()
    one, two = Serving(story), Serving(story)
    one.turn()
    two.turn()
    mine = {each.id for each in listed(story)}
    carried = [*one.hand.carried, *two.hand.carried]
    assert len([each for each in carried if each.delivery in mine]) == MOST_AT_ONCE
    assert len(carried) == 2 * MOST_AT_ONCE, "one that is slow holds up no other"


def test_what_went_down_with_its_server_is_tried_again_and_a_late_answer_changes_nothing(story: Story) -> None:
    add(story, kinds=("queued",))
    story.submit()
    dead, other = Serving(story), Serving(story)
    dead.turn()
    other.turn()
    assert other.hand.carried == []
    story.clock.forward(LEASE + SECOND)
    other.turn()
    (again,) = other.hand.carried
    late = dead.hand.end(500)
    assert late.delivery == again.delivery
    dead.turn()
    assert listed(story)[0].tries == ()
    other.hand.end(200)
    other.turn()
    assert listed(story)[0].state is DeliveryState.DELIVERED


def test_a_receiver_that_takes_nothing_is_paused_with_the_reason_and_goes_on_where_it_was(story: Story) -> None:
    add(story, kinds=("queued",))
    story.submit()
    server = Serving(story)
    for _ in range(RETRY.max_attempts):
        server.turn()
        server.hand.end(503)
        server.turn()
        story.clock.forward(5 * 60 * MINUTE)
    known = webhooks.one(story.store, "on-call")
    assert (known.paused_by, known.failed) == ("webhooks", 1)
    assert known.reason is not None
    assert "9 tries" in known.reason
    assert "503" in known.reason
    story.submit()
    server.turn()
    assert server.hand.carried == []
    assert len(listed(story)) == 1
    webhooks.resume(story.store, "on-call", skip=False, actor="bob")
    server.turn()
    assert len(server.hand.carried) == 1, "what came meanwhile"
    (failed,) = webhooks.deliveries(story.store, "on-call", cursor=None, state="failed", limit=5).items
    webhooks.redeliver(story.store, "on-call", failed.id, actor="bob")
    server.turn()
    assert {each.delivery for each in server.hand.carried} == {each.id for each in listed(story)}


def test_one_that_is_gone_is_paused_at_once_and_a_pause_may_be_skipped_over(story: Story) -> None:
    add(story, kinds=("queued",))
    story.submit()
    server = Serving(story)
    server.turn()
    server.hand.end(410)
    server.turn()
    assert webhooks.one(story.store, "on-call").paused_by == "webhooks"
    story.submit()
    webhooks.resume(story.store, "on-call", skip=True, actor="bob")
    server.turn()
    assert len(listed(story)) == 1
    story.submit()
    server.turn()
    assert len(listed(story)) == 2


def test_a_test_is_delivered_once_even_while_all_else_is_paused(story: Story) -> None:
    add(story, kinds=("queued",))
    webhooks.pause(story.store, "on-call", reason="moving", actor="ann")
    webhooks.pause(story.store, "on-call", reason="again", actor="bob")
    made = webhooks.test(story.store, "on-call", news_of_test("on-call", story.clock.now()), actor="ann")
    with pytest.raises(NotEnded):
        webhooks.redeliver(story.store, "on-call", made.id, actor="ann")
    server = Serving(story)
    server.turn()
    assert server.hand.end(500).delivery == made.id
    server.turn()
    (one,) = listed(story)
    assert (one.type, one.state, one.seq) == ("webhook.test", DeliveryState.FAILED, None)
    known = webhooks.one(story.store, "on-call")
    assert (known.paused_by, known.reason) == ("ann", "moving")


def test_messages_of_a_topic_are_delivered_in_place_of_events(story: Story) -> None:
    topics.publish(story.store, "paid", [{"n": 0}], actor="ann")
    add(story, topic="paid")
    topics.publish(story.store, "paid", [{"n": 1}], actor="ann")
    story.submit()
    server = Serving(story)
    server.turn()
    (one,) = server.hand.carried
    assert '"type":"topic.message"' in one.body
    assert '"data":{"n":1}' in one.body
    add(story, "from-the-start", topic="paid", after=0)
    server.turn()
    assert len(listed(story, "from-the-start")) == 2


def test_a_new_secret_signs_beside_the_old_one_for_a_day(story: Story) -> None:
    _, old = webhooks.create(story.store, WebhookWanted("on-call", URL), inside=(), actor="ann")
    _, new = webhooks.renew_secret(story.store, "on-call", actor="ann")
    server = Serving(story)
    story.submit()
    server.turn()
    assert {each.secrets for each in server.hand.carried} == {(new, old)}
    story.clock.forward(DAY + SECOND)
    later = Serving(story)
    later.turn()
    assert {each.secrets for each in later.hand.carried} == {(new,)}


def test_old_deliveries_are_forgotten_and_those_of_a_webhook_that_is_gone(story: Story) -> None:
    add(story, kinds=("queued",))
    add(story, "gone", kinds=("queued",))
    story.submit()
    server = Serving(story)
    server.turn()
    server.hand.end(200)
    server.hand.end(200)
    server.turn()
    webhooks.remove(story.store, "gone", actor="ann")
    story.clock.forward(DAY // 2)
    Serving(story).turn()
    add(story, "gone", kinds=("queued",))
    assert listed(story, "gone") == [], "another one of that name, not the same"
    story.submit()
    server.turn()
    dump = story.bench.dump(story.store)
    assert (len(dump["webhook"]), len(dump["delivery"])) == (2, 3)
    story.clock.forward(DAY)
    Serving(story).turn()
    assert len(listed(story)) == 1, "what has not ended stays"


def test_what_is_done_to_a_webhook_is_on_the_trail_without_its_secret(story: Story) -> None:
    _, secret = webhooks.create(story.store, WebhookWanted("on-call", URL, ("dead",)), inside=(), actor="ann")
    webhooks.change(story.store, "on-call", WebhookChange(queue="shop"), inside=(), actor="bob")
    webhooks.change(story.store, "on-call", WebhookChange(queue="shop"), inside=(), actor="bob")
    _, second = webhooks.renew_secret(story.store, "on-call", actor="ann")
    webhooks.remove(story.store, "on-call", actor="ann")
    trail = access.changes(story.store, ChangeFilter(subject="webhook on-call"))
    assert [one.action for one in reversed(trail)] == [
        *("webhook.create", "webhook.change", "webhook.secret", "webhook.remove"),
    ]
    for hidden in (secret, second, "secret-path"):
        assert hidden not in str(trail)
    with pytest.raises(UnknownWebhook):
        webhooks.one(story.store, "on-call")


REFUSED: list[tuple[dict[str, object], type[MainspringError]]] = [
    ({"url": "https://127.0.0.1/"}, DestinationRefused),
    ({"url": "http://hooks.example.com/"}, InvalidOption),
    ({"url": "nonsense"}, DestinationRefused),
    ({"name": "a b"}, InvalidTask),
    ({"kinds": ("deaf",)}, InvalidInput),
    ({"queue": ""}, InvalidTask),
    ({"task": "a b"}, InvalidTask),
    ({"topic": "paid", "kinds": ("dead",)}, InvalidOption),
    ({"after": -1}, InvalidOption),
    ({"name": "there"}, WebhookExists),
]


def test_what_can_not_be_is_refused(story: Story) -> None:
    add(story, "there")
    for values, error in REFUSED:
        wanted = WebhookWanted(**({"name": "on-call", "url": URL} | values))  # type: ignore[arg-type]
        with pytest.raises(error):
            webhooks.create(story.store, wanted, inside=(), actor="ann")
    assert [one.name for one in webhooks.listed(story.store)] == ["there"]


def test_a_change_is_held_to_the_same_as_a_new_one(story: Story) -> None:
    before = add(story, queue="mail", task="shop.send")
    for values, error in REFUSED:
        if values.keys() <= {"url", "kinds", "queue", "task"}:
            with pytest.raises(error):
                webhooks.change(story.store, before.name, WebhookChange(**values), inside=(), actor="ann")  # type: ignore[arg-type]
    assert webhooks.one(story.store, before.name) == before


def test_what_there_is_not_is_said_to_be_unknown(story: Story) -> None:
    add(story)
    with pytest.raises(UnknownDelivery):
        webhooks.redeliver(story.store, "on-call", 99, actor="ann")
    with pytest.raises(InvalidInput):
        webhooks.deliveries(story.store, "on-call", cursor=None, state="lost", limit=5)
    with pytest.raises(InvalidInput):
        webhooks.deliveries(story.store, "on-call", cursor="x", state=None, limit=5)
