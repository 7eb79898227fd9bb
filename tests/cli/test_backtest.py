"""`dq-dagster backtest`: change detection tried out on what real runs recorded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest
from click.testing import CliRunner, Result
from PIL import Image

import dq_dagster as dq
from dq_dagster.cli.backtest import drawn
from dq_dagster.cli.main import main
from dq_dagster.evaluation.backtest.result import BacktestPoint
from tests.integration.calendar import Shop, day, orders_asset, statuses
from tests.integration.shelf import asset_of, record_of, run, status_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIZES = [4, 5, 6, 5, 4, 30, 5, 6]
RULES = [
    dq.RecordCountTypical(name="rows", learning_period=3, lookback_window=5, blocking=False),
    dq.ColumnAvgInRange(name="mean", columns=["amount"], max=50, blocking=False),
]
YAML = """
asset: orders
rules:
  - {type: record_count_typical, name: rows, learning_period: 4, lookback_window: 6}
  - {type: column_avg_in_range, name: mean, columns: [amount], max: 50}
  - {type: column_avg_in_range, name: other, columns: [price], max: 50}
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    """Eight days of "orders" in one run, and three runs of "people", which has no partitions."""
    folder = tmp_path_factory.mktemp("dagster_home")
    (folder / "dagster.yaml").write_text("telemetry: {enabled: false}\n", encoding="utf-8")
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        amounts: dict[str, Sequence[float | None]] = {
            day(n): [float(n)] * size for n, size in enumerate(SIZES, 1)
        }
        shop = Shop(orders_asset(spark, amounts), RULES, instance=instance)
        said = statuses(shop.build(day(1), day(8)))
        assert said["rows", day(6)] == "Error"
        frame = spark.createDataFrame([("Ada", 36), ("Bo", None)], "name string, age int")
        people = dq.RuleSet(
            asset="people",
            rules=[dq.ColumnNotEmpty(name="filled", columns=["name", "age"], blocking=False)],
        )
        for _ in range(3):
            run([asset_of(frame, "people")], people, instance=instance)
    return folder


@pytest.fixture
def tried(home: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    return backtest


def backtest(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["backtest", *arguments])


SHORT = ("--learning-period", "3", "--lookback-window", "5")


def test_a_table_of_points_between_their_bounds(tried: Any) -> None:
    done = tried("rows", "--asset", "orders", *SHORT)
    assert done.exit_code == 0, done.output
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert lines[:3] == [
        "orders, rows, judged by the last 5 values after 3 values, 1.5 IQR",
        "",
        "record_count",
    ]
    assert lines[3].split() == ["point", "value", "status", "from", "to"]
    assert lines[5:] == [
        "2024-03-01     4 learning",
        "2024-03-02     5 learning",
        "2024-03-03     6 learning",
        "2024-03-04     5 Ok          3      |----•----|      7",
        "2024-03-05     4 Ok          4      •---------|      6",
        "2024-03-06    30 Error     2.5      |---------|    x 6.5",
        "2024-03-07     5 Ok        3.5      |---•-----|      7.5",
        "2024-03-08     6 Ok        3.5      |-----•---|      7.5",
        "8 points: 1 Error, 0 Warning, 4 Ok, 3 learning",
    ]


def test_it_says_what_the_checks_said(tried: Any, home: Path) -> None:
    found = json.loads(tried("rows", "--asset", "orders", *SHORT, "--json").stdout)
    assert (found["asset"], found["check"], found["left_out"]) == ("orders", "rows", 0)
    assert found["headline"] == "8 points: 1 Error, 0 Warning, 4 Ok, 3 learning"
    assert found["counts"] == {"Empty": 3, "Ok": 4, "Error": 1}
    with dg.DagsterInstance.from_config(str(home)) as instance:
        records = instance.event_log_storage.get_asset_check_execution_history(
            dg.AssetCheckKey(dg.AssetKey("orders"), "rows"), limit=20
        )
    events: list[Any] = [record.event for record in records]
    live = {
        one.partition: (status_of(one), record_of(one).metrics)
        for one in (event.dagster_event.event_specific_data for event in events)
    }
    assert {
        point["partition"]: (point["status"], {"record_count": point["value"]})
        for point in found["points"]
    } == live
    assert found["points"][5] == {
        "time": "2024-03-06T00:00:00+00:00",
        "partition": day(6),
        "metric": "record_count",
        "value": 30,
        "status": "Error",
        "min": 2.5,
        "soft_min": None,
        "soft_max": None,
        "max": 6.5,
        "message": "'record_count' is 30, above the typical maximum of 6.5 (5 earlier values: half "
        "of them between 4 and 5).",
    }


@pytest.fixture
def rules(tmp_path: Path) -> str:
    file = tmp_path / "rules.yaml"
    file.write_text(YAML, encoding="utf-8")
    return str(file)


def test_a_rule_gives_the_parameters_to_start_from(tried: Any, rules: str) -> None:
    done = tried("rows", "--asset", "orders", "--rules", rules, "--soft-iqr-factor", "0.5")
    lines = done.stdout.splitlines()
    assert (
        lines[0] == "orders, rows, judged by the last 6 values after 4 values, 1.5 IQR (soft: 0.5)"
    )
    assert lines[-1] == "8 points: 1 Error, 1 Warning, 2 Ok, 4 learning"


def test_a_rule_of_another_type_with_the_same_metric(tried: Any, rules: str) -> None:
    done = tried("mean", "--asset", "orders", "--rules", rules, *SHORT, "--json")
    found = json.loads(done.stdout)
    assert {point["metric"] for point in found["points"]} == {"column_avg:amount"}
    assert found["points"][3]["message"] == (
        "The average of 'amount' is 4, as is typical (0 to 4; 3 earlier values: half of them "
        "between 1.5 and 2.5)."
    )


def test_without_a_rule_what_was_observed_is_judged(tried: Any) -> None:
    mean = json.loads(tried("mean", "--asset", "orders", "--json").stdout)
    assert {point["metric"] for point in mean["points"]} == {"column_avg:amount"}
    done = tried("filled", "--asset", "people", "--learning-period", "1")
    assert done.exit_code == 0
    headings = [line for line in done.stdout.splitlines() if line.startswith("count_empty:")]
    assert headings == ["count_empty:age", "count_empty:name"]
    assert done.stdout.endswith("\nIn all 6 points: 0 Error, 0 Warning, 4 Ok, 2 learning\n")
    rows = tried("filled", "--asset", "people", "--metric", "record_count")
    assert rows.stdout.splitlines()[2] == "record_count"


def test_all_parameters_are_reported(tried: Any) -> None:
    done = tried(
        "rows", "--asset", "orders", "--period-unit", "days", "--learning-period", "1",
        "--lookback-window", "9", "--iqr-factor", "2", "--soft-iqr-factor", "1", "--min-iqr", "3",
        "--exclude-errors", "--baseline", "previous_partitions",
    )  # fmt: skip
    assert done.stdout.splitlines()[0] == (
        "orders, rows, judged by the last 9 days after 1 day, 2 IQR (soft: 1), an IQR of at least "
        "3, without Errors"
    )


def test_one_partition(tried: Any) -> None:
    found = json.loads(
        tried("rows", "--asset", "orders", *SHORT, "--partition", day(6), "--json").stdout
    )
    [point] = found["points"]
    assert (point["partition"], point["status"], point["max"]) == (day(6), "Error", 6.5)


def test_a_chart_is_written(tried: Any, tmp_path: Path) -> None:
    file = tmp_path / "chart.png"
    done = tried("filled", "--asset", "people", "--chart", str(file))
    assert done.exit_code == 0
    with Image.open(file) as image:
        assert (image.format, image.size) == ("PNG", (840, 280))
    nowhere = tried("rows", "--asset", "orders", "--chart", str(tmp_path / "no" / "chart.png"))
    assert nowhere.exit_code == 2
    assert "chart.png' cannot be written: No such file or directory." in nowhere.stderr


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (
            ("row", "--asset", "orders"),
            "Nothing is on record for check 'row' of asset 'orders'. Did you mean 'rows'?",
        ),
        (
            ("xyz", "--asset", "orders"),
            "Nothing is on record for check 'xyz' of asset 'orders'. There is: mean, rows.",
        ),
        (
            ("rows", "--asset", "order"),
            "No check of asset 'order' is on record. Did you mean 'orders'?",
        ),
        (
            ("rows", "--asset", "zzz"),
            "No check of asset 'zzz' is on record. There is: orders, people.",
        ),
        (
            ("rows", "--asset", "orders", "--metric", "recordcount"),
            "No number of 'recordcount' is on record. Did you mean 'record_count'?",
        ),
        (
            ("rows", "--asset", "orders", "--partition", "2024-04-09"),
            "Partition '2024-04-09' has no number on record. Did you mean",
        ),
        (
            ("rows", "--asset", "orders", "--iqr-factor", "-1"),
            "rule 'backtest': field 'iqr_factor': must be more than 0.",
        ),
        (
            ("filled", "--asset", "people", "--rules", "RULES"),
            "There is no asset 'people'. There is: orders.",
        ),
        (
            ("rws", "--asset", "orders", "--rules", "RULES"),
            "There is no rule 'rws'. Did you mean 'rows'?",
        ),
    ],
)
def test_what_cannot_be_answered_is_reported(
    tried: Any, rules: str, arguments: tuple[str, ...], reported: str
) -> None:
    done = tried(*(rules if word == "RULES" else word for word in arguments))
    assert (done.exit_code, done.stdout) == (2, "")
    assert reported in done.stderr


def test_a_rule_on_other_numbers_is_reported(tried: Any, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    rule = "{type: column_avg_typical, name: mean, columns: [price]}"
    file.write_text(f"asset: orders\nrules:\n  - {rule}\n", encoding="utf-8")
    done = tried("mean", "--asset", "orders", "--rules", str(file))
    assert done.exit_code == 2
    assert done.stderr == (
        "Error: The evaluations of check 'mean', 8 in all, recorded no number that the rule could "
        "judge. On record is: column_avg:amount, count_value:amount.\n"
    )


def test_without_an_instance_nothing_can_be_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    done = backtest("rows", "--asset", "orders")
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: DAGSTER_HOME is not set: let it name the folder of")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "nowhere"))
    done = backtest("rows", "--asset", "orders")
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: The Dagster instance cannot be opened: ")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    done = backtest("rows", "--asset", "orders")
    assert done.stderr == "Error: No check of asset 'orders' is on record.\n"
    assert done.exit_code == 2


@pytest.mark.parametrize(
    ("value", "bounds", "line"),
    [
        (5, {"min": 0, "max": 10}, "     |----•----|"),
        (0, {"min": 0, "max": 10}, "     •---------|"),
        (10, {"min": 0, "max": 10}, "     |---------•"),
        (-0.001, {"min": 0, "max": 10}, "    x|---------|"),
        (-1e300, {"min": 0, "max": 10}, "x    |---------|"),
        (10.5, {"min": 0, "max": 10}, "     |---------|x"),
        (12, {"min": 0, "max": 10}, "     |---------| x"),
        (1e300, {"min": 0, "max": 10}, "     |---------|    x"),
        (2, {"min": 0, "soft_min": 3, "soft_max": 8, "max": 10}, "     |-•:----:-|"),
        (7, {"min": 7, "max": 7}, "          •"),
        (8, {"min": 7, "max": 7}, "          |         x"),
        (6, {"min": 7, "max": 7}, "x         |"),
        (7, {}, ""),
    ],
)
def test_a_point_is_drawn_between_its_bounds(
    value: float, bounds: dict[str, float], line: str
) -> None:
    at = datetime(2024, 3, 1, tzinfo=UTC)
    assert drawn(BacktestPoint(at, None, "m", value, dq.Status.OK, "", bounds)) == line
