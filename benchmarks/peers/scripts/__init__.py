"""What the peers' own interpreter runs."""
