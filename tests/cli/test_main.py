"""The command line, as people call it."""

from __future__ import annotations

import json

from click.testing import CliRunner

import dq_dagster as dq
from dq_dagster.cli.main import main


def test_the_schema_is_printed_for_editors() -> None:
    done = CliRunner().invoke(main, ["schema"])
    assert done.exit_code == 0
    assert json.loads(done.output) == json.loads(json.dumps(dq.json_schema()))


def test_help_lists_the_commands() -> None:
    done = CliRunner().invoke(main, ["--help"])
    assert done.exit_code == 0
    assert "schema  Print the JSON Schema of rules files" in done.output
