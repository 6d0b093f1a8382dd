"""What people ask for: one function per verb, one transaction each. Knows neither HTTP nor argv.

Read first: submit.py, jobs.py, read.py.
"""
