"""Values looked up in other tables and files, on Spark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import dq_dagster as dq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Counter = Callable[[Callable[[], object]], int]


def known(name: str, here: Any, there: Any = None, **fields: Any) -> dict[str, Any]:
    rule = {"type": "column_values_in_reference", "name": name, "columns": here}
    rule |= {"reference": {"asset": "there"}, **fields}
    return rule if there is None else rule | {"reference_columns": there}


@pytest.fixture(scope="module")
def here(spark: SparkSession) -> DataFrame:
    return spark.sql(
        "SELECT * FROM VALUES (1, 'a', named_struct('x', 1)), (2, 'a', named_struct('x', 5)), "
        "(2, NULL, NULL), (NULL, 'b', NULL), (NULL, NULL, NULL) AS t(n, s, deep)"
    )


@pytest.fixture(scope="module")
def there(spark: SparkSession) -> DataFrame:
    return spark.sql(
        "SELECT * FROM VALUES (1, 'a'), (1, 'a'), (1, 'a'), (2, NULL), (NULL, NULL), (9, 'b') "
        "AS t(k, s)"
    )


def test_combinations_nulls_and_duplicates(here: DataFrame, there: DataFrame) -> None:
    rules = [
        known("one", "n", "k"),
        known("field", "deep.x", "k"),
        # Empty equals empty; a combination of nothing but empties is left out.
        known("both", ["n", "s"], ["k", "s"]),
        known("crossed", ["s", "n"], ["s", "k"]),
    ]
    found = dq.evaluate(here, rules, references={"there": there})
    assert {o.rule.name: (o.observed, o.rows) for o in found} == {
        "one": (0, 3),
        "field": (1, 2),
        "both": (2, 4),
        "crossed": (2, 4),
    }


def test_one_pass_and_the_rest_of_the_rules(
    here: DataFrame, there: DataFrame, count_jobs: Counter
) -> None:
    one = [known("one", "n", "k")]
    more = [
        *one,
        known("again", "n", "k", where="s = 'a'"),
        {**known("s", "s"), "threshold": "all"},
    ]

    def judge(rules: list[dict[str, Any]]) -> list[tuple[Any, Any]]:
        found = dq.evaluate(here, rules, references={"there": there})
        return [(outcome.observed, outcome.rows) for outcome in found]

    assert len(dq.explain(more).passes) == 1
    assert judge(more) == [(0, 3), (0, 2), (0, 3)]
    # Joins are planned as jobs of their own, yet there is none for each rule.
    assert count_jobs(lambda: judge([*more, known("third", "n", "k", where="n > 1")])) == (
        count_jobs(lambda: judge(more))
    )


def test_pandas_tables_and_files(spark: SparkSession, here: DataFrame, tmp_path: Path) -> None:
    spark.sql("SELECT 1 AS k").createOrReplaceTempView("known_numbers")
    (tmp_path / "k.csv").write_text("k;s\n2;x\n")
    csv = {"files": str(tmp_path / "k.csv"), "format": "csv"}
    csv_options = {"header": "true", "sep": ";", "inferSchema": "true"}
    rules = [
        known("pandas", "n", "k"),
        known("table", "n", "k", reference={"table": "known_numbers"}),
        known("files", "n", "k", reference={**csv, "options": csv_options}),
    ]
    found = dq.evaluate(here, rules, references={"there": pd.DataFrame({"k": [1, 2]})})
    assert [outcome.observed for outcome in found] == [0, 2, 1]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"reference": {"asset": "nowhere"}}, "The reference asset 'nowhere' is not at hand"),
        (
            {"reference": {"table": "no_such"}},
            "The reference table 'no_such' could not be read (The table or view `no_such` cannot",
        ),
        (
            {"reference": {"files": "/no/such"}},
            "The reference files '/no/such' could not be read (Path does not exist",
        ),
        ({"columns": "nn"}, "Column 'nn' is not in the table."),
        ({"reference_columns": "kk"}, "In asset 'there': Column 'kk' is not in the table."),
        (
            {"reference_columns": "s"},
            (
                "Column 'n' of type int cannot be compared with 's' of type string of asset "
                "'there'; bring both to one type."
            ),
        ),
    ],
)
def test_what_cannot_be_looked_up_spoils_nothing_else(
    here: DataFrame, there: DataFrame, fields: dict[str, Any], words: str
) -> None:
    rules = [{**known("bad", "n", "k"), **fields}, known("good", "n", "k")]
    bad, good = dq.evaluate(here, rules, references={"there": there})
    assert (bad.status, good.status) == ("Error", "Ok")
    assert bad.message.startswith(words)


def test_a_reference_that_breaks_while_it_is_read(
    spark: SparkSession, here: DataFrame, there: DataFrame
) -> None:
    broken = there.selectExpr("CAST(1 / (k - k) AS INT) AS k")
    rules = [known("good", "n", "k"), known("bad", "deep.x", "k", reference={"asset": "broken"})]
    found = dq.evaluate(here, rules, references={"there": there, "broken": broken})
    good, bad = found
    assert (good.status, good.observed) == ("Ok", 0)
    assert bad.status == "Error"
    assert "DIVIDE_BY_ZERO" in bad.message


def test_a_filter_that_raises_spoils_nothing_else(here: DataFrame, there: DataFrame) -> None:
    rules = [known("good", "n", "k"), known("bad", "n", "k", where="1 / (n - 1) > 0")]
    good, bad = dq.evaluate(here, rules, references={"there": there})
    assert (good.status, good.observed) == ("Ok", 0)
    assert bad.status == "Error"
    assert "DIVIDE_BY_ZERO" in bad.message


def test_a_table_may_refer_to_itself(here: DataFrame) -> None:
    rule = known("self", "n", "deep.x", reference={"asset": "data"})
    [outcome] = dq.evaluate(here, [rule])
    assert (outcome.observed, outcome.rows) == (2, 3)


PARENTS = [
    ("d1", 1, None), ("d1", 2, 1), ("d2", 3, 1), ("d2", 4, 3), ("d2", 5, 9), ("d3", 6, 2),
    (None, 7, 7),
]  # fmt: skip
OF_ITSELF: list[dict[str, Any]] = [
    known("parent", "parent", "id", reference={"asset": "orders"}),
    {
        "type": "compare_metrics",
        "name": "all",
        "metric": "record_count",
        "operator": "<",
        "other": "record_count",
        "other_asset": "orders",
    },
]
SAID = {
    ("parent", "d2"): "1 of 3 values (33.33 %) of 'parent' is not in 'id' of asset 'orders' (none "
    "allowed).",
    ("parent", "d3"): "0 of 1 value (0 %) of 'parent' are not in 'id' of asset 'orders' (none "
    "allowed).",
    ("all", "d2"): "Metric 'record_count' is 3, less than metric 'record_count' of asset 'orders', "
    "which is 7.",
    ("all", "d3"): "Metric 'record_count' is 1, less than metric 'record_count' of asset 'orders', "
    "which is 7.",
}  # fmt: skip


@pytest.mark.parametrize("as_pandas", [False, True])
def test_what_refers_to_its_own_asset_looks_in_all_partitions(
    spark: SparkSession, as_pandas: bool
) -> None:
    frame = spark.createDataFrame(PARENTS, "day string, id int, parent int")
    found = dq.evaluate(
        frame.toPandas().astype({"parent": "Int64"}) if as_pandas else frame,
        dq.RuleSet(asset="orders", rules=OF_ITSELF),
        partition_by="day",
        partitions=["d2", "d3"],
    )
    assert {(one.rule.name, one.partition): one.message for one in found} == SAID


@pytest.mark.parametrize(
    ("rules", "asked"),
    [
        (OF_ITSELF, [("d2", "d3"), None]),
        ([{"type": "record_count_in_range", "min": 1}], [("d2", "d3")]),
    ],
)
def test_all_partitions_are_read_once_and_only_for_rules_that_refer_to_them(
    spark: SparkSession, rules: list[dict[str, Any]], asked: list[Any]
) -> None:
    frame = spark.createDataFrame(PARENTS, "day string, id int, parent int")
    read: list[Any] = []

    def some(keys: Any) -> DataFrame:
        read.append(keys)
        return frame if keys is None else frame.where(frame["day"].isin(list(keys)))

    found = dq.evaluate(
        some,
        dq.RuleSet(asset="orders", rules=rules),
        partition_by="day",
        partitions=["d2", "d3"],
        reuse=dq.states.Reuse(("d1", "d2", "d3")),
    )
    said = {(one.rule.name, one.partition): one.message for one in found}
    assert read == asked
    assert said == SAID or rules is not OF_ITSELF


def test_groups_refer_to_all_rows_of_their_asset(spark: SparkSession) -> None:
    frame = spark.createDataFrame(PARENTS, "day string, id int, parent int")
    rule = OF_ITSELF[0] | {"dimensions": ["day"], "top_dimensions": 1}
    [outcome] = dq.evaluate(frame, dq.RuleSet(asset="orders", rules=[rule]))
    groups = {one["group"]: one["failed_rows"] for one in outcome.details["dimensions"]["day"]}
    assert groups == {"d2": 1, "Others": 0}
