"""What runner, spawner and minders say to each other: JSON lines, as on the coordinator's channels.

Runner to spawner: ``Spawn``, with descriptors. Runner to minder: ``Signal``, ``Kill``. Minder to runner: ``Refused``,
or ``Exited`` at the end. A Python job speaks frames of the runner protocol on a socket of its own.
"""

from __future__ import annotations

import msgspec

from mainspring.domain.frame import Frame
from mainspring.domain.ids import ClaimId, JobId

SANDBOX = "S1, without limits"


class Spawn(Frame, frozen=True):
    """Start a process for this attempt: a command, or (``argv`` None) a Python task.

    Comes with descriptors, in this order: its standard output, its standard error, the minder's line, and for a Python
    task its socket for frames. ``env``: its whole environment; ``work``: where its private directory is made.
    """

    job: JobId
    claim: ClaimId
    task: str
    env: dict[str, str]
    work: str
    argv: list[str] | None = None

    @property
    def descriptors(self) -> int:
        """How many come with it."""
        return 3 if self.argv is not None else 4


class Signal(Frame, frozen=True):
    """Send this signal to the job's process group."""

    number: int


class Kill(Frame, frozen=True):
    """SIGKILL to the job's processes, all of them."""


class Refused(Frame, frozen=True):
    """It could not be started; ``message`` says why. ``final``: it never can be, as the command itself is wrong."""

    message: str
    final: bool = False


class Exited(Frame, frozen=True):
    """The job's process has ended, and nothing of it is left.

    ``report``: see ``process.exit_report``; ``signalled``: we had sent it a signal before.
    """

    report: dict[str, bool | int]
    signalled: bool = False


spawns: msgspec.json.Decoder[Spawn] = msgspec.json.Decoder(Spawn)
to_minder: msgspec.json.Decoder[Signal | Kill] = msgspec.json.Decoder(Signal | Kill)
from_minder: msgspec.json.Decoder[Refused | Exited] = msgspec.json.Decoder(Refused | Exited)
