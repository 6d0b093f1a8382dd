"""What is asked of a server over REST, each verb once: its requests, and what their answers mean. Knows no network.

The functions have the parameters and results of the methods of the client protocols (``client/__init__.py`` and
``client/operating.py``), where what they do and raise is written. Start with runs.py.
"""
