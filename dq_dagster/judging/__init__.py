"""Plain values in, verdict out. No data, no clock, no Spark, no Dagster."""
