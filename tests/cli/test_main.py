"""The command line, as people call it."""

from __future__ import annotations

import json

from click.testing import CliRunner

import dq_dagster as dq
from dq_dagster.cli.main import main
from dq_dagster.rules.catalogue import RULE_TYPES, by_family


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
    typed = [line for line in lines if line.startswith("  ")]
    assert [line.split()[0] for line in typed] == list(RULE_TYPES)
    assert lines[:2] == [
        "Emptiness",
        (
            "  column_not_empty               At most `threshold` of the values of each column are "
            "empty."
        ),
    ]
    assert [line for line in lines if line and line not in typed] == list(by_family())


def test_a_rule_type_is_shown_with_fields_and_example() -> None:
    done = CliRunner().invoke(main, ["rules", "column_values_not_match"])
    assert done.output == (
        "dq.ColumnValuesNotMatch: No value of any of the columns matches the regular expression "
        "`pattern`.\n"
        "\n"
        "Observed: the number of values that do.\n"
        "\n"
        "pattern    A regular expression in Java's syntax, the one Spark uses. (required)\n"
        "threshold  How many values may break the rule (`soft_max`, `max`) or must keep it "
        "(`soft_min`, `min`); `all`: every value must keep it. (all)\n"
        "match      Whether the whole value has to match, or a part of it. One of `full`, "
        "`search`. (full)\n"
        "\n"
        "- type: column_values_not_match\n"
        "  columns: [customer]\n"
        "  pattern: '\\d'\n"
        "  match: search\n"
    )


def test_machines_get_rule_types_as_json() -> None:
    every = json.loads(CliRunner().invoke(main, ["rules", "--json"]).stdout)
    assert [one["type"] for one in every] == list(RULE_TYPES)
    done = CliRunner().invoke(main, ["rules", "column_values_not_match", "--json"])
    one = json.loads(done.stdout)
    assert one in every
    assert (one["class"], one["family"]) == ("ColumnValuesNotMatch", "Values")
    assert [field["name"] for field in one["fields"]] == ["pattern", "threshold", "match"]


def test_an_unknown_rule_type_is_reported() -> None:
    done = CliRunner().invoke(main, ["rules", "column_nott_empty"])
    assert done.stderr == (
        "Error: There is no rule type 'column_nott_empty'. Did you mean 'column_not_empty'?\n"
    )
    assert done.exit_code == 2
