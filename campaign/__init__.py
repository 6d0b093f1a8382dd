"""Long runs that are judged by a ledger: one command each. ``python -m campaign.simulate --seeds 2000``."""
