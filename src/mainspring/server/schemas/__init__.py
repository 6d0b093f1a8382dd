"""The schemas of what REST takes and gives, one module per noun; openapi.py gathers them. Values only."""
