"""For all tests: what a terminal would give them, whoever started them."""

import signal

# A shell that starts us in the background has us ignore Ctrl-C, and every process that a test starts inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)
