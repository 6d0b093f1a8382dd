"""Configuration: which values hold, and where each came from. Knows files and the environment, never the store.

Read first: layers.py (defaults < mainspring.toml < environment < flags), file.py (what the file may hold).
"""
