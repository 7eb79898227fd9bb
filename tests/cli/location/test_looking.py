"""`dq-dagster validate`, `coverage` and `explain`: what rules say of a code location's assets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dq_dagster.cli.main import main

Command = Callable[..., Result]

RULES = """assets:
- asset: customers
  sensitive: [mial]
  rules:
  - {type: column_not_empty, columns: [Town, twon]}
  - {type: colum_unique, columns: [id]}
  - {type: row_dq, name: r, expectation: "mail like 'x' and idd > 0", where: "tow = 'a'"}
- asset: custmers
  rules: [{type: record_count_in_range, min: 1}]
- asset: prices
  rules:
  - {type: column_values_in_reference, columns: [sku], reference: {asset: custommers}}
  - {type: column_avg_in_range, columns: [prize], min: 0, dimensions: [shop]}
  - {type: schema_contains, expected: [{name: more, type: int}]}
"""
FOUND = [
    "rules.yaml:2, asset 'customers': field 'sensitive': Column 'mial' is not in the table. Did",
    "rules.yaml:5, rule 'column_not_empty_Town_twon', asset 'customers': Column 'twon' is not in",
    "rules.yaml:6, rule 'colum_unique id', asset 'customers': unknown type 'colum_unique'. Did",
    "rules.yaml:7, rule 'r', asset 'customers': Column 'idd' is not in the table. Did you mean",
    "rules.yaml:7, rule 'r', asset 'customers': Column 'tow' is not in the table. Did you mean",
    "rules.yaml:8, asset 'custmers': there is no such asset. Did you mean 'customers'?",
    "rules.yaml:12, rule 'column_values_in_reference_sku', asset 'prices': it refers to asset",
    "rules.yaml:13, rule 'column_avg_in_range_prize', asset 'prices': Column 'prize' is not in",
    "rules.yaml:13, rule 'column_avg_in_range_prize', asset 'prices': Column 'shop' is not in the",
]


def test_all_mistakes_come_at_once_with_their_lines(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(RULES, encoding="utf-8")
    done = command("validate", str(file))
    *lines, last = done.stdout.splitlines()
    assert [line[: len(start)] for line, start in zip(lines, FOUND, strict=True)] == FOUND
    assert last == "6 rules of 3 assets: 9 mistakes."
    assert done.exit_code == 1
    found = json.loads(command("validate", str(file), "--json").stdout)
    assert (found["ok"], found["rules"], len(found["problems"])) == (False, 6, 9)
    assert found["problems"][3] == {
        "place": "rules.yaml:7",
        "asset": "customers",
        "rule": "r",
        "field": None,
        "message": "Column 'idd' is not in the table. Did you mean 'id'?",
    }


def test_rules_without_mistakes(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = command("validate")
    assert (done.exit_code, done.stdout) == (0, "7 rules of 3 assets: no mistake.\n")
    file = tmp_path / "rules.yaml"
    file.write_text("asset: customers\nrules: [{type: column_unique, columns: [x]}]", "utf-8")
    assert command("validate", str(file)).exit_code == 1
    # Without an instance, definitions are all that there is.
    monkeypatch.delenv("DAGSTER_HOME")
    blind = command("validate", str(file))
    assert blind.exit_code == 0
    assert blind.stdout.splitlines() == [
        "No columns are on record of customers: names were not looked up.",
        "1 rule of 1 asset: no mistake.",
    ]
    nothing = command("validate", str(tmp_path / "none.yaml"))
    assert (nothing.exit_code, "none.yaml' does not exist." in nothing.stderr) == (2, True)


def test_assets_and_columns_without_rules(command: Command) -> None:
    done = command("coverage")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["asset", "rules", "columns", "with", "rules", "columns", "without"]
    # A quarantine needs no rules; a disabled rule is none.
    assert lines[2:] == [
        "prices none (and 1 other check) 0 of 2 sku, price".split(),
        "customers 2 1 of 3 id, town".split(),
        "payments 1 1 of 2 note".split(),
        "visits 3 1 of 1".split(),
        "3 of 4 assets have rules (75 %)".split(),
        "3 of 8 columns on record have rules (38 %)".split(),
    ]
    assert done.exit_code == 0
    found = json.loads(command("coverage", "customers", "--json").stdout)
    assert found == {
        "share_of_assets": 1.0,
        "share_of_columns": pytest.approx(1 / 3),
        "assets": [
            {
                "asset": "customers",
                "rules": 2,
                "other_checks": 0,
                "columns": ["id", "mail", "town"],
                "columns_without_rules": ["id", "town"],
                "rules_that_name_no_columns": 0,
            }
        ],
    }


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--min-assets", "75"], 0),
        (["--min-assets", "76"], 1),
        (["--min-columns", "37.5"], 0),
        (["--min-columns", "38"], 1),
        (["custmers"], 2),
        (["--min-assets", "101"], 2),
    ],
)
def test_coverage_ends_with_a_code_for_scripts(
    command: Command, arguments: list[str], code: int
) -> None:
    assert command("coverage", *arguments).exit_code == code


def test_what_is_measured_is_explained(command: Command) -> None:
    done = command("explain", "visits")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "visits: 3 rules -> 4 metrics -> 2 Spark passes"
    assert "Pass 1: one aggregation over the rows, by partition; 2 metrics" in lines
    found = json.loads(command("explain", "visits", "--rule", "many", "--json").stdout)
    assert found["rules"] == [
        {"rule": "many", "type": "record_count_in_range", "metrics": ["record_count"]}
    ]
    assert [step["metrics"] for step in found["passes"]] == [["record_count"]]
    unknown = command("explain", "vists")
    assert (unknown.exit_code, "Did you mean 'visits'?" in unknown.stderr) == (2, True)


def explained(*arguments: Any) -> Result:
    return CliRunner().invoke(main, ["explain", *map(str, arguments)])


def test_rules_of_files_are_explained_without_a_code_location(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("asset: o\nrules: [{type: column_unique, columns: [x]}]", encoding="utf-8")
    assert explained("--rules", file).stdout.startswith("o: 1 rule -> 2 metrics -> 1 Spark pass\n")
    assert "Give the ASSET of a code location, or --rules FILE." in explained().stderr
    assert "Give either --rules, or" in explained("--rules", file, "-m", "x").stderr
