"""WfFormat (wfcommons), versions 1.4 and 1.5: scientific workflows with measured run times.

Each task becomes a node named by its id, needs its parents and takes the time that was measured, times ``scale``.
Programs, arguments and files are not taken over: nothing found in the file is ever run.
"""

from __future__ import annotations

from typing import Any

from mainspring.domain.workflow import MOST_NODES, Node, Workflow
from mainspring.errors import InvalidOption, InvalidWorkflow
from mainspring.importers.found import REPLAY, Found, taken, workflow_name


def read(document: Any, *, scale: float = 0.0) -> Found:
    """The workflow of an instance. ``scale``: 1 takes as long as was measured, 0 (default) no time.

    Raises InvalidWorkflow with the place, InvalidOption for a negative scale.
    """
    if not 0 <= scale <= 1000:
        raise InvalidOption(f"scale is {scale}; it must be from 0 to 1,000.", field="scale")
    workflow = taken(document, "workflow", dict, "")
    tasks = taken(taken(workflow, "specification", dict, "workflow"), "tasks", list, "workflow.specification")
    if len(tasks) > MOST_NODES:
        raise InvalidWorkflow(f"it has {len(tasks):,} tasks; at most {MOST_NODES:,}", place="workflow.specification")
    took = _run_times(workflow)
    nodes = []
    for number, task in enumerate(tasks):
        place = f"workflow.specification.tasks[{number}]"
        name = taken(task, "id", str, place)
        seconds = took.get(name, 0.0) * scale
        nodes.append(
            Node(
                name,
                task=REPLAY,
                needs=tuple(taken(task, "parents", list, place)),
                params={"node": name, "seconds": seconds} if seconds else {"node": name},
                description=str(task.get("name", "")) if task.get("name") != name else "",
            )
        )
    notes = ("Programs, arguments and files are not taken over; the time that tasks took is.",) if nodes else ()
    name = workflow_name(str(document.get("name", "wfformat")))
    return Found((Workflow(name, tuple(nodes), description="Imported from WfFormat."),), notes)


def _run_times(workflow: dict[str, Any]) -> dict[str, float]:
    """Seconds by id, where they were measured."""
    tasks = workflow.get("execution", {}).get("tasks", [])
    times = {}
    for task in tasks if isinstance(tasks, list) else ():
        seconds = task.get("runtimeInSeconds") if isinstance(task, dict) else None
        if isinstance(seconds, int | float) and seconds >= 0:
            times[str(task.get("id"))] = float(seconds)
    return times
