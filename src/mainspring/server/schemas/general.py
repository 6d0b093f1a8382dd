"""What belongs to no noun: problem documents, health, the empty body, pages for people, and this document itself."""

from __future__ import annotations

from mainspring.server.operation import Schema
from mainspring.server.schemas.values import OBJECT, asked, maybe, record, text, whole

SCHEMAS: dict[str, Schema] = {
    "Problem": asked(
        {
            "type": text("urn:mainspring:error:unknown_job", pattern="^urn:mainspring:error:"),
            "title": text("Unknown job"),
            "status": whole(404, least=400, most=599),
            "detail": text("unknown job 999"),
            "code": text("unknown_job", pattern="^[a-z_]+$", description="Stable; docs/reference/errors.md has all."),
            "field": text("id"),
            "remedy": text("List them with: mainspring jobs"),
            "index": whole(0),
            "state": text("running"),
            "job": whole(10482),
            "request": text("b7ad6b7169203331", description="As X-Request-ID has it, and the server's log."),
        },
        required=["type", "title", "status", "detail", "code"],
    ),
    "Nothing": asked({}),
    "Health": record(
        {
            "status": {"type": "string", "enum": ["ok", "unavailable"], "examples": ["ok"]},
            "checks": {
                "type": "object",
                "additionalProperties": text("ok"),
                "examples": [{"store": "ok", "sweeper": "ok", "scheduler": "ok"}],
            },
            "reason": maybe(text("store: did not answer within 2 s")),
        }
    ),
    "Document": OBJECT
    | {"required": ["openapi", "info", "paths"], "examples": [{"openapi": "3.1.0", "info": {}, "paths": {}}]},
    "Text": text("..."),
}
