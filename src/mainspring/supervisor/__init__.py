"""The supervisor: starts server and workers as processes of their own, starts them again, and ends them in order.

It knows processes and nothing of jobs: no store, no user code. When it dies its children drain and end, and a new one
waits for them at the tree lock.

Read first: tree.py (what runs), restart.py (how often), child.py (its other end, inside server and worker).
"""
