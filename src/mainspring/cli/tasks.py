"""``mainspring tasks``: the catalog."""

from __future__ import annotations

from typing import Any

from mainspring.cli import access as of
from mainspring.cli import looks, show, values
from mainspring.cli.access import Access
from mainspring.client.wire import task_wire
from mainspring.domain.task import Task


def tasks(*, access: Access = of.DEFAULT) -> int:
    """List the tasks that apps have reported, and what they take."""
    with access.client() as client:
        found = client.tasks()
    if access.json:
        show.as_json([task_wire(task) for task in found])
        return 0
    show.table(
        ("TASK", "RUNS AS", "QUEUE", "ATTEMPTS", "TIMEOUT", "PARAMETERS", "WHAT IT DOES"),
        [_row(task) for task in found],
        empty="No tasks yet: an app reports them when its worker starts (mainspring up), or at its first submit.",
        gives=(6, 5),
    )
    return 0


def _row(task: Task) -> tuple[str, ...]:
    takes = ", ".join(_parameter(name, schema, task) for name, schema in task.schema.get("properties", {}).items())
    return (
        task.name,
        task.executor.value,
        task.queue,
        str(task.retry.get("max_attempts", "")),
        task.timeout or "-",
        looks.cut(takes or "-", 60),
        looks.cut(looks.one_line(task.description.partition("\n")[0]), 60),
    )


def _parameter(name: str, schema: Any, task: Task) -> str:
    """``order_id: integer``, with a question mark where it may be left out."""
    return f"{name}{'' if name in task.schema.get('required', ()) else '?'}: {values.kind(schema, task.schema)}"
