"""Jobs, what one asks of them, and what they leave behind."""

from __future__ import annotations

from mainspring.domain.bulk import MOST
from mainspring.domain.job import ATOMIC, PRIORITY_FIRST, PRIORITY_LAST
from mainspring.domain.states import Cause, Charge, Outcome, State
from mainspring.server.schemas.values import (
    ANYTHING,
    DURATION,
    FLAG,
    MOMENT,
    NUMBER,
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

_STATES = [state.value for state in State if state is not State.NEW]
_STATE = word(_STATES, example="queued")
_FILTER = {
    "state": word(_STATES, example="dead"),
    "task": text("shop.send_receipt"),
    "queue": text("mail"),
    "tag": text("team=mail", pattern="^[^=]*="),
    "since": MOMENT,
    "until": MOMENT,
}
_UNIQUE = asked(
    {
        "key": text("order-7", minLength=1, maxLength=255),
        "while": word(["waiting", "unfinished"], example="unfinished"),
        "period": maybe(DURATION),
        "on_conflict": word(["return", "replace", "reject"]),
    },
    required=["key"],
)

SCHEMAS = {
    "Failure": record(
        {
            "type": text("ConnectionError"),
            "message": text("no route"),
            "traceback": text("Traceback ..."),
            "evidence": OBJECT,
        }
    ),
    "Job": record(
        {
            "id": whole(10482, least=1),
            "task": text("shop.send_receipt"),
            "state": _STATE,
            "queue": text("mail"),
            "priority": whole(5, least=PRIORITY_FIRST, most=PRIORITY_LAST),
            "params": OBJECT | {"examples": [{"order_id": 7}]},
            "params_open": FLAG,
            "result": ANYTHING,
            "error": maybe(named("Failure")),
            "attempt": whole(0),
            "max_attempts": whole(4, least=1),
            "run_at": MOMENT,
            "created_at": MOMENT,
            "started_at": maybe(MOMENT),
            "finished_at": maybe(MOMENT),
            "expires_at": maybe(MOMENT),
            "worker": maybe(text("alpha")),
            "progress": ANYTHING,
            "tags": TAGS,
            "meta": ANYTHING,
            "retry": OBJECT | {"examples": [{"max_attempts": 4, "delay": "1s"}]},
            "timeout": maybe(text("30s")),
            "cancel_requested": FLAG,
            "parent": maybe(whole(10400)),
            "run": maybe(whole(377)),
            "node": maybe(text("load")),
            "item": maybe(whole(0)),
            "tick": maybe(named("MadeBy")),
            "replay_of": maybe(whole(10001)),
            "replayed_by": maybe(whole(10700)),
        }
    ),
    "JobRequest": asked(
        {
            "task": text("shop.send_receipt"),
            "params": OBJECT | {"examples": [{"order_id": 7}]},
            "queue": maybe(text("mail")),
            "priority": maybe(whole(5, least=PRIORITY_FIRST, most=PRIORITY_LAST)),
            "delay": maybe(DURATION),
            "run_at": maybe(MOMENT),
            "retry": maybe(OBJECT | {"examples": [{"max_attempts": 5}]}),
            "timeout": maybe(DURATION),
            "expires": maybe(DURATION),
            "tags": TAGS | {"maxProperties": 50},
            "meta": ANYTHING,
            "unique": {"anyOf": [text("order-7", minLength=1, maxLength=255), _UNIQUE, {"type": "null"}]},
        },
        required=["task"],
    ),
    "JobRequests": {
        "anyOf": [
            listed(named("JobRequest"), minItems=1, maxItems=ATOMIC),
            asked({"jobs": listed(named("JobRequest"), minItems=1, maxItems=ATOMIC)}, required=["jobs"]),
        ]
    },
    "Receipt": record({"id": whole(10482, least=1), "new": FLAG | {"examples": [True]}}),
    "BulkRequest": asked(
        {
            "action": word(["cancel", "retry"]),
            "filter": asked(_FILTER) | {"minProperties": 1, "examples": [{"queue": "mail", "state": "queued"}]},
            "dry_run": FLAG,
            "limit": whole(1_000, least=1, most=MOST),
            "cursor": maybe(text("queued-10482")),
        },
        required=["action", "filter"],
    ),
    "Count": record({"count": whole(42), "next": maybe(text("10482"))}),
    "BulkDone": record(
        {
            "matched": whole(12),
            "changed": whole(11),
            "skipped": {"type": "object", "additionalProperties": whole(1), "examples": [{"illegal_state": 1}]},
            "next": maybe(text("queued-10482")),
        }
    ),
    "Explanation": record(
        {
            "id": whole(10482, least=1),
            "task": text("shop.send_receipt"),
            "state": _STATE,
            "at": MOMENT,
            "reasons": listed(named("Reason")),
        }
    ),
    "Reason": record(
        {
            "code": text("queue_paused"),
            "text": text("Queue mail is paused."),
            "remedy": maybe(text("mainspring queue resume mail")),
            "until": maybe(MOMENT),
        }
    ),
    "Attempt": record(
        {
            "job": whole(10482, least=1),
            "number": whole(1, least=1),
            "outcome": maybe(word(Outcome)),
            "worker": text("alpha"),
            "started_at": MOMENT,
            "ended_at": maybe(MOMENT),
            "duration": maybe(NUMBER),
            "sandbox": text("S0"),
            "charge": maybe(word(Charge)),
            "error": maybe(named("Failure")),
        }
    ),
    "Event": record(
        {
            "seq": whole(51234),
            "job": whole(10482),
            "at": MOMENT,
            "cause": word(Cause),
            "from": word(State),
            "to": _STATE,
            "attempt": whole(0),
            "actor": text("client"),
            "detail": maybe(OBJECT),
        }
    ),
    "EventCursor": record({"cursor": text("51234", pattern="^[0-9]+$")}),
    "LogLine": record(
        {
            "seq": whole(4021),
            "job": whole(10482, least=1),
            "attempt": whole(1),
            "at": MOMENT,
            "stream": text("stdout"),
            "level": text("info"),
            "text": text("sent"),
        }
    ),
}
