"""Comparing two tables by their keys, and leaving out the partitions that are the same."""
