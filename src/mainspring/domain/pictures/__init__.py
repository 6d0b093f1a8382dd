"""Pictures of a workflow or a run, as texts. Pure: nodes with their states and times in, a text out.

``seen.py`` is what all of them look at; ``diagram.py``: Mermaid and DOT; ``gantt.py``: SVG; ``layered.py``: a terminal.
"""
