"""Dagster's partitions: keys, time windows, and the rows of each."""
