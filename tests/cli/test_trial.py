"""`dq-dagster test`: rules tried on data, from the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from dq_dagster.cli.main import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
ORDERS = str(ROOT / "docs" / "orders.csv")
RULES = """
asset: orders
rules:
  - {type: record_count_in_range, name: rows, min: 8}
  - {type: column_values_in_set, name: countries, columns: [country], values: [DE, FR, NO]}
  - {type: column_avg_in_range, name: amounts, columns: [amount], soft_max: 10, where: items < 3}
  - {type: column_empty, name: old, columns: [email], enabled: false}
"""


@pytest.fixture
def rules(tmp_path: Path) -> str:
    return written(tmp_path, RULES)


def written(folder: Path, text: str, name: str = "rules.yaml") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def tried(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["test", *arguments])


def statuses(*arguments: str) -> dict[str, str]:
    found = json.loads(tried(*arguments, "--json").stdout)
    return {outcome["rule"]: outcome["status"] for outcome in found["outcomes"]}


def test_it_shows_the_plan_and_every_outcome(spark: SparkSession, rules: str) -> None:
    done = tried(rules, "--data", ORDERS)
    assert done.stdout == (
        "orders: 3 rules -> 5 metrics -> 1 Spark pass\n"
        "\n"
        "Ok       rows       The number of rows is 8, as expected (at least 8).\n"
        "Error    countries  1 of 8 values (12.5 %) of 'country' is not in the set of 3 values "
        "(none allowed).\n"
        "                    values: 'XX' (1)\n"
        "Warning  amounts    The average of 'amount' is 25.63, above the soft maximum of 10 "
        "(rows where items < 3).\n"
        "\n"
        "3 outcomes: 1 Error, 1 Warning, 1 Ok\n"
    )
    assert done.stderr.startswith("Starting Spark ... ")
    assert done.exit_code == 1


def test_machines_get_json(spark: SparkSession, rules: str) -> None:
    done = tried(rules, "--data", ORDERS, "--rule", "countries", "--json")
    assert json.loads(done.stdout) == {
        "asset": "orders",
        "status": "Error",
        "plan": "1 rule -> 2 metrics -> 1 Spark pass",
        "outcomes": [
            {
                "rule": "countries",
                "type": "column_values_in_set",
                "status": "Error",
                "message": (
                    "1 of 8 values (12.5 %) of 'country' is not in the set of 3 values "
                    "(none allowed)."
                ),
                "observed": 1,
                "expected": "none allowed",
                "bounds": {"max": 0},
                "rows": 8,
                "failed_rows": 1,
                "metrics": {
                    "count_not_in_set:country ['DE', 'FR', 'NO']": 1,
                    "count_value:country": 8,
                },
                "details": {},
                "samples": [{"columns": ["country"], "values": ["XX"], "rows": 1}],
            }
        ],
    }
    assert done.exit_code == 1


def test_values_can_be_left_out(spark: SparkSession, rules: str) -> None:
    assert "values:" not in tried(rules, "--data", ORDERS, "--no-samples").stdout
    found = json.loads(tried(rules, "--data", ORDERS, "--no-samples", "--json").stdout)
    assert [outcome["samples"] for outcome in found["outcomes"]] == [[], [], []]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--rule", "rows"], 0),
        (["--rule", "rows", "--strict"], 0),
        (["--rule", "amounts"], 0),
        (["--rule", "amounts", "--strict"], 1),
        (["--rule", "rows", "--where", "order_id > 1"], 1),
    ],
)
def test_the_exit_code_says_whether_rules_hold(
    spark: SparkSession, rules: str, arguments: list[str], code: int
) -> None:
    assert tried(rules, "--data", ORDERS, *arguments).exit_code == code


def test_a_disabled_rule_is_tried_if_it_is_named(spark: SparkSession, rules: str) -> None:
    assert "old" not in statuses(rules, "--data", ORDERS)
    assert statuses(rules, "--data", ORDERS, "--rule", "old", "--rule", "rows") == {
        "old": "Error",
        "rows": "Ok",
    }


def test_queries_are_tried_like_other_rules(spark: SparkSession, tmp_path: Path) -> None:
    file = written(
        tmp_path,
        """
asset: orders
rules:
  - type: query_dq
    name: known
    expectation: select count(*) = 0 from {table} left anti join {orders} using (customer)
    references: {orders: {files: FILE, format: csv, options: {header: "true"}}}
  - type: query_dq
    name: sums
    expectation: (select sum(amount) from {table} where items > :items) > 1000
    parameters: {items: 1}
""".replace("FILE", ORDERS),
    )
    assert statuses(file, "--data", ORDERS) == {"known": "Ok", "sums": "Error"}


@pytest.mark.parametrize(
    ("kind", "options"), [("parquet", []), ("json", []), ("csv", ["--option", "sep=;"])]
)
def test_files_of_any_format_are_read(
    spark: SparkSession, rules: str, tmp_path: Path, kind: str, options: list[str]
) -> None:
    folder = str(tmp_path / "orders")
    table = spark.read.csv(ORDERS, header=True, inferSchema=True)
    table.write.format(kind).options(header=True, sep=";").save(folder)
    found = statuses(rules, "--data", folder, *options)
    assert found == {"rows": "Ok", "countries": "Error", "amounts": "Warning"}
    assert statuses(rules, "--data", folder, "--format", kind, *options) == found


def test_a_table_of_the_catalog_is_read(spark: SparkSession, rules: str) -> None:
    spark.read.csv(ORDERS, header=True, inferSchema=True).createOrReplaceTempView("cli_orders")
    assert statuses(rules, "--table", "cli_orders", "--rule", "rows") == {"rows": "Ok"}


def test_an_asset_can_be_chosen(spark: SparkSession, tmp_path: Path) -> None:
    written(tmp_path, RULES)
    written(tmp_path, RULES.replace("asset: orders", "asset: shop/returns"), "returns.yml")
    found = json.loads(
        tried(str(tmp_path), "--asset", "shop/returns", "--data", ORDERS, "--json").stdout
    )
    assert found["asset"] == "shop/returns"


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        (RULES, [], "either --data PATH or --table NAME"),
        (RULES, ["--data", ORDERS, "--table", "t"], "either --data PATH or --table NAME"),
        (RULES, ["--table", "t", "--format", "csv"], "--format and --option describe files"),
        (RULES, ["--data", "nowhere.csv"], "'nowhere.csv' does not exist."),
        (RULES, ["--data", ORDERS, "--asset", "order"], "no asset 'order'. Did you mean 'orders'?"),
        (RULES, ["--data", ORDERS, "--rule", "row"], "no rule 'row'. Did you mean 'rows'?"),
        (
            RULES,
            ["--data", ORDERS, "--rule", "zz"],
            "no rule 'zz'. There is: rows, countries, amounts, old.",
        ),
        (RULES, ["--data", ORDERS, "--where", "sum(a) > 1"], "--where: 'sum(a)' is an aggregate"),
        (RULES, ["--data", ORDERS, "--now", "noon"], "'noon' is not a time such as 2024-03-09"),
        (RULES, ["--data", ORDERS, "--option", "header"], "'header' is not of the form KEY=VALUE"),
        ("asset: o\nrules: [", ["--data", ORDERS], "rules.yaml:2: not valid YAML"),
        ("asset: o\nrules: []", ["--data", ORDERS], "Asset 'o' has no enabled rule."),
        ("# nothing", ["--data", ORDERS], "There are no rules: a file needs 'asset: ...'"),
        (
            "asset: o\nrules: [{type: row_dq, name: a, expectation: x, enabled: false}]",
            ["--data", ORDERS],
            "Asset 'o' has no enabled rule: name one with --rule (a).",
        ),
        (
            "assets: [{asset: a, rules: []}, {asset: b, rules: []}]",
            ["--data", ORDERS],
            "rules of several assets: name one with --asset (a, b).",
        ),
        (
            "asset: o\nrules: [{type: column_not_empty, colums: a}]",
            ["--data", ORDERS],
            "rules.yaml:2, rule 'column_not_empty', asset 'o': unknown field 'colums'.",
        ),
    ],
)
def test_bad_input_is_told_before_spark_starts(
    tmp_path: Path, text: str, arguments: list[str], said: str
) -> None:
    done = tried(written(tmp_path, text), *arguments)
    assert said in done.stderr
    assert "Starting Spark" not in done.stderr
    assert (done.stdout, done.exit_code) == ("", 2)


def test_rules_that_are_not_there_are_reported() -> None:
    done = tried("nowhere.yaml", "--data", ORDERS)
    assert "'nowhere.yaml' does not exist." in done.stderr
    assert done.exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--table", "no.such"], "Table 'no.such' cannot be read: The table or view `no`.`such`"),
        (["--data", ORDERS, "--format", "parquet"], "cannot be read as parquet: "),
        (["--data", ORDERS, "--format", "nonsense"], "Failed to find the data source: nonsense."),
        (["--data", ORDERS, "--format", "json"], "holds no JSON objects, one on each line."),
        (["--data", ORDERS, "--where", "zz > 1"], "'zz > 1' cannot be used as a row filter: "),
        (["--data", ORDERS, "--where", "amount"], "is not a boolean."),
    ],
)
def test_data_that_cannot_be_read_is_reported(
    spark: SparkSession, rules: str, arguments: list[str], said: str
) -> None:
    done = tried(rules, *arguments)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert (done.stdout, done.exit_code) == ("", 2)


def test_colours_are_for_terminals_that_want_them(
    spark: SparkSession, rules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def coloured() -> str:
        arguments = ["test", rules, "--data", ORDERS, "--rule", "rows"]
        return CliRunner().invoke(main, arguments, color=True).stdout

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[32mOk" in coloured()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in coloured()


@pytest.mark.deep
def test_a_process_of_its_own_starts_spark_without_noise(rules: str) -> None:
    command = [sys.executable, "-m", "dq_dagster.cli", "test", rules, "--data", "docs/orders.csv"]
    done = process(*command, "--rule", "rows", "--conf", "spark.master=local[1]")
    assert done.stdout.splitlines()[2].startswith("Ok       rows  The number of rows is 8")
    assert done.stderr.startswith("Starting Spark ... ")
    assert len(done.stderr.splitlines()) == 1
    assert done.returncode == 0


def test_a_spark_that_does_not_start_is_reported(rules: str) -> None:
    command = [sys.executable, "-m", "dq_dagster.cli", "test", rules, "--data", "docs/orders.csv"]
    done = process(*command, "--conf", "spark.master=nonsense")
    assert "Spark does not start (" in done.stderr
    assert "Master must either be yarn or start with" in done.stderr
    assert "\tat " not in done.stderr
    assert (done.stdout, done.returncode) == ("", 2)


def process(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_rules_without_a_past_say_that_they_are_learning(
    spark: SparkSession, tmp_path: Path
) -> None:
    text = "asset: orders\nrules:\n  - {type: record_count_typical, name: rows, where: items < 3}\n"
    file = written(tmp_path, text)
    done = tried(file, "--data", ORDERS)
    assert done.exit_code == 0
    assert (
        "Empty    rows  The number of rows is 5. Still learning: 0 of 7 earlier values are there, "
        "7 to go (rows where items < 3).\n"
    ) in done.stdout
    assert statuses(file, "--data", ORDERS) == {"rows": "Empty"}
