"""Plans of TopNotch: what they say, and running them without Dagster."""
