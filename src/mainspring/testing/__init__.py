"""For the tests of those who write tasks: Harness. Beside it the simulated world, with which we test the engine itself.

Read first: harness.py, worker.py, world.py.
"""

from mainspring.testing.harness import Harness

__all__ = ["Harness"]
