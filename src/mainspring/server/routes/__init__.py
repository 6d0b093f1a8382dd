"""One module per noun: decode, one call of the client, encode. Access, sizes and times are web.py's business."""
