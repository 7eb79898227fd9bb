"""Metric and state values, and the algebra that merges states. No Spark, no Dagster."""
