"""Other systems' definitions, read as workflow documents. Pure: text in, documents out; nothing found in them is run.

Each importer says what it could not take over (``notes``) rather than guess. What runs in the place of their commands
are tasks of our own (``stand_ins.py``). Read first: found.py, wfformat.py, pipeline.py.
"""
