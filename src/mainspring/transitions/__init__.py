"""The transactions that engine and control share: a birth, the end of an attempt, moves of waiting jobs.

Read first: ended.py, waiting.py, cancelled.py.
"""
