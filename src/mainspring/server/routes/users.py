"""Users over REST, and their way in and out."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from mainspring.client.operating import ServingClient
from mainspring.client.wire import asker_wire, user_wire
from mainspring.domain.access import Role, UserChange, proof, role_of
from mainspring.errors import TooBusy, Unauthenticated, WrongPassword
from mainspring.server import pages
from mainspring.server.admission import COOKIE, Admission, session_secret
from mainspring.server.decode import body_of, no_fields
from mainspring.server.exchange import Access, Answer, Asked, Entry, Reach
from mainspring.server.operation import Page, gives
from mainspring.server.schemas.access import USER_NAME

_USERS = "/api/v1/users"
_USER = "/api/v1/users/{name}"
_AGE = 12 * 3600
_PATIENCE = 2.0
"""Seconds that a password waits for those before it."""

_WAY = "Path=/; HttpOnly; SameSite=Strict"


class _Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    password: str
    role: str
    queues: list[str] | None = None


class _Login(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    password: str


class UserRoutes:
    """The handlers, on one client.

    ``admission``: who counts wrong passwords; None where nobody is asked. ``secure``: whether connections are
    encrypted, so that browsers keep the cookie from others.
    """

    def __init__(self, client: ServingClient, admission: Admission | None = None, *, secure: bool = False) -> None:
        self._client = client
        self._admission = admission
        self._turns = threading.BoundedSemaphore(2)  # so that guessing can't use up the server
        self._way = f"{_WAY}; Secure" if secure else _WAY

    def entries(self) -> list[Entry]:
        """The routes of these nouns."""
        admin, values = Role.ADMIN, {"name": USER_NAME}
        session, login = "/api/v1/session", gives("Login", body="LoginRequest")
        look, act, take, none = Access.READ, Access.ACT, Access.CHANGE, Reach.NOTHING
        made = gives("User", body="UserRequest", status=201)
        changed = gives("User", body="UserChange", values=values)
        return [
            Entry("GET", _USERS, look, self.users, gives(Page("User")), pages.QUERY, role=admin),
            Entry("POST", _USERS, take, self.create, made, role=admin),
            Entry("PATCH", _USER, take, self.change, changed, role=admin),
            Entry("DELETE", _USER, act, self.remove, gives("User", values=values), role=admin),
            Entry("POST", "/api/v1/login", Access.DOOR, self.login, login, reach=none),
            Entry("POST", "/api/v1/logout", act, self.logout, gives("Nothing"), role=Role.VIEWER, reach=none),
            Entry("GET", session, look, self.session, gives("Session"), reach=none),
        ]

    def users(self, asked: Asked) -> Answer:
        """All users, by name, removed ones last."""
        found = self._client.users()
        return pages.paged(asked, found, user_wire, lambda user: (int(user.removed_at is not None), user.name, user.id))

    def create(self, asked: Asked) -> Answer:
        """Somebody who may sign in."""
        wanted = body_of(asked, _Wanted, "A user")
        role, client = role_of(wanted.role), self._client.acting(asked.actor)
        with self._in_turn():
            user = client.create_user(wanted.name, wanted.password, role, queues=wanted.queues)
        return Answer(201, user_wire(user), {"location": f"{_USERS}/{user.name}"})

    def change(self, asked: Asked) -> Answer:
        """Another role, other queues, another password; the last ends their sessions."""
        wanted = body_of(asked, UserChange, "A change of a user")
        with self._in_turn():
            user = self._client.acting(asked.actor).change_user(asked.path["name"], wanted)
        return Answer(200, user_wire(user))

    def remove(self, asked: Asked) -> Answer:
        """They may nothing any more."""
        no_fields(asked)
        return Answer(200, user_wire(self._client.acting(asked.actor).remove_user(asked.path["name"])))

    def login(self, asked: Asked) -> Answer:
        """A session: its cookie, and in ``csrf`` what changes must send besides as X-CSRF-Token."""
        wanted = body_of(asked, _Login, "A login")
        if self._admission is not None:
            self._admission.check_failures(asked.address, wanted.name)
        try:
            with self._in_turn():
                secret, asker = self._client.sign_in(wanted.name, wanted.password, address=asked.address)
        except WrongPassword:
            if self._admission is not None:
                self._admission.count(asked.address, wanted.name)
            raise
        cookie = f"{COOKIE}={secret}; Max-Age={_AGE}; {self._way}"
        return Answer(200, asker_wire(asker) | {"csrf": proof(secret)}, {"set-cookie": cookie})

    def logout(self, asked: Asked) -> Answer:
        """The session is over."""
        no_fields(asked)
        secret = session_secret([asked.headers.get("cookie", "")])
        if secret is None:
            raise Unauthenticated("There is no session that could end.")
        self._client.sign_out(secret, address=asked.address)
        if self._admission is not None:
            self._admission.forget(secret)
        return Answer(200, {}, {"set-cookie": f"{COOKIE}=; Max-Age=0; {self._way}"})

    def session(self, asked: Asked) -> Answer:
        """Who asks, with which role, and, of a session, its ``csrf``."""
        secret = session_secret([asked.headers.get("cookie", "")]) if asked.asker.until is not None else None
        return Answer(200, asker_wire(asked.asker) | {"csrf": None if secret is None else proof(secret)})

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        """Two passwords at a time. Raises TooBusy."""
        if not self._turns.acquire(timeout=_PATIENCE):
            raise TooBusy("Too many passwords are looked at already.", remedy="Try again in a second.")
        try:
            yield
        finally:
            self._turns.release()
