"""The runner: the child process in which user code lives.

It is told by its coordinator what to start and what to end, over the frames of docs/architecture/runner-protocol.md,
and tells what jobs print and how they end. It decides nothing: no retries, no timeouts, no store.

Read first: host.py (frames in, attempts, frames out), output.py (what jobs print), processes.py (jobs with a process of
their own, by way of spawner.py and minder.py).
"""
