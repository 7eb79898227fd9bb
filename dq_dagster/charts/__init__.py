"""Pictures of numbers: one palette, one drawing library."""
