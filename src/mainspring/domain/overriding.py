"""What operators say of a task's attempts in place of its declaration: the settings ``task.NAME.…``, by task. Pure.

What a submit says of its own job stands; a retry or timeout of that kind is not touched.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from mainspring.clock import Duration, duration_text
from mainspring.domain.configured import Kept, Scope, key_of
from mainspring.domain.retry import Retry
from mainspring.domain.setting import Layer, Value


class Override(msgspec.Struct, frozen=True):
    """What holds for attempts of one task that begin from now on. None: what the task declares."""

    timeout: Duration | None = None
    grace: Duration | None = None
    max_attempts: int | None = None
    delay: Duration | None = None

    def of_retry(self, retry: Retry) -> Retry:
        """The policy with what is said here; a longer first delay raises the cap to it."""
        said: dict[str, object] = {}
        if self.max_attempts is not None:
            said["max_attempts"] = self.max_attempts
        if self.delay is not None:
            said["delay"] = duration_text(self.delay)
            said["max_delay"] = duration_text(max(self.delay, retry.max_delay))
        return Retry.from_document(said, base=retry) if said else retry


def overrides(kept: Iterable[Kept]) -> dict[str, Override]:
    """By task what the store holds of it; what people have set wins over what a server's file says."""
    said: dict[str, dict[str, Value]] = {}
    for one in sorted(kept, key=lambda one: one.layer is Layer.STORE):
        key = key_of(one.key)
        if key.scope is Scope.TASK:
            said.setdefault(key.of, {})[key.setting.name] = one.value
    return {task: msgspec.convert(values, Override) for task, values in said.items()}
