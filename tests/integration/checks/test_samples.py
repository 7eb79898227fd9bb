"""Values of rows in Dagster's results: only of columns that are named, and of no sensitive ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.integration.checks.results import entries_of
from dq_dagster.integration.event_log.codec import Record
from dq_dagster.judging.judgement import Judgement
from dq_dagster.metrics.conditions import Sample
from tests.integration.shelf import by_name, check, metadata_of

CANARY = "canary-7f3a"
ROWS = [(CANARY, "XX", 1), (CANARY, "XX", 2), ("x", "DE", 3)]
SCHEMA = "name string, country string, n int"
RULES: list[dq.Rule] = [
    dq.ColumnValuesInSet(name="names", columns="name", values=["x"], blocking=False),
    dq.ColumnValuesInSet(name="countries", columns="country", values=["DE"], blocking=False),
    dq.RowExpectation(name="both", expectation="country = 'DE' AND name = 'x'", blocking=False),
    dq.UniqueKey(name="key", columns=["name", "country"], blocking=False),
    dq.ColumnNotEmpty(name="fine", columns="country"),
]


def samples_of(evaluation: dg.AssetCheckEvaluation) -> list[tuple[Any, ...]] | None:
    table: Any = evaluation.metadata.get("dq/samples")
    return None if table is None else [tuple(row.data.values()) for row in table.records]


def test_without_a_named_column_nothing_is_shown_and_no_query_is_run(
    spark: SparkSession, capfd: Any, count_jobs: Callable[[Callable[[], object]], int]
) -> None:
    found: dict[str, Any] = {}

    def jobs(**settings: Any) -> int:
        return count_jobs(lambda: found.update(check(spark, ROWS, SCHEMA, RULES, **settings)))

    assert jobs() == jobs(sensitive=["name"]) == jobs(samples=["n"]) < jobs(samples=["country"])
    found.clear()
    jobs()
    assert CANARY not in str(found)
    assert not any("dq/samples" in one.metadata for one in found.values())
    written = capfd.readouterr()
    assert CANARY not in written.out + written.err


def test_named_columns_are_shown_where_a_rule_is_about_no_others(
    spark: SparkSession, capfd: Any
) -> None:
    found = check(spark, ROWS, SCHEMA, RULES, samples=["Country"])
    assert {name: samples_of(one) for name, one in found.items()} == {
        "names": None,
        "countries": [("country", "'XX'", 2)],
        "both": None,
        "key": None,
        "fine": None,
    }
    assert CANARY not in str(found)
    # Only there: neither the description nor the record has it.
    countries = found["countries"]
    assert "XX" not in str(countries.description)
    assert "XX" not in json.dumps(metadata_of(countries)["dq/record"])
    written = capfd.readouterr()
    assert CANARY not in written.out + written.err
    assert "XX" not in written.out + written.err


def test_all_columns_of_a_rule_named(spark: SparkSession) -> None:
    found = check(spark, ROWS, SCHEMA, RULES, samples=["name", "country"])
    assert samples_of(found["key"]) == [("name, country", f"'{CANARY}', 'XX'", 2)]
    assert samples_of(found["both"]) == [("country, name", f"'XX', '{CANARY}'", 2)]


def test_sensitive_columns_are_masked_even_if_they_are_named(spark: SparkSession) -> None:
    found = check(spark, ROWS, SCHEMA, RULES, samples=["name", "country"], sensitive=["NAME"])
    assert CANARY not in str(found)
    assert samples_of(found["names"]) == [("name", "***", 2)]
    assert samples_of(found["key"]) == [("name, country", "***, 'XX'", 2)]


@pytest.mark.parametrize(("tag", "masked"), [("", True), ("true", True), ("false", False)])
def test_columns_that_the_asset_tags_as_sensitive_are_masked(
    spark: SparkSession, tag: str, masked: bool
) -> None:
    schema = dg.TableSchema(
        [
            dg.TableColumn("name", "string", tags={"dq/sensitive": tag}),
            dg.TableColumn("country", "string"),
        ]
    )

    @dg.asset(metadata={"dagster/column_schema": schema})
    def orders() -> Any:
        return spark.createDataFrame(ROWS, SCHEMA)

    rule_set = dq.RuleSet(asset=orders, rules=RULES[:2], samples=["name", "country"])
    checks = dq.build_asset_checks(rule_set)
    found = by_name(dg.materialize_to_memory([orders, *checks], raise_on_error=False))
    assert samples_of(found["names"]) == [("name", "***" if masked else f"'{CANARY}'", 2)]
    assert (CANARY in str(found)) is not masked


def test_each_partition_has_its_own(spark: SparkSession) -> None:
    days = dg.StaticPartitionsDefinition(["a", "b"])

    @dg.asset(partitions_def=days, metadata={"partition_expr": "day"})
    def orders() -> None: ...

    frame = spark.createDataFrame([("XX", "a"), ("YY", "b")], "country string, day string")
    rule = dq.ColumnValuesInSet(
        name="c", columns="country", values=["DE"], scope="both", blocking=False
    )
    rule_set = dq.RuleSet(
        asset=orders, rules=[rule], reader=lambda context: frame, samples=["country"]
    )
    checks = dq.build_asset_checks(rule_set)
    with dg.DagsterInstance.ephemeral() as instance:
        for key in ("a", "b"):
            dg.materialize([orders], partition_key=key, instance=instance)
        result = dg.materialize([orders, *checks], partition_key="a", instance=instance)
    found = {e.partition: samples_of(e) for e in result.get_asset_check_evaluations()}
    assert found == {
        "a": [("country", "'XX'", 1)],
        None: [("country", "'XX'", 1), ("country", "'YY'", 1)],
    }


def test_samples_are_the_first_to_be_left_out_of_a_large_result() -> None:
    samples = tuple(Sample((f"c{n}",), ("v" * 60,), 1) for n in range(5))

    def entries(length: int) -> set[str]:
        columns = {f"c{n}": Judgement(dq.Status.OK, "m" * length) for n in range(40)}
        judgement = Judgement(dq.Status.ERROR, "wrong", columns=columns)
        outcome = Outcome(dq.ColumnNotEmpty(columns=["a"]), judgement, samples=samples)
        return set(entries_of(outcome, Record.of(outcome).encode()))

    assert "dq/samples" in entries(1)
    length = next(n for n in range(2_000) if "dq/samples" not in entries(n))
    assert "dq/columns" in entries(length)
