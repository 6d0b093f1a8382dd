"""How a job with a process of its own ended, from what its minder, it itself and its output say. Pure."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from mainspring.domain.attempt import Failure
from mainspring.domain.frame import Ended
from mainspring.domain.job import PAYLOAD_LIMIT
from mainspring.domain.states import Outcome
from mainspring.domain.task import Executor
from mainspring.errors import PayloadTooLarge
from mainspring.process import exit_evidence, exit_text
from mainspring.runner.conclusion import details_of, failed, stopped, too_large
from mainspring.runner.orders import SANDBOX, Exited, Refused
from mainspring.runner.output import clean
from mainspring.runner.running import Running

_LAST_LINES = 10
_WISHES = {"JobInterrupted", "CancelledError"}


def reported(running: Running, ended: Ended) -> Ended:
    """What a Python job said of its own end, when it says it: what was asked before wins."""
    if len(ended.result) > PAYLOAD_LIMIT:
        ended = too_large(running, PayloadTooLarge("result", len(ended.result), PAYLOAD_LIMIT))
    if running.asked is not None:
        told = ended.failure
        ended = stopped(running, running.asked)
        if told is not None and told.type not in _WISHES:
            ended = msgspec.structs.replace(ended, failure=told)
    return msgspec.structs.replace(
        ended, job=running.job, claim=running.claim, sandbox=SANDBOX, details=details_of(running)
    )


def concluded(
    running: Running, said: Refused | Exited | None, ended: Ended | None, output: bytes, errors: bytes
) -> Ended:
    """The end, once nothing of the job is left. ``output`` and ``errors``: the last bytes that it wrote."""
    if ended is not None:
        return ended
    return msgspec.structs.replace(_concluded(running, said, output, errors), sandbox=SANDBOX)


def _concluded(running: Running, said: Refused | Exited | None, output: bytes, errors: bytes) -> Ended:
    match said:
        case None:
            if running.asked is not None:
                return stopped(running, running.asked)
            text = "the process that watched over it was killed, or could not be started"
            return failed(running, _crash(text, {}), outcome=Outcome.CRASHED)
        case Refused():
            if running.asked is not None:
                return stopped(running, running.asked)
            failure = Failure("CannotStart", said.message, types=("CannotStart",))
            return failed(running, failure, final=said.final)
        case Exited():
            if running.asked is not None and said.signalled:
                return stopped(running, running.asked)
            return _exited(running, said, output, errors)


def _exited(running: Running, exited: Exited, output: bytes, errors: bytes) -> Ended:
    evidence = exit_evidence(exited.report)
    last = _last_lines(errors) or _last_lines(output)
    if last:
        evidence["last_output"] = last
    code = evidence.get("exit_code")
    if running.task.declaration.executor is Executor.PROCESS:
        without = " without reporting a result" if code is not None else ""
        return failed(running, _crash(f"its process {exit_text(evidence)}{without}", evidence), outcome=Outcome.CRASHED)
    if code is None:
        return failed(running, _crash(f"the command {exit_text(evidence)}", evidence), outcome=Outcome.CRASHED)
    if code != 0:
        why = _last_lines(errors).rpartition("\n")[2]
        text = f"the command exited with code {code}{f': {why}' if why else ''}"
        return failed(running, Failure("CommandFailed", text, types=("CommandFailed",), evidence=evidence))
    return Ended(running.job, running.claim, Outcome.SUCCEEDED, Raw(b'{"exit_code":0}'), details=details_of(running))


def _crash(text: str, evidence: dict[str, Any]) -> Failure:
    return Failure("Crashed", text, types=("Crashed",), evidence=evidence)


def _last_lines(data: bytes) -> str:
    text = clean(data.decode("utf-8", "backslashreplace")).strip()
    return "\n".join(text.splitlines()[-_LAST_LINES:])
