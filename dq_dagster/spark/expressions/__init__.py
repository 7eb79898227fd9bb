"""States and conditions as SQL."""
