"""How a runner died: its guard's last report as evidence for the failures of its jobs. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.domain.attempt import Failure
from mainspring.process import exit_evidence, exit_text

CRASHED = "Crashed"
"""The type of a Failure that no exception caused: retry rules may name it."""


class RunnerDeath(msgspec.Struct, frozen=True):
    """How a runner ended.

    ``killed``: who had it killed: ``deadline`` (its lease could not be renewed), ``asked`` (the coordinator said so),
    ``coordinator`` (that died), ``guard`` (that died) or None. ``evidence`` is what its jobs' failures will carry:
    ``exit_code`` or ``signal``, ``peak_memory`` (bytes), ``out_of_memory``, ``core``, ``killed``, ``stacks``; or
    ``refused``, the reason why it could not be started.
    """

    killed: str | None
    evidence: dict[str, Any]

    @property
    def sentence(self) -> str:
        """What happened, for people."""
        refusal = self.evidence.get("refused", "")
        text = f"could not be started: {refusal}" if refusal else exit_text(self.evidence)
        return f"The runner {text}{_REASONS.get(self.killed or '', '')}."

    @property
    def failure(self) -> Failure:
        """The failure of a job that went down with this runner."""
        return Failure(type=CRASHED, message=self.sentence, types=(CRASHED,), evidence=self.evidence)


_REASONS = {
    "deadline": ", as its lease could not be renewed in time",
    "asked": ", as its worker ended it",
    "coordinator": ", as its worker had died",
    "guard": ", as its guard had died",
}


def runner_death(report: dict[str, Any], stacks: str = "") -> RunnerDeath:
    """Read a guard's last report; an empty one means that the guard itself was killed."""
    if not report:
        return RunnerDeath("guard", {"signal": "SIGKILL", "killed": "guard"})
    if "refused" in report:
        return RunnerDeath(None, {"refused": report["refused"]})
    killed = report.get("killed")
    evidence = exit_evidence(report)
    if killed:
        evidence["killed"] = killed
    if stacks:
        evidence["stacks"] = stacks
    return RunnerDeath(killed, evidence)
