"""The server process: the REST door and health, with the sweep beside it.

Keeps: no user code, no decision about jobs, no SQL; it listens at loopback only as long as it can't ask who calls.
Read first: app.py (what is put together), web.py (the way of a request), security.py (who may ask).
"""
