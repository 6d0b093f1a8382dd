"""Schedules, their ticks, backfills and previews."""

from __future__ import annotations

from mainspring.domain.backfill import MOST as MOST_TICKS
from mainspring.domain.job import PRIORITY_FIRST, PRIORITY_LAST
from mainspring.domain.lookahead import MOST_AHEAD
from mainspring.domain.outage import CATCH_UP
from mainspring.domain.overlap import POLICIES
from mainspring.domain.plan import LONGEST_DESCRIPTION, MOST_CAUGHT_UP
from mainspring.domain.timetable import Origin, Outcome, Standing
from mainspring.server.schemas.values import (
    ANYTHING,
    DURATION,
    FLAG,
    MOMENT,
    OBJECT,
    TAGS,
    asked,
    listed,
    maybe,
    named,
    record,
    text,
    whole,
    word,
)

_PLACE_TIME = text("2026-11-29T03:00", description="With an offset, or in the zone of the rule.")
_RULE = {
    "cron": text("0 3 * * *"),
    "every": DURATION,
    "at": _PLACE_TIME,
    "rrule": text("FREQ=DAILY;BYHOUR=3"),
    "tz": text("Europe/Berlin"),
    "gap": word(["shift", "skip"]),
    "repeat": word(["first", "last", "both"]),
    "days": word(["or", "and"]),
    "start": maybe(_PLACE_TIME),
    "end": maybe(_PLACE_TIME),
    "except": listed(
        {
            "anyOf": [
                text("12-25"),
                asked({"name": text("holidays"), "dates": listed(text("12-25")), "weekdays": listed(text("sun"))}),
            ]
        }
    ),
}
_BY_ONE = {"oneOf": [{"required": [kind]} for kind in ("cron", "every", "at", "rrule")]}
_PLAN = {
    "task": maybe(text("shop.backup")),
    "workflow": maybe(text("pipeline")),
    "params": OBJECT | {"examples": [{"dest": "/backup/a.tgz"}]},
    "queue": maybe(text("mail")),
    "priority": maybe(whole(5, least=PRIORITY_FIRST, most=PRIORITY_LAST)),
    "retry": maybe(OBJECT | {"examples": [{"max_attempts": 5}]}),
    "timeout": maybe(DURATION),
    "expires": maybe(DURATION),
    "tags": TAGS,
    "meta": ANYTHING,
    "overlap": word(POLICIES),
    "catch_up": word(CATCH_UP),
    "window": DURATION | {"examples": ["1d"]},
    "cap": whole(100, least=1, most=MOST_CAUGHT_UP),
    "jitter": DURATION | {"examples": ["0s"]},
    "limit": maybe(whole(10, least=1, most=2**53)),
    "pause_after": maybe(whole(5, least=1, most=1_000_000)),
    "description": text("The nightly backup.", maxLength=LONGEST_DESCRIPTION),
}
_NAME = text("nightly", pattern="^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$")

SCHEMAS = {
    "ScheduleRequest": asked({"name": _NAME, **_PLAN, **_RULE}, required=["name"])
    | _BY_ONE
    | {"examples": [{"name": "nightly", "cron": "0 3 * * *", "tz": "Europe/Berlin", "task": "shop.backup"}]},
    "ScheduleChange": asked(_PLAN | _RULE),
    "Schedule": record(
        {
            "name": _NAME,
            "state": word(Standing),
            "words": text("at 03:00 every day"),
            "recurrence": OBJECT | {"examples": [{"cron": "0 3 * * *", "tz": "Europe/Berlin"}]},
            **_PLAN,
            "next_at": maybe(MOMENT),
            "fires_at": maybe(MOMENT),
            "last_tick": maybe(MOMENT),
            "last_fired": maybe(MOMENT),
            "last_succeeded": maybe(MOMENT),
            "fired": whole(31),
            "failures": whole(0),
            "paused": FLAG,
            "paused_at": maybe(MOMENT),
            "paused_by": maybe(text("ann@10.0.0.7")),
            "note": maybe(text("until the move is over")),
            "origin": word(Origin),
            "app": maybe(text("shop")),
            "overridden": listed(text("queue")),
            "declared": OBJECT | {"examples": [{"queue": "shop"}]},
            "fault": maybe(text("The task shop.backup is not known any more.")),
            "ahead_until": maybe(MOMENT),
            "created_at": MOMENT,
            "changed_at": MOMENT,
        }
    ),
    "ScheduleNote": asked({"note": maybe(text("until the move is over"))}),
    "Tick": record(
        {
            "at": MOMENT,
            "origin": text("regular"),
            "outcome": word(Outcome),
            "why": maybe(text("overlap")),
            "job": maybe(whole(10482)),
            "run": maybe(whole(377)),
            "state": maybe(word(["succeeded", "dead", "failed", "cancelled"])),
            "ticks": whole(1, least=1),
            "last": MOMENT,
            "decided_at": MOMENT,
            "decided_by": text("scheduler"),
        }
    ),
    "Backfill": record(
        {
            "id": whole(3, least=1),
            "origin": text("backfill-3"),
            "from": MOMENT,
            "to": MOMENT,
            "order": word(["oldest", "newest"]),
            "again": FLAG,
            "limit": maybe(whole(100)),
            "at_once": whole(1),
            "made": whole(0),
            "place": maybe(MOMENT),
            "created_at": MOMENT,
            "created_by": text("ann@10.0.0.7"),
            "ended_at": maybe(MOMENT),
        }
    ),
    "BackfillRequest": asked(
        {
            "from": MOMENT,
            "to": MOMENT,
            "dry_run": FLAG,
            "limit": maybe(whole(100, least=1, most=MOST_TICKS)),
            "order": word(["oldest", "newest"]),
            "at_once": whole(1, least=1, most=MOST_TICKS),
            "again": FLAG,
        },
        required=["from", "to"],
    ),
    "Filling": record({"ticks": listed(MOMENT), "backfill": maybe(named("Backfill"))}),
    "MadeBy": record({"schedule": _NAME, "at": MOMENT, "origin": text("regular")}),
    "OutageRequest": asked(
        {"name": _NAME, **_PLAN, **_RULE, "from": _PLACE_TIME, "to": _PLACE_TIME}, required=["from", "to"]
    )
    | {"examples": [{"name": "nightly", "from": "2026-12-24T00:00", "to": "2026-12-27T08:00"}]},
    "Outage": record(
        {
            "ticks": whole(3),
            "first": maybe(MOMENT),
            "last": maybe(MOMENT),
            "next": maybe(MOMENT),
            "policies": listed(
                record(
                    {
                        "catch_up": word(CATCH_UP),
                        "overlap": word(POLICIES),
                        "holds": FLAG,
                        "fired": whole(1),
                        "waiting": whole(0),
                        "skipped": whole(0),
                        "missed": whole(2),
                        "fires": listed(MOMENT),
                        "waits": listed(MOMENT),
                    }
                )
            ),
        }
    ),
    "LoadRequest": asked({"from": maybe(MOMENT), "for": DURATION | {"examples": ["1d"]}}),
    "Load": record(
        {
            "start": MOMENT,
            "ticks": whole(1440),
            "minutes": listed(whole(1)),
            "peaks": listed(record({"at": MOMENT, "ticks": whole(33), "schedules": listed(_NAME)})),
            "whole": FLAG,
        }
    ),
    "PreviewRequest": asked(
        {
            **_RULE,
            "from": maybe(_PLACE_TIME),
            "n": whole(10, least=1, most=MOST_AHEAD),
            "inclusive": FLAG,
        }
    )
    | _BY_ONE
    | {"examples": [{"cron": "0 3 * * *", "tz": "Europe/Berlin", "n": 3}]},
    "Preview": record(
        {
            "words": text("at 03:00 every day"),
            "tz": text("Europe/Berlin"),
            "ticks": listed(text("2026-11-29T03:00:00+01:00")),
            "notes": listed(
                record({"tick": text("2026-03-29T03:00:00+02:00"), "note": text("the clocks have gone forward")})
            ),
        }
    ),
}
