"""A worker: the coordinator and what it needs to keep runners. Never runs user code.

Read first: coordinator.py, runners.py, guard.py.
"""
