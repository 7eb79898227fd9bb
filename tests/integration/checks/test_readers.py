"""Where checks get their data from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from dagster_pyspark import LazyPySparkResource
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from tests.integration.shelf import PYSPARK, asset_of, run

THREE_ROWS = dq.RecordCountInRange(min=3, max=3)


def message_of(rule_set: dq.RuleSet, resources: dict[str, Any] | None = None) -> str:
    """What the only check says about an asset whose own value is one row."""
    result = run([asset_of(pd.DataFrame({"id": [1]}))], rule_set, resources=resources)
    [evaluation] = result.get_asset_check_evaluations()
    return str(evaluation.description)


EXPECTED = "The number of rows is 3, as expected (exactly 3)."


def test_a_table_of_the_catalog(spark: SparkSession) -> None:
    spark.range(3).createOrReplaceTempView("three_rows")
    reader = dq.Table("three_rows")
    rule_set = dq.RuleSet(asset="orders", rules=[THREE_ROWS], reader=reader)
    assert message_of(rule_set, {"pyspark": PYSPARK}) == EXPECTED


def test_files_of_any_format(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("id;name\n1;a\n2;b\n3;c\n")
    reader = dq.Files(
        str(tmp_path / "orders.csv"), format="csv", options={"header": "true", "sep": ";"}
    )
    rule_set = dq.RuleSet(
        asset="orders",
        rules=[THREE_ROWS.model_copy(update={"where": "name < 'd'"})],
        reader=reader,
    )
    told = EXPECTED.replace("(exactly 3).", "(exactly 3; rows where name < 'd').")
    assert message_of(rule_set, {"pyspark": PYSPARK}) == told


def test_a_function_gets_the_resources_it_names(spark: SparkSession) -> None:
    def read(context: dg.AssetCheckExecutionContext, pyspark: LazyPySparkResource) -> DataFrame:
        assert context.selected_asset_check_keys
        frame: DataFrame = pyspark.spark_session.range(3)
        return frame

    rule_set = dq.RuleSet(asset="orders", rules=[THREE_ROWS], reader=read)
    assert message_of(rule_set, {"pyspark": PYSPARK}) == EXPECTED


def test_a_missing_table_is_an_error_that_names_it(spark: SparkSession) -> None:
    rule_set = dq.RuleSet(asset="orders", rules=[THREE_ROWS], reader=dq.Table("no_such_table"))
    text = message_of(rule_set, {"pyspark": PYSPARK})
    assert text.startswith("The data of asset 'orders' could not be read (AnalysisException:")
    assert "no_such_table" in text


def test_an_unknown_format_is_named(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("id\n1\n")
    reader = dq.Files(str(tmp_path / "orders.csv"), format="cvs")
    rule_set = dq.RuleSet(asset="orders", rules=[THREE_ROWS], reader=reader)
    text = message_of(rule_set, {"pyspark": PYSPARK})
    assert text.startswith(
        "The data of asset 'orders' could not be read (Failed to find the data source: cvs."
    )


def test_what_is_no_reader_is_refused() -> None:
    rule_set = dq.RuleSet(asset="orders", rules=[THREE_ROWS], reader="db.orders")
    with pytest.raises(dq.DeclarationError, match=r"'db.orders' is not a reader: give dq.Table"):
        dq.build_asset_checks(rule_set)
