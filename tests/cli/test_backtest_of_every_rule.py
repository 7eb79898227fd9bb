"""`dq-dagster backtest` judges what each check observed, whatever rule it is."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest
from click.testing import CliRunner

import dq_dagster as dq
from dq_dagster.cli.main import main
from dq_dagster.rules.catalogue import RULE_TYPES
from dq_dagster.sources.yaml.text import to_yaml
from tests.integration.shelf import asset_of, by_name, metadata_of, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RUNS = 3
COLUMNS = {"columns": ["n", "m"]}
# One rule of each type, with what it observes in each run, by the key on record: an age, or a
# size, is taken from what the run said.
RULES: dict[str, dict[str, Any]] = {
    "column_min_in_range": {**COLUMNS, "min": 0},
    "column_max_in_range": {"columns": "n", "min": 0},
    "column_avg_in_range": {**COLUMNS, "min": 0},
    "column_sum_in_range": {"columns": "price", "min": 0},
    "column_stddev_in_range": {"columns": "n", "max": 10},
    "column_median_in_range": {"columns": "n", "min": 0, "approximate": True},
    "column_min_typical": {"columns": "n"},
    "column_max_typical": {"columns": "n"},
    "column_avg_typical": {**COLUMNS},
    "column_sum_typical": {"columns": "price", "where": "n > 0"},
    "column_stddev_typical": {"columns": "n"},
    "column_median_typical": {"columns": "n"},
    "column_empty_count_typical": {"columns": "t"},
    "column_unique_count_typical": {"columns": "t"},
    "record_count_typical": {},
    "column_count_typical": {},
    "metric_typical": {"metric": "column_avg:n"},
    "column_unique": {"columns": ["n", "t"]},
    "unique_key": {"columns": ["n", "t"]},
    "column_top_values_in_set": {"columns": "t", "values": ["a"], "top": 1},
    "column_most_frequent_in_set": {"columns": "t", "values": ["a"]},
    "column_not_empty": {"columns": ["t", "n"]},
    "column_empty": {"columns": "t"},
    "column_values_in_set": {"columns": "t", "values": ["a"]},
    "column_values_not_in_set": {"columns": "t", "values": ["b"]},
    "column_values_in_range": {"columns": "n", "max": 3, "soft_max": 2},
    "column_value_lengths_in_range": {"columns": "t", "max": 0},
    "column_values_match": {"columns": "t", "pattern": "a"},
    "column_values_not_match": {"columns": "t", "pattern": "b"},
    "column_valid_meaning": {"columns": "t", "meaning": "decimal"},
    "column_values_in_reference": {"columns": "n", "reference": {"asset": "ones"}},
    "metric_in_range": {"metric": {"sql": "sum(price)"}, "min": 0},
    "metric_in_set": {"metric": "column_max:n", "values": [1.0]},
    "compare_metrics": {"metric": "column_min:n", "operator": "<=", "other": "column_max:n"},
    "python": {"function": "tests.rules.types.functions:with_limit", "arguments": {"limit": 7}},
    "record_count_in_range": {"min": 1, "where": "n > 1"},
    "column_count_in_range": {"min": 4},
    "file_size_in_range": {"min": 0},
    "schema_equals": {"expected": [{"name": "t", "type": "string", "max_length": 9}]},
    "schema_contains": {"expected": [{"name": "x", "type": "string", "max_length": 1}]},
    "freshness": {"columns": ["at", "on"], "max": "1 day"},
    "row_inserted_count_in_range": {"columns": "at", "window": "1 day", "min": 1},
    "row_dq": {"expectation": "n > 2"},
    "agg_dq": {"expectation": "avg(n) > 0 and max(m) > 1"},
    "template": {
        "template": "column_sum",
        "parameters": {"column": "m"},
        "holds_when": "> 0",
    },
    "table_diff": {"keys": "n", "reference": {"asset": "ones"}},
    "query_dq": {"expectation": "(select avg(n) from {table}) > 0"},
}
# These observe texts, of which none is a number.
WITHOUT_NUMBERS = {"column_top_values_in_set", "column_most_frequent_in_set"}


def test_every_rule_type_is_tried() -> None:
    assert set(RULES) == set(RULE_TYPES)


def declared(kind: str) -> dict[str, Any]:
    return {"type": kind, "name": kind, "blocking": False, **RULES[kind]}


@pytest.fixture(scope="module")
def observed(
    tmp_path_factory: pytest.TempPathFactory, spark: SparkSession
) -> tuple[Path, list[dict[str, Any]]]:
    """A folder with rules and the record of some runs, and what the checks observed in each."""
    home = tmp_path_factory.mktemp("dagster_home")
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n", encoding="utf-8")
    rules = [declared(kind) for kind in RULES]
    (home / "rules.yaml").write_text(to_yaml({"asset": "orders", "rules": rules}), encoding="utf-8")
    ones = asset_of(spark.createDataFrame([(1.0,)], "n double"), "ones")
    found = []
    with dg.DagsterInstance.from_config(str(home)) as instance:
        for number in range(RUNS):
            path = str(home / f"data_{number}")
            made(spark, number).coalesce(1).write.parquet(path)
            rule_set = dq.RuleSet(asset="orders", rules=rules)
            result = run([asset_of(spark.read.parquet(path)), ones], rule_set, instance=instance)
            found.append({name: metadata_of(one) for name, one in by_name(result).items()})
    return home, found


def made(spark: SparkSession, number: int) -> Any:
    """A table in which every rule observes something else in each run."""
    start = datetime(2024, 3, 1 + number, tzinfo=UTC)
    rows = [
        (
            float(n),
            n * n + number,
            None if n % (3 + number) == 0 else "ab"[n % 2] * (n // 4),
            n + number,
            start - timedelta(hours=n),
            date(2024, 3, 1 + number),
        )
        for n in range(5 + 3 * number)
    ]
    schema = "n double, m int, t string, price decimal(38, 10), at timestamp, on date"
    return spark.createDataFrame(
        [(n, m, t, Decimal(p), at, on) for n, m, t, p, at, on in rows], schema
    )


def numbers(value: Any) -> list[float]:
    """The numbers among what was observed, be it by column or not."""
    every = value.values() if isinstance(value, dict) else [value]
    return sorted(one for one in every if isinstance(one, int | float))


@pytest.mark.parametrize("given", ["without rules", "with rules"])
@pytest.mark.parametrize("kind", RULES)
def test_what_was_observed_is_what_is_judged(
    observed: tuple[Path, list[dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    given: str,
) -> None:
    home, runs = observed
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    rules = ("--rules", str(home / "rules.yaml")) if given == "with rules" else ()
    arguments = ("backtest", kind, "--asset", "orders", *rules, "--learning-period", "1", "--json")
    done = CliRunner().invoke(main, arguments)
    if kind in WITHOUT_NUMBERS:
        assert (done.exit_code, done.stdout) == (2, "")
        assert "recorded no number that the rule could judge" in done.stderr
        return
    assert done.exit_code == 0, done.stderr
    points = json.loads(done.stdout)["points"]
    judged: dict[str, list[float]] = {}
    for point in sorted(points, key=lambda point: str(point["time"])):
        judged.setdefault(point["time"], []).append(point["value"])
    assert [sorted(values) for values in judged.values()] == [
        pytest.approx(numbers(one[kind]["dq/observed"]), rel=1e-12) for one in runs
    ]


def test_the_record_says_what_was_observed(
    observed: tuple[Path, list[dict[str, Any]]],
) -> None:
    _, [first, *_] = observed
    said = {kind: entries["dq/record"] for kind, entries in first.items()}
    # Each key is written once: what was measured beside stands apart.
    assert set(said["column_max_in_range"]["observed"]) == {"column_max:n"}
    assert set(said["column_max_in_range"]["metrics"]) == {"count_value:n"}
    assert set(said["column_min_in_range"]["observed"]) == {"column_min:m", "column_min:n"}
    assert set(said["file_size_in_range"]["observed"]) == {"file_size"}
    # What is made of several metrics is the value of none.
    assert set(said["freshness"]["derived"]) == {"age:at", "age:on"}
    assert said["freshness"]["derived"]["age:at"] == first["freshness"]["dq/observed"]["at"]
    assert set(said["schema_equals"]["derived"]) == {"observed"}
