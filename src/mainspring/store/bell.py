"""What wakes those who wait for the store. Rings are hints: a lost one costs at most the polling interval."""

from __future__ import annotations

import threading
from typing import Protocol

from mainspring.clock import Duration


class Listening(Protocol):
    """One end that waits for rings."""

    def fileno(self) -> int:
        """For selectors; -1 where there is nothing to select on."""
        ...

    @property
    def gone(self) -> bool:
        """Whether no ring can come in any more, as somebody took its end away."""
        ...

    def make_again(self) -> None:
        """Put a new end in the place of one that is gone; ``fileno`` is another one then."""
        ...

    def wait(self, timeout: Duration) -> bool:
        """Block until a ring or the time-out. True for a ring."""
        ...

    def drain(self) -> None:
        """Forget the rings so far."""
        ...

    def close(self) -> None:
        """Stop listening."""
        ...


class Behind(Protocol):
    """Rings that the database itself tells, in the same breath as a commit. ``told``: it has."""

    told: bool

    def text(self) -> str | None:
        """What to tell now; None where that has to wait, as others were told just before."""
        ...


class Bell(Protocol):
    """One kind of bell: ``work`` (something may be claimed or must be stopped) or ``news`` (something was recorded).

    ``own``: the listener of this process that its own rings don't wake, as it knows already; an empty text for none.
    """

    own: str

    def ring(self, *, besides: str = "", told: bool = False) -> None:
        """Wake all listeners, but for the one of this name; those elsewhere were ``told`` already. Never fails."""
        ...

    def behind(self, also: Bell | None = None) -> Behind | None:
        """A ring, of that other bell as well, for the database to tell; None where it tells nobody."""
        ...

    def listen(self, name: str) -> Listening:
        """A new listener; ``name`` is unique (an incarnation)."""
        ...

    def enroll(self, event: threading.Event) -> None:
        """Set this event too, for rings that this process hears."""
        ...

    def fault(self) -> str:
        """Why rings of other processes don't come in here; an empty text where they do. Tries it."""
        ...
