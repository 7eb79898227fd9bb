"""Plan, measure, judge: works without Dagster, in notebooks, tests and on the command line."""
