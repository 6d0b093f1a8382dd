"""``mainspring demo``: a whole platform in a temporary folder, the founding scenarios and one real piece of work on it.

``work.py`` is the app that it runs, as a user would write one; ``stage.py`` starts and kills the processes; ``acts.py``
says what is done and what must come of it; ``screen.py`` shows it. Nothing here is used by the rest of the package.
"""

from __future__ import annotations


def main(stay: bool = False) -> int:  # noqa: FBT001, FBT002 - the command's one option
    """Run the demo; 0 only if every outcome was as expected. ``stay``: then keep the platform up until Ctrl-C."""
    from mainspring.demo.story import tell  # what it needs is loaded only by those who want it

    return tell(stay=stay)
