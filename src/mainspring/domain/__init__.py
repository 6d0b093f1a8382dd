"""Values and decisions: states, retry, verdicts, schemas. Pure: no I/O, no clock, no chance.

Read first: states.py, verdicts.py, job.py.
"""
