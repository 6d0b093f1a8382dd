"""``mainspring demo``: starts the scenarios of the demo package."""

from __future__ import annotations

from typing import Annotated

from mainspring.cli.access import option


def demo(
    *,
    stay: Annotated[bool, option("Keep the platform up until Ctrl-C.")] = False,
) -> int:
    """See it at work: starts a whole platform in a temporary directory and runs the founding scenarios on it."""
    from mainspring.demo import main

    return main(stay)
