"""Schedules over REST: decode, one call of the client, encode."""

from __future__ import annotations

import msgspec

from mainspring.client.operating import OperatingClient
from mainspring.client.schedule_wire import (
    backfill_wire,
    filling_wire,
    schedule_wire,
    tick_wire,
)
from mainspring.clock import SystemClock, duration, instant
from mainspring.domain import plan as plans
from mainspring.domain import recurrence
from mainspring.domain.access import Role
from mainspring.domain.backfill import BackfillRequest
from mainspring.domain.lookahead import load, load_document, preview_document, rules_of
from mainspring.domain.outage import outage, outage_document
from mainspring.domain.timetable import Origin
from mainspring.errors import InvalidOption, of_field
from mainspring.server import pages
from mainspring.server.decode import body_of, no_fields, object_of
from mainspring.server.exchange import Access, Answer, Asked, Entry, Reach
from mainspring.server.operation import Operation, Page, gives

_ALL = "/api/v1/schedules"
_ONE = "/api/v1/schedules/{name}"
_COUNT = 10


class _Note(msgspec.Struct):
    note: str | None = None


class _Filling(msgspec.Struct):
    """``from`` and ``to``: times; ``order``: ``oldest`` or ``newest`` first."""

    to: str
    from_: str = msgspec.field(name="from")
    dry_run: bool = False
    limit: int | None = None
    order: str = "oldest"
    at_once: int = 1
    again: bool = False


class _Span(msgspec.Struct):
    """``from``: a time, now by default; ``for``: how long."""

    from_: str | None = msgspec.field(default=None, name="from")
    for_: str = msgspec.field(default="1d", name="for")


class ScheduleRoutes:
    """The handlers, on one client."""

    def __init__(self, client: OperatingClient) -> None:
        self._client = client
        self._clock = SystemClock()

    def entries(self) -> list[Entry]:
        """The routes of this noun."""
        return [
            Entry("GET", _ALL, Access.READ, self.listed, gives(Page("Schedule")), pages.QUERY),
            Entry(
                "POST", _ALL, Access.CHANGE, self.put, Operation({200: "Schedule", 201: "Schedule"}, "ScheduleRequest")
            ),
            Entry(
                "POST",
                f"{_ALL}/preview",
                Access.CHANGE,
                self.preview,
                gives("Preview", body="PreviewRequest"),
                role=Role.VIEWER,
                reach=Reach.NOTHING,
            ),
            Entry(
                "POST",
                f"{_ALL}/outage",
                Access.CHANGE,
                self.outage,
                gives("Outage", body="OutageRequest"),
                role=Role.VIEWER,
            ),
            Entry(
                "POST", f"{_ALL}/load", Access.CHANGE, self.load, gives("Load", body="LoadRequest"), role=Role.VIEWER
            ),
            Entry("GET", _ONE, Access.READ, self.one, gives("Schedule")),
            Entry("PATCH", _ONE, Access.CHANGE, self.change, gives("Schedule", body="ScheduleChange")),
            Entry("DELETE", _ONE, Access.ACT, self.remove, gives("Schedule")),
            Entry("POST", f"{_ONE}/pause", Access.ACT, self.pause, gives("Schedule", body="ScheduleNote")),
            Entry("POST", f"{_ONE}/resume", Access.ACT, self.resume, gives("Schedule", body="ScheduleNote")),
            Entry("POST", f"{_ONE}/reset", Access.ACT, self.reset, gives("Schedule")),
            Entry("POST", f"{_ONE}/trigger", Access.ACT, self.trigger, gives("Tick", status=201)),
            Entry(
                "POST",
                f"{_ONE}/backfill",
                Access.CHANGE,
                self.backfill,
                Operation({200: "Filling", 201: "Filling"}, "BackfillRequest"),
            ),
            Entry("GET", f"{_ONE}/backfills", Access.READ, self.backfills, gives(Page("Backfill")), pages.QUERY),
            Entry("GET", f"{_ONE}/ticks", Access.READ, self.ticks, gives(Page("Tick")), ("cursor", "limit")),
        ]

    def listed(self, asked: Asked) -> Answer:
        """All schedules, by name."""
        return pages.paged(asked, self._client.schedules(), schedule_wire, lambda schedule: (schedule.name,))

    def one(self, asked: Asked) -> Answer:
        """One schedule."""
        return Answer(200, schedule_wire(self._client.schedule(asked.path["name"])))

    def put(self, asked: Asked) -> Answer:
        """A new schedule, or all said anew of the one that has this name."""
        body = object_of(asked)
        name = body.pop("name", None)
        if not isinstance(name, str):
            raise InvalidOption("The field name is missing.", remedy="Name the schedule.", field="name")
        plan = plans.read(plans.known_fields(plans.plan_fields(body)))
        known = {one.name for one in self._client.schedules()}
        made = self._client.acting(asked.actor).put_schedule(name, plan, Origin.API)
        return Answer(200 if name in known else 201, schedule_wire(made), {"location": f"{_ALL}/{made.name}"})

    def change(self, asked: Asked) -> Answer:
        """Some fields say something else."""
        changed = self._acting(asked).change_schedule(asked.path["name"], object_of(asked))
        return Answer(200, schedule_wire(changed))

    def remove(self, asked: Asked) -> Answer:
        """Taken away."""
        no_fields(asked)
        return Answer(200, schedule_wire(self._acting(asked).remove_schedule(asked.path["name"])))

    def pause(self, asked: Asked) -> Answer:
        """None of its ticks makes a job."""
        return Answer(200, schedule_wire(self._acting(asked).pause_schedule(asked.path["name"], _note(asked))))

    def resume(self, asked: Asked) -> Answer:
        """They make jobs again."""
        return Answer(200, schedule_wire(self._acting(asked).resume_schedule(asked.path["name"], _note(asked))))

    def reset(self, asked: Asked) -> Answer:
        """What operators have changed is taken back."""
        no_fields(asked)
        return Answer(200, schedule_wire(self._acting(asked).reset_schedule(asked.path["name"])))

    def trigger(self, asked: Asked) -> Answer:
        """A job now."""
        no_fields(asked)
        return Answer(201, tick_wire(self._acting(asked).trigger_schedule(asked.path["name"])))

    def backfill(self, asked: Asked) -> Answer:
        """Ticks of the past."""
        body = body_of(asked, _Filling, "A backfill")
        if body.order not in {"oldest", "newest"}:
            raise InvalidOption(f"order is {body.order!r:.80}.", remedy="It is oldest or newest.", field="order")
        wanted = BackfillRequest(
            of_field("from", instant, body.from_),
            of_field("to", instant, body.to),
            body.dry_run,
            body.limit,
            newest_first=body.order == "newest",
            at_once=body.at_once,
            again=body.again,
        )
        found = self._acting(asked).backfill(asked.path["name"], wanted)
        return Answer(200 if found.backfill is None else 201, filling_wire(found))

    def backfills(self, asked: Asked) -> Answer:
        """The backfills of a schedule, newest first."""
        found = self._client.backfills(asked.path["name"])
        return pages.paged(asked, found, backfill_wire, lambda one: (-one.id,))

    def ticks(self, asked: Asked) -> Answer:
        """What became of its ticks, newest first."""
        limit = asked.whole("limit", 50, 1, 1000)
        page = self._client.ticks(asked.path["name"], cursor=asked.query.get("cursor"), limit=limit)
        return Answer(200, {"items": [tick_wire(tick) for tick in page.items], "next": page.next})

    def preview(self, asked: Asked) -> Answer:
        """The next ticks of a recurrence, of no schedule yet."""
        body = object_of(asked)
        after, count = body.pop("from", None), body.pop("n", _COUNT)
        inclusive = body.pop("inclusive", False)
        if not isinstance(count, int) or isinstance(count, bool):
            raise InvalidOption(f"n is {count!r:.80}; it must be a whole number.", field="n")
        if not isinstance(inclusive, bool):
            raise InvalidOption(f"inclusive is {inclusive!r:.80}; it must be true or false.", field="inclusive")
        rule = recurrence.read(body)
        begin = self._clock.now() if after is None else recurrence.moment(after, "from", rule.place)
        return Answer(200, preview_document(rule.anchored(begin), begin, count, inclusive=inclusive))

    def outage(self, asked: Asked) -> Answer:
        """What an outage would do to a schedule, or to a recurrence of no schedule yet."""
        body = object_of(asked)
        for name in ("from", "to"):
            if body.get(name) is None:
                raise InvalidOption(f"The field {name} is missing.", remedy="Say when it begins and ends.", field=name)
        begin, end, name = body.pop("from"), body.pop("to"), body.pop("name", None)
        if name is None:
            found = plans.ready(plans.read(plans.known_fields(plans.plan_fields(body))), self._clock.now())
        else:
            if body:
                raise InvalidOption("name stands beside fields of a plan.", remedy="Give one of them.", field="name")
            one = self._client.schedule(str(name))
            found = plans.ready(one.plan, one.created_at)
        place = found.rule.place
        effects = outage(found, recurrence.moment(begin, "from", place), recurrence.moment(end, "to", place))
        held = None if name is None else (found.plan.catch_up, found.plan.overlap)
        return Answer(200, outage_document(effects, held))

    def load(self, asked: Asked) -> Answer:
        """Ticks of all schedules by the minute."""
        body = body_of(asked, _Span, "A load")
        begin = self._clock.now() if body.from_ is None else of_field("from", instant, body.from_)
        found = load(rules_of(self._client.schedules()), begin, length=of_field("for", duration, body.for_))
        return Answer(200, load_document(found))

    def _acting(self, asked: Asked) -> OperatingClient:
        return self._client.acting(asked.actor)


def _note(asked: Asked) -> str | None:
    return body_of(asked, _Note, "This action").note if asked.body else None
