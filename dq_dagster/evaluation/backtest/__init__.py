"""Change detection tried out on the past."""
