"""What time makes happen: dispatch, sweep. Bounded turns over (store, clock); no SQL, no HTTP, no threads, no asyncio.

Read first: dispatch.py, claiming.py, sweep.py.
"""
