"""What the domain tests share: Hypothesis without a deadline, as two shared cores make any one example slow."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("house", deadline=None, max_examples=100)
settings.load_profile("house")
