"""The SDK: what user code imports. Declares tasks, submits jobs, watches them, and tells running code what it needs.

Needs the standard library and msgspec only; the store comes in, through a client, when the first call is made.

Read first: app.py, task.py, handle.py.
"""
