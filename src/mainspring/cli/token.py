"""``mainspring token`` and ``mainspring audit``: who may ask a server, and who changed what."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import looks, show
from mainspring.cli.access import Access, option
from mainspring.client.wire import change_wire, token_wire
from mainspring.clock import Instant, SystemClock, duration
from mainspring.domain.access import Change, ChangeFilter, Token, role_of
from mainspring.domain.listing import MOST, MOST_LINES, checked_limit
from mainspring.errors import of_field


def create(
    name: Annotated[str, Parameter(name="NAME", help="What it is called in lists and in the audit trail.")],
    /,
    *,
    role: Annotated[str, option("What it may do; each role may what those before it may.", "viewer|operator|admin")],
    expires: Annotated[str | None, option("How long it is valid (default: until it is revoked).", "DURATION")] = None,
    queues: Annotated[
        tuple[str, ...], option("Keep it to this queue (may be given again).", "NAME", name=("--queue",))
    ] = (),
    access: Access = of.DEFAULT,
) -> int:
    """Make a token for REST. Its secret is printed once and kept nowhere."""
    lasts = None if expires is None else of_field("expires", duration, expires)
    with access.client(actor=of.operator(), make=True) as client:
        token, secret = client.create_token(name, role_of(role), lasts=lasts, queues=queues or None)
    with show.done(f"token {token.name} was made; its secret could not be shown, so revoke it"):
        if access.json:
            show.as_json(token_wire(token) | {"token": secret})
        else:
            show.note(f"token {token.name} ({token.role.value}); send it as: Authorization: Bearer TOKEN")
            show.line(secret)
    return 0


def list_(*, access: Access = of.DEFAULT) -> int:
    """List tokens, newest first, revoked ones too."""
    with access.client() as client:
        found = client.tokens()
    if access.json:
        show.as_json([token_wire(token) for token in found])
        return 0
    now = SystemClock().now()
    show.table(
        ("ID", "NAME", "ROLE", "STATE", "MADE", "BY", "EXPIRES", "LAST USED", "QUEUES"),
        [_row(token, now) for token in found],
        empty="No tokens: make one with mainspring token create NAME --role ROLE.",
        right=(0,),
        gives=(5, 8),
    )
    return 0


def revoke(
    wanted: Annotated[str, Parameter(name="ID|NAME", help="The token's number or name.")],
    /,
    *,
    access: Access = of.DEFAULT,
) -> int:
    """Take a token back: within seconds it opens nothing any more."""
    with access.client(actor=of.operator()) as client:
        token = client.revoke_token(wanted)
    said = f"token {token.name} ({token.id}) is revoked"
    with show.done(said):
        show.as_json(token_wire(token)) if access.json else show.line(said)
    return 0


def audit(
    *,
    subject: Annotated[str | None, option("Only what was done to this thing, such as 'queue mail'.", "THING")] = None,
    actor: Annotated[str | None, option("Only what they did, such as ann@10.0.0.7.", "WHO")] = None,
    action: Annotated[str | None, option("Only this, such as queue.change.", "ACTION")] = None,
    limit: Annotated[int, option("How many lines at most.", "N")] = 100,
    access: Access = of.DEFAULT,
) -> int:
    """List what people changed, newest first: who, when, what, before and after."""
    checked_limit(limit, MOST_LINES)
    with access.client() as client:
        found: list[Change] = []
        more = True
        while more and len(found) < limit:
            below, part = found[-1].seq if found else None, min(MOST, limit - len(found))
            found += (page := client.changes(ChangeFilter(subject, actor, action, below, part)))
            more = len(page) == part
    if access.json:
        show.as_json([change_wire(change) for change in found])
        return 0
    now = SystemClock().now()
    show.table(
        ("SEQ", "WHEN", "WHO", "ACTION", "SUBJECT", "BEFORE", "AFTER", "REQUEST"),
        [_line(change, now) for change in found],
        empty="Nothing was changed by anybody yet.",
        right=(0,),
        gives=(5, 6),
    )
    return 0


def _row(token: Token, now: Instant) -> tuple[str, ...]:
    state = "revoked" if token.revoked_at is not None else "valid" if token.valid(now) else "expired"
    ends = "never" if token.expires_at is None else looks.moment(token.expires_at)
    return (
        str(token.id),
        token.name,
        token.role.value,
        state,
        looks.age(now, token.created_at),
        token.created_by,
        ends,
        looks.age(now, token.used_at),
        "all" if token.queues is None else ", ".join(token.queues),
    )


def _line(change: Change, now: Instant) -> tuple[str, ...]:
    return (
        str(change.seq),
        looks.age(now, change.at),
        change.actor,
        change.action,
        change.subject,
        looks.params_line(change.before or {}),
        looks.params_line(change.after or {}),
        change.request or "",
    )
