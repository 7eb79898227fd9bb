"""Dagster: rules as asset checks, readers, the IO manager."""
