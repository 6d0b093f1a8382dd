"""What of a job's output and failure is hidden: secrets of this runner's environment, and of its parameters."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from mainspring.domain.attempt import Failure
from mainspring.domain.secrecy import Mask, of_environment, of_parameters


class Hiding:
    """One per runner. The environment is looked at when the first job says something: an app may have added to it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._known: list[str] | None = None
        self._usual = Mask()

    def mask(self, params: bytes) -> Mask:
        """For a job with these parameters. Safe in any thread."""
        known = self._known
        if known is None:
            known = of_environment(dict(self._environment))
            self._usual = Mask(known)
            self._known = known
        own = of_parameters(params)
        return Mask([*known, *own]) if own else self._usual


def hidden(failure: Failure, mask: Mask) -> Failure:
    """A failure as it may be kept."""
    return msgspec.structs.replace(
        failure,
        message=mask(failure.message),
        traceback=mask(failure.traceback),
        evidence=mask.within(failure.evidence),
    )
