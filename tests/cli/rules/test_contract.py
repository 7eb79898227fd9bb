"""`dq-dagster contract`: import, export, and changes judged on what real runs recorded."""

# ruff: noqa: E501 (one case a line)
from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest
from click.testing import CliRunner, Result

import dq_dagster as dq
from dq_dagster.cli.main import main
from tests.integration.calendar import Shop, day, orders_asset
from tests.integration.shelf import asset_of, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: shop
version: 1.0.0
status: active
schema:
  - name: orders
    properties:
      - {name: id, required: true, description: the key}
    quality:
      - {metric: rowCount, mustBeGreaterThan: 0}
      - {type: text, description: nice}
      - {type: sql, query: select count(*) from orders, mustBe: 3}
  - name: people
    properties: [{name: id, unique: true}]
"""
OLD = """\
asset: orders
rules:
  - {type: record_count_in_range, name: rows, min: 1}
  - {type: column_avg_in_range, name: mean, columns: [amount], max: 50}
  - {type: column_not_empty, columns: [amount]}
"""
NEW = """\
asset: orders
rules:
  - {type: record_count_in_range, name: rows, min: 5}
  - {type: column_avg_in_range, name: mean, columns: [amount], max: 60, soft_max: 3}
  - {type: column_sum_in_range, columns: [amount], max: 5}
  - {type: record_count_typical, learning_period: 3, lookback_window: 5}
  - {type: record_count_in_range, name: whole, min: 1000, scope: whole_dataset}
  - {type: column_not_empty, columns: [amount]}
"""
SIZES = [4, 5, 6, 5, 4, 30, 5, 6]


def contract(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["contract", *arguments])


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "shop.odcs.yaml"
    path.write_text(CONTRACT, encoding="utf-8")
    return str(path)


def test_import_writes_rules_and_prints_the_report(file: str, tmp_path: Path) -> None:
    output = tmp_path / "rules.yaml"
    done = contract("import", file, "-o", str(output))
    assert done.exit_code == 1
    assert done.stdout.startswith(
        "6 elements: 1 refused, 4 taken as they are, 1 documentation\n\nRefused\n"
        "  orders.quality 2 (text)  [orders; shop.odcs.yaml:12]\n"
    )
    assert dq.load_rules(output) == dq.load_contract(file).rule_sets
    done = contract(
        "import", file, "--object", "people", "--asset", "crm/people", "--report", "json"
    )
    assert done.exit_code == 0
    assert done.stdout.startswith("asset: crm/people\nrules:\n  - type: column_unique\n")
    assert json.loads(done.stderr)["counts"]["not chosen"] == 1
    done = contract("import", file, "--untrusted")
    assert "It has a query, and this source is not trusted with that" in done.stderr
    done = contract("import", str(tmp_path / "none.yaml"))
    assert (done.exit_code, "is not a file." in done.stderr) == (2, True)


def test_export_and_import_are_the_way_there_and_back(tmp_path: Path) -> None:
    rules, output = tmp_path / "rules.yaml", tmp_path / "x.odcs.yaml"
    rules.write_text(NEW, encoding="utf-8")
    done = contract("export", str(rules), "-o", str(output), "--id", "7", "--version", "2.0.0")
    assert done.exit_code == 0
    assert done.stdout.startswith("6 rules: 3 with another meaning here, 3 taken as they are\n")
    assert output.read_text().startswith(
        "apiVersion: v3.1.0\nkind: DataContract\nid: '7'\nname: orders\nversion: 2.0.0\n"
    )
    assert dq.load_contract(output).rule_sets == dq.load_rules(rules)
    done = contract("diff", str(rules), str(output))
    assert (done.exit_code, done.stdout) == (0, "No changes\n")


def test_rules_of_a_code_location(tmp_path: Path, file: str) -> None:
    code = tmp_path / "location_of_contract.py"
    code.write_text(
        "import dagster as dg\nimport dq_dagster as dq\n"
        "rules = dq.RuleSet(asset='orders', rules=[dq.RecordCountInRange(min=1)])\n"
        "defs = dg.Definitions(assets=[dg.AssetSpec('orders')], "
        "asset_checks=dq.build_asset_checks(rules))\n"
    )
    done = contract("export", "-f", str(code))
    assert (done.exit_code, "metric: rowCount" in done.stdout) == (0, True), done.output
    done = contract("diff", file, "-f", str(code))
    assert done.exit_code == 1
    assert "orders, column_not_empty_id: removed" in done.stdout
    done = contract("diff", file, file, "-f", str(code))
    assert (done.exit_code, "Give either a file" in done.stderr) == (2, True)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    """Eight days of "orders" in one run, and three runs of "people", which has no partitions."""
    folder = tmp_path_factory.mktemp("dagster_home")
    (folder / "dagster.yaml").write_text("telemetry: {enabled: false}\n", encoding="utf-8")
    (folder / "old.yaml").write_text(OLD, encoding="utf-8")
    (folder / "new.yaml").write_text(NEW, encoding="utf-8")
    rules = [
        dq.RecordCountInRange(name="rows", min=1, blocking=False),
        dq.ColumnAvgInRange(name="mean", columns=["amount"], max=50, blocking=False),
    ]
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        amounts: dict[str, Sequence[float | None]] = {
            day(n): [float(n)] * size for n, size in enumerate(SIZES, 1)
        }
        Shop(orders_asset(spark, amounts), rules, instance=instance).build(day(1), day(8))
        frame = spark.createDataFrame([("Ada", 36), ("Bo", None)], "name string, age int")
        filled = dq.ColumnNotEmpty(name="filled", columns=["age"], blocking=False)
        people = dq.RuleSet(asset="people", rules=[filled])
        for _ in range(3):
            run([asset_of(frame, "people")], people, instance=instance)
    return folder


@pytest.fixture
def compared(home: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("DAGSTER_HOME", str(home))

    def compare(*arguments: str) -> Result:
        return contract("diff", str(home / "old.yaml"), str(home / "new.yaml"), *arguments)

    return compare


def test_new_rules_are_judged_on_record(compared: Any) -> None:
    done = compared("--instance")
    assert done.exit_code == 1, done.output
    assert (
        done.stdout
        == """\
5 changes: 1 breaking, 4 stricter

Breaking: the promise is weaker, or another one
  orders, mean: weaker  [new.yaml:4]
    soft_max: 3, not given before (Warnings only)
    max: 60 instead of 50 (weaker)

Stricter: data that was fine may be an Error
  orders, rows: tighter  [new.yaml:3]
    min: 5 instead of 1 (tighter)
  orders, column_sum_in_range_amount: added  [new.yaml:5]
    The sum of 'amount' is at most 5.
  orders, record_count_typical: added  [new.yaml:6]
    The number of rows is typical of the last 5 values.
  orders, whole: added  [new.yaml:7]
    The number of rows is at least 1,000.

On record
  orders, mean: would have been Warning on 5 (2024-03-04, 2024-03-05, 2024-03-06, 2024-03-07, \
2024-03-08) of the last 8 days (as it was: 0)
  orders, rows: would have been Error on 2 (2024-03-01, 2024-03-05) of the last 8 days (as it \
was: 0)
  orders, column_sum_in_range_amount: not on record: column_sum:amount
  orders, record_count_typical: would have been Error on 1 (2024-03-06) of the last 8 days
  orders, whole: not on record: record_count
"""
    )


def test_machines_get_it_as_json(compared: Any) -> None:
    found = json.loads(compared("--instance", "--json", "--days", "4").stdout)
    assert found["counts"] == {"breaking": 1, "stricter": 4, "harmless": 0}
    rows = next(one for one in found["changes"] if one["rule"] == "rows")
    assert (rows["level"], rows["reasons"]) == ("stricter", ["min: 5 instead of 1 (tighter)"])
    record = rows["on_record"]
    assert (record["errors"], record["not_on_record"], len(record["days"])) == (1, 0, 4)
    assert record["days"][0] == {
        "day": "2024-03-05",
        "status": "Error",
        "message": "The number of rows is 4, below the minimum of 5.",
        "partition": "2024-03-05",
    }
    assert record["before"]["errors"] == 0
    summed = next(one for one in found["changes"] if one["rule"] == "column_sum_in_range_amount")
    assert summed["on_record"]["missing"] == ["column_sum:amount"]


def test_exit_codes(compared: Any, home: Path) -> None:
    new, old = str(home / "new.yaml"), str(home / "old.yaml")
    assert compared().exit_code == 1
    assert compared("--fail-on", "never").exit_code == 0
    stricter = home / "stricter.yaml"
    stricter.write_text(OLD.replace("min: 1", "min: 5"), encoding="utf-8")
    assert contract("diff", old, str(stricter)).exit_code == 0
    assert contract("diff", old, str(stricter), "--fail-on", "stricter").exit_code == 1
    on_record = ("--instance", "--fail-on", "error-on-record")
    assert contract("diff", old, str(stricter), *on_record).exit_code == 1
    assert contract("diff", old, str(stricter), *on_record, "--days", "1").exit_code == 0
    done = contract("diff", old, new, "--instance", "--zone", "Mars")
    assert (done.exit_code, "There is no time zone 'Mars'." in done.stderr) == (2, True)


def test_other_assets_and_those_without_partitions(compared: Any, home: Path) -> None:
    rules = home / "people.yaml"
    rules.write_text(
        "assets:\n- asset: people\n  rules: [{type: column_not_empty, columns: [age], threshold: 0.6}]\n"
        "- asset: nobody\n  rules: [{type: record_count_in_range, min: 1}]\n"
    )
    strict = home / "strict.yaml"
    strict.write_text(rules.read_text().replace("0.6", "0.4").replace("min: 1", "min: 2"))
    done = contract("diff", str(rules), str(strict), "--instance")
    lines = done.stdout.split("On record\n")[1].splitlines()
    # Three runs of one day are one day.
    assert lines[0].startswith("  people, column_not_empty_age: would have been Error on 1 (20")
    assert lines[0].endswith(") of the last 1 day (as it was: 0)")
    assert lines[1] == "  nobody, record_count_in_range: not on record: no check of asset 'nobody'"


def test_no_spark_is_started(compared: Any, home: Path) -> None:
    code = (
        "from click.testing import CliRunner; from pyspark import SparkContext\n"
        "from dq_dagster.cli.main import main\n"
        f"files = [{str(home / 'old.yaml')!r}, {str(home / 'new.yaml')!r}]\n"
        "done = CliRunner().invoke(main, ['contract', 'diff', *files, '--instance'])\n"
        "assert 'would have been' in done.output, done.output\n"
        "assert SparkContext._gateway is None, 'a JVM was started'"
    )
    # With the DAGSTER_HOME of the fixture.
    subprocess.run([sys.executable, "-c", code], check=True)
