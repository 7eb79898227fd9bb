"""The command line, as people call it."""

from __future__ import annotations

import json

from click.testing import CliRunner

import dq_dagster as dq
from dq_dagster.cli.main import main
from dq_dagster.rules.catalogue import RULE_TYPES


def test_the_schema_is_printed_for_editors() -> None:
    done = CliRunner().invoke(main, ["schema"])
    assert done.exit_code == 0
    assert json.loads(done.output) == json.loads(json.dumps(dq.json_schema()))


def test_help_lists_the_commands() -> None:
    done = CliRunner().invoke(main, ["--help"])
    assert done.exit_code == 0
    listed = " ".join(done.output.split())
    assert "schema Print the JSON Schema of rules files" in listed
    assert "rules List the rule types" in listed
    assert "test Try the RULES" in listed


def test_rule_types_are_listed_with_a_line_each() -> None:
    done = CliRunner().invoke(main, ["rules"])
    lines = done.output.splitlines()
    assert [line.split()[0] for line in lines] == list(RULE_TYPES)
    assert lines[0] == (
        "column_min_in_range            The smallest value of each column is within the bounds."
    )


def test_a_rule_type_is_shown_with_fields_and_example() -> None:
    done = CliRunner().invoke(main, ["rules", "column_top_values_in_set"])
    assert done.output == (
        "dq.ColumnTopValuesInSet: The `top` most frequent values of each column are all among "
        "`values`.\n"
        "\n"
        "Values that are equally frequent are all considered, so the answer never depends on the "
        "order\nof rows.\n"
        "\n"
        "Observed: the most frequent values.\n"
        "\n"
        "values       The values to compare with, in the column's own type. (required)\n"
        "top          How many of the most frequent values are judged: 1 to 99. (required)\n"
        "ignore_case  Whether upper and lower case are the same. (false)\n"
        "\n"
        "- type: column_top_values_in_set\n"
        "  columns: [country]\n"
        "  top: 2\n"
        "  values: [DE, FR, NO]\n"
    )


def test_an_unknown_rule_type_is_told() -> None:
    done = CliRunner().invoke(main, ["rules", "column_nott_empty"])
    assert done.stderr == (
        "Error: There is no rule type 'column_nott_empty'. Did you mean 'column_not_empty'?\n"
    )
    assert done.exit_code == 2
