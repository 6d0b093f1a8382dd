"""The budgets of the design, measured: ``python -m benchmarks`` prints one table.

One module for each line of the budget table. Each measures the product through real processes and, alternating with it,
the raw limit of this machine, so that what counts is the ratio and not how busy the machine is today.
"""
