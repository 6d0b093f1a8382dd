"""What a worker is started with, as its command and the test kit put it together. Decides nothing."""

from __future__ import annotations

import msgspec

from mainspring.clock import SECOND, Duration
from mainspring.domain.setting import Settings


class WorkerOptions(msgspec.Struct, frozen=True):
    """What a worker is started with.

    ``app``: MODULE:ATTR or FILE.py[:ATTR]; ``database``: store URL; ``name``: a label (default host and pid);
    ``queues``: only these (default: all of the app); ``slots``: jobs at once; ``processes``: of these at most so many
    with a process of their own; ``runners``: shared runner processes (more are started for jobs with a process of their
    own and for those that must be alone, as long as there are some); ``runner_argv``: the command of a runner in
    another language (default: the Python runner).
    """

    app: str
    database: str
    name: str = ""
    queues: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    slots: int = 100
    processes: int = 32
    runners: int = 1
    lease: Duration = Duration(30 * SECOND)
    sweep: Duration = Duration(5 * SECOND)
    poll: Duration = SECOND
    drain: Duration = Duration(30 * SECOND)
    runner_argv: tuple[str, ...] = ()

    def configured(self, settings: Settings) -> WorkerOptions:
        """The same with what may change while a worker runs."""
        return msgspec.structs.replace(
            self,
            slots=settings.slots,
            processes=settings.processes,
            lease=settings.lease,
            sweep=settings.sweep,
            poll=settings.poll,
            drain=settings.drain,
        )
