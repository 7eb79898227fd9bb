"""Pages and reports on what the checks of a Dagster instance found; they only read."""
