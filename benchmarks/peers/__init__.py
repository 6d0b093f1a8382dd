"""Other Python job queues beside mainspring, on the same machine in the same run."""
