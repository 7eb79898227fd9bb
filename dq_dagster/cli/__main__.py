"""`python -m dq_dagster.cli` is `dq-dagster`."""

from dq_dagster.cli.main import main

main(prog_name="dq-dagster")
