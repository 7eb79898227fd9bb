"""Rows that break rules: kept apart from the others, or with what each of them breaks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import dq_dagster as dq
from dq_dagster.spark.frames.ansi import ANSI

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = [
    (1, "a", 5.0, "north"),
    (2, "b", 50.0, "north"),
    (2, "c", 500.0, "south"),
    (3, None, math.nan, "south"),
    (3, " ", None, None),
    (3, "a", 7.0, "north"),
]
SCHEMA = "id int, s string, x double, region string"


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, SCHEMA).coalesce(1)


def at(frame: DataFrame) -> list[int]:
    """Which of the rows these are, by their numbers."""
    known = [(row[0], row[1]) for row in ROWS]
    return sorted(known.index((row["id"], row["s"])) for row in frame.select("id", "s").collect())


def rule(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "name": kind, **fields}


NOT_EMPTY = rule("column_not_empty", columns="s")
IN_RANGE = rule("column_values_in_range", columns="x", soft_max=40, max=100)
UNIQUE = rule("column_unique", columns="id")


@pytest.mark.parametrize(
    ("rules", "good", "bad"),
    [
        ([], [0, 1, 2, 3, 4, 5], []),
        ([NOT_EMPTY], [0, 1, 2, 4, 5], [3]),
        ([NOT_EMPTY | {"action_if_failed": "drop"}], [0, 1, 2, 4, 5], [3]),
        ([NOT_EMPTY | {"action_if_failed": "fail"}], [0, 1, 2, 4, 5], [3]),
        ([NOT_EMPTY | {"action_if_failed": "ignore"}], [0, 1, 2, 3, 4, 5], [3]),
        ([NOT_EMPTY | {"enabled": False}], [0, 1, 2, 3, 4, 5], []),
        ([NOT_EMPTY | {"threshold": {"max": 3}}], [0, 1, 2, 4, 5], [3]),
        ([NOT_EMPTY | {"where": "region = 'north'"}], [0, 1, 2, 3, 4, 5], []),
        ([NOT_EMPTY | {"empty_includes_blank": True}], [0, 1, 2, 5], [3, 4]),
        # Beyond the soft bound only, the second row is in both.
        ([IN_RANGE], [0, 1, 4, 5], [1, 2, 3]),
        ([IN_RANGE | {"max": None}], [0, 1, 2, 3, 4, 5], [1, 2, 3]),
        ([NOT_EMPTY, IN_RANGE | {"action_if_failed": "ignore"}], [0, 1, 2, 4, 5], [1, 2, 3]),
        ([rule("row_dq", expectation="x < 10")], [0, 5], [1, 2, 3, 4]),
        ([rule("row_dq", expectation="x < 10", null_is="pass")], [0, 4, 5], [1, 2, 3]),
        ([UNIQUE], [0], [1, 2, 3, 4, 5]),
        ([UNIQUE | {"where": "x IS NOT NULL"}], [0, 4], [1, 2, 3, 5]),
        ([UNIQUE | {"keep": {"order_by": "x DESC"}}], [0, 2, 3], [1, 4, 5]),
        ([UNIQUE | {"keep": {"order_by": "x"}}], [0, 1, 4], [2, 3, 5]),
        ([UNIQUE | {"keep": {"order_by": "x NULLS LAST, s"}}], [0, 1, 5], [2, 3, 4]),
        ([rule("unique_key", columns=["id", "region"])], [0, 1, 2, 3, 4, 5], []),
        ([rule("unique_key", columns=["s"], keep={"order_by": "id"})], [0, 1, 2, 3, 4], [5]),
    ],
)
def test_the_good_rows_and_the_bad_ones(
    rows: DataFrame, rules: list[dict[str, Any]], good: list[int], bad: list[int]
) -> None:
    found = dq.split(rows, rules)
    assert [at(frame) for frame in found] == [good, bad]
    assert [frame.schema for frame in found] == [rows.schema] * 2
    assert at(dq.failing_rows(rows, rules)) == bad


def test_values_repeat_within_their_partition(rows: DataFrame) -> None:
    for key in ("region", "upper(region)", "coalesce(region, 'none')"):
        good, bad = dq.split(rows, [rule("column_unique", columns="s")], partition_by=key)
        assert (at(good), at(bad)) == ([1, 2, 3, 4], [0, 5])
    good, bad = dq.split(rows, [UNIQUE], partition_by="region")
    assert (at(good), at(bad)) == ([0, 1, 2, 3, 4, 5], [])


def test_what_a_row_breaks_is_beside_it(rows: DataFrame) -> None:
    rules = [
        NOT_EMPTY | {"tags": ["core"], "action_if_failed": "fail"},
        IN_RANGE,
        rule(
            "column_values_in_set", columns=["s", "region"], values=["a", "b", "north"], name="set"
        ),
        rule("row_dq", expectation="x < 100 OR s = region", quality_dimension="accuracy"),
    ]
    found = dq.failing_rows(rows, rules).orderBy("id", "s").collect()
    said = [[entry.asDict() for entry in row["dq_faults"]] for row in found]
    quality: dict[str, Any] = {
        "type": "column_values_in_range",
        "quality_dimension": "validity",
        "tags": [],
    }
    hard = {"rule": "column_values_in_range", "action": "drop", "severity": "error"}
    soft = {"rule": "column_values_in_range", "action": "ignore", "severity": "warning"}
    of_set: dict[str, Any] = {"rule": "set", "action": "drop", "severity": "error", "tags": []}
    of_set |= {"type": "column_values_in_set", "quality_dimension": "validity"}
    of_row: dict[str, Any] = {
        "rule": "row_dq",
        "type": "row_dq",
        "action": "drop",
        "severity": "error",
    }
    of_row |= {"columns": ["x", "s", "region"], "quality_dimension": "accuracy", "tags": []}
    assert said == [
        [quality | soft | {"columns": ["x"]}],
        [quality | hard | {"columns": ["x"]}, of_set | {"columns": ["s", "region"]}, of_row],
        [
            {
                "rule": "column_not_empty",
                "type": "column_not_empty",
                "action": "fail",
                "columns": ["s"],
                "quality_dimension": "completeness",
                "tags": ["core"],
                "severity": "error",
            },
            quality | hard | {"columns": ["x"]},
            of_set | {"columns": ["region"]},
            of_row,
        ],
        [of_set | {"columns": ["s"]}, of_row],
    ]


def test_no_rules_no_rows_but_the_column(rows: DataFrame) -> None:
    plain = dq.failing_rows(rows, [NOT_EMPTY])
    none = dq.failing_rows(rows, [])
    assert none.columns == [*rows.columns, "dq_faults"]
    assert none.schema["dq_faults"].dataType.simpleString() == (
        plain.schema["dq_faults"].dataType.simpleString()
    )
    assert none.count() == 0


def test_no_more_rows_than_asked_for(rows: DataFrame) -> None:
    assert dq.failing_rows(rows, [UNIQUE], limit=2).count() == 2
    assert dq.failing_rows(rows, [UNIQUE], limit=0).count() == 0


def test_rows_of_pandas(spark: SparkSession) -> None:
    data = pd.DataFrame({"id": [1, 2, 2], "s": ["a", None, "b"]})
    good, bad = dq.split(data, [NOT_EMPTY, UNIQUE | {"keep": {"order_by": "s DESC"}}])
    assert [tuple(row) for row in good.collect()] == [(1, "a"), (2, "b")]
    assert [tuple(row) for row in bad.collect()] == [(2, None)]
    data["odd"] = [1j, 2j, 3j]
    with pytest.raises(dq.UnreadableData, match="Column 'odd' is of the pandas type complex128"):
        dq.split(data, [NOT_EMPTY])


def test_rows_that_a_reference_has_not(spark: SparkSession, rows: DataFrame) -> None:
    known = spark.createDataFrame([(1,), (2,)], "id int")
    one = rule("column_values_in_reference", columns="id", reference={"asset": "known"})
    good, bad = dq.split(rows, [one], references={"known": known})
    assert (at(good), at(bad)) == ([0, 1, 2], [3, 4, 5])
    # Its own rows, as they came: the rows that another rule keeps out are among them.
    own = rule(
        "column_values_in_reference", columns="x", reference={"asset": "data"},
        reference_columns=["id"], name="own",
    )  # fmt: skip
    data = rows.withColumn("x", rows.id.cast("int"))
    assert at(dq.split(data, [UNIQUE, own])[1]) == at(dq.split(data, [UNIQUE])[1])


def test_ages_are_counted_from_now(spark: SparkSession) -> None:
    data = spark.sql("select timestamp'2024-01-01 00:00:00Z' AS t")
    late = [rule("row_dq", expectation="t < current_timestamp()")]
    assert dq.split(data, late)[1].isEmpty()
    with pytest.raises(dq.DeclarationError, match="now is a datetime"):
        dq.split(data, late, now="today")  # type: ignore[arg-type]
    assert dq.split(data, late, now=datetime(2024, 1, 1, tzinfo=UTC))[1].isEmpty()


def test_all_problems_are_named_at_once(rows: DataFrame) -> None:
    rules = [
        NOT_EMPTY,
        rule("column_empty", columns="z"),
        rule("row_dq", expectation="id + 1", name="number"),
        rule("row_dq", expectation="zz > 1", name="unknown"),
        rule("column_valid_meaning", columns="s", meaning="from_schema", name="meaning"),
        rule("column_values_in_range", columns="s", min=1, name="kind"),
        rule("column_unique", columns="id", where="id + 1", name="filter"),
        rule("unique_key", columns=["id", "s"], keep={"order_by": "y"}, name="order"),
        rule("record_count_in_range", min=1),
        rule("column_values_in_reference", columns="id", reference={"asset": "b"}, name="ref"),
    ]
    with pytest.raises(dq.DeclarationError) as caught:
        dq.failing_rows(rows, rules)
    not_there = "is not in the table. Its columns are 'id', 's', 'x', 'region'."
    of_filter = "is of type int; a row predicate must be true or false."
    assert [str(problem) for problem in caught.value.problems] == [
        f"rule 'column_empty': Column 'z' {not_there}",
        f"rule 'number': 'id + 1' {of_filter}",
        f"rule 'unknown': Column 'zz' {not_there}",
        (
            "rule 'meaning': The schema gives column 's' no meaning: set one in the rule set's "
            "column_meanings, such as {s: email}, or name a meaning on the rule itself."
        ),
        (
            "rule 'kind': The value 1 cannot be compared with column 's' of type string; write it "
            "in the column's own type."
        ),
        f"rule 'filter': 'id + 1' {of_filter}",
        f"rule 'order': Column 'y' {not_there}",
        (
            "rule 'record_count_in_range': It judges all rows together, so that no single row is "
            "good or bad: leave it out here, and judge it by dq.evaluate."
        ),
        (
            "rule 'ref': The reference asset 'b' is not at hand: give its data by "
            "references={'b': ...}."
        ),
    ]


def test_a_column_that_is_taken(rows: DataFrame) -> None:
    for name in ("dq_faults", "DQ_Faults"):
        with pytest.raises(dq.UnreadableData, match="The data has a column 'dq_faults'"):
            dq.split(rows.withColumnRenamed("s", name), [UNIQUE])


def test_a_partition_that_cannot_be(rows: DataFrame) -> None:
    for rules in ([UNIQUE], [NOT_EMPTY]):
        with pytest.raises(dq.UnreadableData, match="'zzz', is neither a column nor an SQL"):
            dq.split(rows, rules, partition_by="zzz")


def test_columns_that_no_rule_names_may_be_odd(spark: SparkSession) -> None:
    columns = ["id", "1 AS x", "2 AS X", "3 AS x", "5 AS n", "id % 2 AS half"]
    data = spark.range(4).selectExpr(*columns).withColumnRenamed("n", "${a}")
    rules = [rule("column_unique", columns="half"), rule("row_dq", expectation="id > 0")]
    good, bad = dq.split(data, rules)
    assert good.columns == bad.columns == data.columns
    assert (good.count(), bad.count()) == (0, 4)
    assert [tuple(row)[:-1] for row in dq.failing_rows(data, rules[1:]).collect()] == [
        (0, 1, 2, 3, 5, 0)
    ]
    # All columns decide which row is kept, so that each has to have a name.
    kept = {"keep": {"order_by": "id"}}
    with pytest.raises(dq.DeclarationError, match="Column 'x' is ambiguous: the table has 'x'"):
        dq.split(data, [rules[0] | kept])
    with pytest.raises(dq.DeclarationError, match="Spark replaces"):
        dq.split(data.drop("x"), [rules[0] | kept])


@pytest.fixture(scope="module")
def lenient(spark: SparkSession) -> Iterator[DataFrame]:
    session = spark.newSession()
    session.conf.set(ANSI, "false")
    yield session.createDataFrame(ROWS, SCHEMA).coalesce(1)
    # Making a frame makes its session the active one.
    spark.createDataFrame([], "a int")


def test_sessions_without_ansi(spark: SparkSession, lenient: DataFrame) -> None:
    known = spark.createDataFrame([(1,), (2,)], "id int")
    rules = [
        NOT_EMPTY,
        IN_RANGE | {"action_if_failed": "ignore"},
        UNIQUE | {"keep": {"order_by": "try_divide(1, x) DESC"}, "where": "id < 3"},
        rule("row_dq", expectation="try_divide(id, x) < 0.5", null_is="pass"),
        rule("column_values_in_reference", columns="id", reference={"asset": "known"}),
    ]
    strict = spark.createDataFrame(ROWS, SCHEMA).coalesce(1)
    for some in ([one] for one in rules):
        found = dq.split(lenient, some, references={"known": known})
        right = dq.split(strict, some, references={"known": known})
        assert [at(frame) for frame in found] == [at(frame) for frame in right]
    good, bad = dq.split(lenient, rules, references={"known": known})
    assert {good.sparkSession, bad.sparkSession} == {lenient.sparkSession}
    assert lenient.sparkSession.conf.get(ANSI) == "false"
    # What would be NULL without a word raises.
    with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
        dq.split(lenient, [rule("row_dq", expectation="cast(s as int) > 0")])[0].collect()


def test_nothing_runs_before_somebody_asks_for_rows(rows: DataFrame, count_jobs: Any) -> None:
    rules = [NOT_EMPTY, UNIQUE, rule("row_dq", expectation="x < 10")]
    assert count_jobs(lambda: (dq.split(rows, rules), dq.failing_rows(rows, rules))) == 0
