"""Where an asset's rows lie: attempts, pointers, journal, schemas. Knows Spark, not Dagster."""
