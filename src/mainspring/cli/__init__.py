"""The command line: one file per noun, imported when its command is called. It speaks through the client alone.

Read first: main.py (which commands there are, and how one ends), access.py (the options that all have), show.py (the
only place that prints).
"""
