"""``mainspring explain``: why a job waits, and why it ran and ended as it did; other commands tell its first remedy."""

from __future__ import annotations

from mainspring.cli import access as of
from mainspring.cli import looks, show
from mainspring.cli.access import Access
from mainspring.cli.job import Id, number
from mainspring.client.wire import explanation_wire


def explain(id_: Id, /, *, access: Access = of.DEFAULT) -> int:
    """Say why a job waits, what can be done about it, and why it ran and ended as it did."""
    with access.client() as client:
        found = client.explain(number(id_))
    if access.json:
        show.as_json(explanation_wire(found))
        return 0
    show.draw(show.title(f"job {found.job}", found.task, show.state(found.state)))
    for reason in found.reasons:
        show.line(f"  {looks.one_line(reason.text)}")
        if reason.remedy:
            show.line(f"    {reason.remedy}")
    return 0
