"""Schema rules under Dagster: the table in the metadata, and what the asset itself declares."""

from __future__ import annotations

import json
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.integration.checks.results import entries_of
from dq_dagster.integration.event_log.codec import Record
from dq_dagster.judging.judgement import Judgement, Status
from tests.integration.shelf import by_name, check, metadata_of, record_of, run

ROWS = [(1, "ann@example.org", "x")]
SCHEMA = "id int, mail string, `<script>alert(1)</script>` string"


def table_of(evaluation: dg.AssetCheckEvaluation) -> list[dict[str, Any]]:
    entry: Any = evaluation.metadata["dq/schema"]
    return [record.data for record in entry.records]


def test_the_comparison_is_a_table(spark: SparkSession) -> None:
    expected = [{"name": "id", "type": "bigint"}, {"name": "mail", "type": "varchar(3)"}]
    found = check(spark, ROWS, SCHEMA, [dq.SchemaEquals(expected=expected)])
    evaluation = found["schema_equals"]
    assert not evaluation.passed
    assert evaluation.severity is dg.AssetCheckSeverity.ERROR
    assert evaluation.description == (
        "3 of 3 columns are not as expected: 'id' is of type int instead of bigint; 'mail' has a "
        "text of 15 characters (at most 3 allowed); '<script>alert(1)</script>' is unexpected."
    )
    columns = ("index", "column", "expected", "actual", "verdict")
    rows = [tuple(row[name] for name in columns) for row in table_of(evaluation)]
    assert rows == [
        (1, "id", "bigint", "int", "wrong type"),
        (2, "mail", "string, at most 3 characters", "string, up to 15 characters", "too long"),
        # Names are cells of a table, which Dagster shows as text.
        (3, "<script>alert(1)</script>", "", "string", "unexpected"),
    ]
    kept = metadata_of(evaluation)
    assert kept["dq/observed"] == 3
    assert record_of(evaluation).metrics == {"longest_text:mail": 15}


def test_a_wide_table_keeps_what_is_wrong() -> None:
    rows = [
        {
            "index": n,
            "column": f"{'a_rather_long_column_name_' * 9}{n}",
            "expected": "string",
            "actual": "string" if n % 100 else "int",
            "verdict": "ok" if n % 100 else "wrong type",
        }
        for n in range(1, 2001)
    ]
    rule = dq.SchemaEquals(expected=[{"name": "a", "type": "int"}])
    judgement = Judgement(Status.ERROR, "wrong", observed=20, details={"schema": rows})
    outcome = Outcome(rule, judgement)
    entries = entries_of(outcome, Record.of(outcome).encode())
    records = [record.data for record in entries["dq/schema"].records]
    assert len(json.dumps(records)) <= 16_384
    kept = [record["index"] for record in records]
    assert kept == sorted(kept)
    assert set(range(100, 2001, 100)) <= set(kept)
    assert entries["dq/observed"] == 20
    assert all(len(record["column"]) <= 200 for record in records)


# --- what the asset declares ---------------------------------------------------------------------


def declaring(frame: Any, *columns: dg.TableColumn, **more: Any) -> dg.AssetsDefinition:
    schema = dg.TableSchema(list(columns))

    @dg.asset(name="orders", metadata={"dagster/column_schema": schema, **more})
    def table() -> Any:
        return frame

    return table


def meaning(name: str, kind: str, what: str) -> dg.TableColumn:
    return dg.TableColumn(name, kind, tags={"dq/meaning": what})


def judge(asset: dg.AssetsDefinition, *rules: Any, key: Any = None, **more: Any) -> dict[str, Any]:
    rule_set = dq.RuleSet(asset=key or asset, rules=rules, **more)
    return by_name(run([asset], rule_set))


@pytest.fixture(scope="module")
def mails(spark: SparkSession) -> Any:
    return spark.createDataFrame([(1, "ann@example.org")], "id int, mail string")


@pytest.mark.parametrize("key", [None, "orders"])
def test_the_definition_declares_the_columns(mails: Any, key: Any) -> None:
    right = declaring(mails, dg.TableColumn("id", "INTEGER"), meaning("mail", "string", "email"))
    expected = [{"name": "mail", "type": "string", "meaning": "email"}]
    found = judge(
        right,
        dq.SchemaEquals(expected="declared"),
        dq.SchemaContains(expected=expected),
        key=key,
    )
    assert {name: (e.passed, e.description) for name, e in found.items()} == {
        "schema_equals": (True, "All 2 columns are as expected."),
        "schema_contains": (True, "The 1 column is as expected."),
    }
    other = declaring(mails, dg.TableColumn("id", "int"), dg.TableColumn("mail", "string"))
    [evaluation] = judge(other, dq.SchemaContains(expected=expected), key=key).values()
    assert evaluation.description.endswith("'mail' has no meaning instead of 'email'.")


def test_the_rule_set_goes_before_the_definition(mails: Any) -> None:
    asset = declaring(mails, dg.TableColumn("other", "int"))
    declared = [{"name": "id", "type": "int"}, {"name": "mail", "type": "string"}]
    rule = dq.SchemaEquals(expected="declared")
    assert judge(asset, rule, declared_schema=declared)["schema_equals"].passed
    assert not judge(asset, rule)["schema_equals"].passed


def test_types_of_other_systems_match_nothing_and_break_nothing(mails: Any) -> None:
    asset = declaring(
        mails, dg.TableColumn("id", "NUMBER(38,0)"), meaning("mail", "VARIANT2", "email")
    )
    mail = [{"name": "mail", "type": "string", "meaning": "email"}]
    found = judge(
        asset,
        dq.SchemaEquals(expected="declared"),
        dq.SchemaContains(expected=mail),
        dq.RecordCountInRange(min=1),
    )
    assert found["schema_equals"].description == (
        "2 of 2 columns are not as expected: 'id' is of type int instead of NUMBER(38,0); "
        "'mail' is of type string instead of VARIANT2."
    )
    assert found["schema_contains"].passed
    assert found["record_count_in_range"].passed


@pytest.mark.parametrize(
    "columns",
    [(), (dg.TableColumn("a"), dg.TableColumn("a")), (dg.TableColumn(""),)],
    ids=["none", "twice", "no name"],
)
def test_a_definition_that_names_no_columns_declares_nothing(mails: Any, columns: Any) -> None:
    found = judge(
        declaring(mails, *columns),
        dq.SchemaEquals(expected="declared"),
        dq.RecordCountInRange(min=1),
    )
    assert found["schema_equals"].description.startswith("No schema is declared")
    assert found["record_count_in_range"].passed


def test_what_the_checks_say_they_demand(mails: Any) -> None:
    rules = [
        dq.SchemaEquals(expected="declared"),
        dq.SchemaContains(expected=[{"name": f"c{n}", "type": "int"} for n in range(12)]),
    ]
    [checks] = dq.build_asset_checks(dq.RuleSet(asset="orders", rules=rules))
    assert {spec.metadata["dq/quality_dimension"] for spec in checks.check_specs} == {"consistency"}
    assert {spec.name: spec.description for spec in checks.check_specs} == {
        "schema_equals": "The columns are exactly the declared columns.",
        "schema_contains": (
            "The columns contain " + ", ".join(f"'c{n}' int" for n in range(10)) + " and 2 more."
        ),
    }


def test_ages_and_sizes_under_dagster(spark: SparkSession, tmp_path: Any) -> None:
    spark.sql("SELECT current_timestamp() AS at").write.parquet(str(tmp_path / "t"))

    @dg.asset
    def orders() -> Any:
        return spark.read.parquet(str(tmp_path / "t"))

    found = judge(
        orders,
        dq.Freshness(columns="at", max="1 hour"),
        dq.RowInsertedCountInRange(columns="at", window="1 hour", min=1),
        dq.FileSizeInRange(min=1, max="1 MB"),
    )
    assert all(evaluation.passed for evaluation in found.values())
    fresh = metadata_of(found["freshness_at"])
    assert record_of(found["freshness_at"]).bounds == {"max": 3600}
    assert 0 <= fresh["dq/observed"] <= 3600
    size = metadata_of(found["file_size_in_range"])
    assert size["dq/observed"] == record_of(found["file_size_in_range"]).metrics["file_size"] > 0
    assert size["dq/expected"] == "at least 1 byte and at most 1 MB"
