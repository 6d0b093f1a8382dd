"""A write transaction that was sent with its COMMIT, and is heard later: meanwhile the server works, and so may we."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import psycopg

from mainspring.errors import OutcomeUnknown
from mainspring.store.postgres_errors import is_outage
from mainspring.store.postgres_pipe import Asked, Pipe
from mainspring.store.postgres_session import Session, Sessions

T = TypeVar("T")


class OnItsWay(Generic[T]):
    """One of them. ``again``: writes it as ever, where it is certain that nothing of it was stored."""

    def __init__(  # noqa: PLR0913, PLR0917 - composition
        self,
        path: str,
        sessions: Sessions,
        session: Session,
        pipe: Pipe,
        committed: Asked,
        value: T,
        again: Callable[[], T],
    ) -> None:
        self._path = path
        self._sessions = sessions
        self._session = session
        self._pipe = pipe
        self._committed = committed
        self._value = value
        self._again = again

    def answer(self) -> T:
        """Wait for the durable commit. Raises the StoreError that fits, OutcomeUnknown where that can't be told."""
        calm = False
        try:
            self._pipe.hear()
            calm = True
        except psycopg.Error as error:
            if is_outage(error) and self._committed.command is None:
                raise OutcomeUnknown(self._path) from error
        finally:
            self._pipe.leave(calm=calm)
            self._sessions.give_back(self._session, keep=calm)
        return self._value if self._committed.command == "COMMIT" else self._again()
