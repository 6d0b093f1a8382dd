"""Apps that campaigns run."""
