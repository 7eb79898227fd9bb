"""Schemas of real DataFrames: types as Spark has them, lengths from the rows, odd names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import dq_dagster as dq
from dq_dagster.rules.fields.type_names import parse_type
from tests.oracle.names import HOSTILE_NAMES
from tests.rules.fields.test_type_names import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

EVERYTHING = (
    "SELECT 1 AS i, 2L AS l, 1.5BD AS d, 'ann' AS t, array('a', 'bbb', NULL) AS a, "
    "map('key', array(named_struct('x', 'four', 'y', 1))) AS m, "
    "named_struct('a.b', 'ab', 's', named_struct('deep', 'abcdef')) AS s, "
    "TIMESTAMP_NTZ'2024-01-01' AS n, TIMESTAMP'2024-01-01' AS ts, DATE'2024-01-01' AS day, "
    "INTERVAL '1' DAY AS iv, X'00' AS b, true AS yes, NULL AS nothing, "
    "parse_json('1') AS v, CAST('x' AS STRING COLLATE UNICODE_CI) AS c, TIME'10:00:00' AS clock"
)


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    return spark.sql(EVERYTHING)


def judge(data: Any, expected: Any, kind: str = "schema_equals", **rule_set: Any) -> dq.Outcome:
    rule = {"type": kind, "expected": expected}
    [outcome] = dq.evaluate(data, dq.RuleSet(asset="t", rules=[rule], **rule_set))
    return outcome


def column(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


@pytest.mark.parametrize("text", NAMES)
def test_names_mean_what_they_mean_to_spark(spark: SparkSession, text: str) -> None:
    from pyspark.sql import types as T

    from dq_dagster.spark.frames.schemas import shape_of

    assert parse_type(text).shape == shape_of(T.DataType.fromDDL(text))


def test_a_schema_describes_itself(table: DataFrame) -> None:
    columns = dq.schema_of(table)
    assert columns[:2] == [column("i", "int"), column("l", "bigint")]
    assert columns[4]["type"] == "array<string>"
    assert columns[6] == {
        "name": "s",
        "type": "struct",
        "fields": [
            column("a.b", "string"),
            {"name": "s", "type": "struct", "fields": [column("deep", "string")]},
        ],
    }
    outcome = judge(table, columns)
    assert (outcome.status, outcome.observed) == ("Ok", 0)
    assert outcome.message == "All 25 columns and fields are as expected."
    assert judge(table, columns[::-1], "schema_contains").status == "Ok"
    assert judge(table, columns[1:]).message == (
        "1 of 25 columns and fields is not as expected: 'i' is unexpected."
    )


def test_pandas_describes_itself_too(spark: SparkSession) -> None:
    data = pd.DataFrame({"a": [1], "b": ["x"], "c": [pd.Timestamp("2024-01-01")]})
    columns = dq.schema_of(data)
    assert [(c["name"], c["type"]) for c in columns] == [
        ("a", "bigint"),
        ("b", "string"),
        ("c", "timestamp"),
    ]
    assert judge(data, columns).status == "Ok"


def test_the_sentence_and_the_table(spark: SparkSession) -> None:
    data = spark.sql("SELECT 1 AS id, 1.5D AS amount, 'x' AS extra")
    outcome = judge(
        data, [column("id", "int"), column("amount", "decimal(10,2)"), column("note", "string")]
    )
    assert outcome.message == (
        "3 of 4 columns are not as expected: 'amount' is of type double instead of decimal(10,2); "
        "'note' is missing; 'extra' is unexpected."
    )
    assert outcome.observed == 3
    rows = [tuple(row.values()) for row in outcome.details["schema"]]
    assert rows == [
        (1, "id", "int", "int", "ok"),
        (2, "amount", "decimal(10,2)", "double", "wrong type"),
        (3, "note", "string", "", "missing"),
        (4, "extra", "", "string", "unexpected"),
    ]


def test_many_faults_are_counted_not_listed(spark: SparkSession) -> None:
    wanted = [column(f"c{n}", "int") for n in range(50)]
    outcome = judge(spark.range(1), wanted, "schema_contains")
    assert outcome.observed == 50
    assert outcome.message.endswith("'c4' is missing; and 45 more.")
    assert len(outcome.details["schema"]) == 50


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (column("t", "string", max_length=3), ""),
        (column("t", "string", max_length=2), "'t' has a text of 3 characters (at most 2 allowed)"),
        (column("t", "varchar(2)"), "'t' has a text of 3 characters (at most 2 allowed)"),
        (column("t", "string", max_length=-1), ""),
        (column("t", "string", max_length=0), "(at most 0 allowed)"),
        (column("c", "string collate unicode_ci", max_length=0), "'c' has a text of 1 character"),
        (column("a", "array", items={"type": "string", "max_length": 2}), "'a.items' has a text"),
        (column("a", "array", items={"type": "string", "max_length": 3}), ""),
        (column("a", "array<varchar(2)>"), "'a.items' has a text of 3 characters"),
        (
            column("m", "map", keys={"type": "string", "max_length": 2},
                   values="array<struct<x:varchar(3),y:int>>"),
            ("'m.keys' has a text of 3 characters (at most 2 allowed); "
             "'m.values.items.x' has a text of 4 characters (at most 3 allowed)"),
        ),
        (column("s", "struct<`a.b`:varchar(1),s:struct<deep:varchar(5)>>"),
         ("'s.a.b' has a text of 2 characters (at most 1 allowed); "
          "'s.s.deep' has a text of 6 characters (at most 5 allowed)")),
        # Where there is no text, its length is no further fault.
        (column("i", "string", max_length=1), "'i' is of type int instead of string."),
        (column("nothing", "string", max_length=1), "'nothing' is of type void instead of string."),
        (column("s", "array", items={"type": "string", "max_length": 1}),
         "'s' is of type struct<a.b:string,s:struct<deep:string>> instead of array."),
        (column("zz", "string", max_length=1), "'zz' is missing."),
    ],
)  # fmt: skip
def test_lengths_come_from_the_rows(table: DataFrame, wanted: dict[str, Any], said: str) -> None:
    outcome = judge(table, [wanted], "schema_contains")
    assert outcome.status == ("Error" if said else "Ok"), outcome.message
    assert said in outcome.message


def test_no_text_is_not_too_long(spark: SparkSession) -> None:
    data = spark.sql(
        "SELECT CAST(NULL AS STRING) AS t, CAST(array() AS ARRAY<STRING>) AS a, "
        "CAST(NULL AS MAP<STRING, STRING>) AS m, CAST(NULL AS STRUCT<x: STRING>) AS s"
    )
    limits = [
        column("t", "varchar(0)"),
        column("a", "array<varchar(0)>"),
        column("m", "map<varchar(0),varchar(0)>"),
        column("s", "struct<x:varchar(0)>"),
    ]
    for rows in (data, data.limit(0)):
        assert judge(rows, limits).status == "Ok"


def test_lengths_are_counted_in_characters(spark: SparkSession) -> None:
    data = spark.createDataFrame([("\U0001f600é",), ("e\u0301",)], "t string")
    assert judge(data, [column("t", "string", max_length=2)]).status == "Ok"
    assert judge(data, [column("t", "string", max_length=1)]).status == "Error"


def test_odd_names(spark: SparkSession) -> None:
    from pyspark.sql import types as T

    text = T.StringType()
    inner = T.StructType([T.StructField(name, text) for name in HOSTILE_NAMES])
    schema = T.StructType(
        [
            *(T.StructField(name, text) for name in HOSTILE_NAMES),
            T.StructField("nested", T.ArrayType(inner)),
        ]
    )
    texts = tuple("x" * n for n in range(len(HOSTILE_NAMES)))
    data = spark.createDataFrame([(*texts, [texts])], schema)
    assert judge(data, dq.schema_of(data)).status == "Ok"
    parts = [column(name, f"varchar({n})") for n, name in enumerate(HOSTILE_NAMES)]
    nested = {"name": "nested", "type": "array", "items": {"type": "struct", "fields": parts}}
    assert judge(data, [*parts, nested]).status == "Ok"
    tight = [column(name, f"varchar({max(n - 1, 0)})") for n, name in enumerate(HOSTILE_NAMES)]
    nested = {"name": "nested", "type": "array", "items": {"type": "struct", "fields": tight}}
    outcome = judge(data, [*tight, nested])
    assert outcome.observed == 2 * (len(HOSTILE_NAMES) - 1)
    verdicts = {row["verdict"] for row in outcome.details["schema"]}
    assert verdicts == {"ok", "too long"}


def test_names_that_spark_can_not_tell_apart(spark: SparkSession) -> None:
    data = spark.sql("SELECT 'x' AS a, 'y' AS A, named_struct('b', 'x', 'B', 'y') AS s, 'z' AS z")
    assert judge(data, dq.schema_of(data)).status == "Ok"
    outcome = judge(
        data,
        [column("a", "varchar(9)"), column("s", "struct<b:varchar(9)>"), column("z", "varchar(9)")],
        "schema_contains",
    )
    # What cannot be measured is never right, and spoils nothing else.
    assert [row["verdict"] for row in outcome.details["schema"]] == [
        "unknown length",
        "ok",
        "unknown length",
        "ok",
    ]
    assert "Column 'a' is ambiguous" in outcome.message


def test_names_that_spark_would_replace(spark: SparkSession) -> None:
    name = "${spark.app.name}"
    data = spark.createDataFrame([("x", ("y",))], f"`{name}` string, s struct<`{name}`: string>")
    outcome = judge(data, [column(name, "varchar(0)"), column("s", f"struct<`{name}`:varchar(0)>")])
    assert [row["verdict"] for row in outcome.details["schema"]] == [
        "unknown length",
        "ok",
        "unknown length",
    ]


def test_a_column_that_is_there_twice(spark: SparkSession) -> None:
    data = spark.sql("SELECT 1 AS a, 2 AS a")
    assert judge(data, [column("a", "int")]).message == (
        "1 of 2 columns is not as expected: 'a' is there twice."
    )
    assert judge(data, [column("a", "int")], "schema_contains").status == "Ok"


def test_nullability_is_not_compared(spark: SparkSession) -> None:
    from pyspark.sql import types as T

    strict = T.StructType([T.StructField("a", T.ArrayType(T.IntegerType(), False), False)])
    assert judge(spark.createDataFrame([], strict), [column("a", "array<int>")]).status == "Ok"


@pytest.fixture(scope="module")
def mails(spark: SparkSession) -> DataFrame:
    from pyspark.sql import types as T

    text = T.StringType()
    return spark.createDataFrame(
        [],
        T.StructType(
            [
                T.StructField("mail", text, metadata={"meaning": "email"}),
                T.StructField("site", text),
                T.StructField("s", T.StructType([T.StructField("c", text, metadata={
                    "meaning": "country"})])),
                T.StructField("odd", text, metadata={"meaning": ""}),
            ]
        ),
    )  # fmt: skip


def test_meanings_come_from_the_data_or_the_declared_schema(mails: DataFrame) -> None:
    def verdicts(declared: Any, **meanings: str) -> list[str]:
        wanted = [
            column("mail", "string", meaning=meanings.get("mail", "any")),
            column("site", "string", meaning=meanings.get("site", "any")),
            column("s", "struct", fields=[column("c", "string", meaning="country")]),
        ]
        outcome = judge(mails, wanted, "schema_contains", declared_schema=declared)
        return [row["verdict"] for row in outcome.details["schema"]]

    declared = [column("site", "string", meaning="url"), column("mail", "string", meaning="url")]
    assert verdicts(None) == ["ok"] * 4
    assert verdicts(None, mail="email", site="url") == ["ok", "wrong meaning", "ok", "ok"]
    assert verdicts(declared, mail="email", site="url") == ["ok"] * 4
    assert verdicts(declared, mail="url") == ["wrong meaning", "ok", "ok", "ok"]


def test_meanings_are_described(mails: DataFrame) -> None:
    columns = dq.schema_of(mails)
    assert columns[0] == column("mail", "string", meaning="email")
    assert columns[2]["fields"] == [column("c", "string", meaning="country")]
    assert "meaning" not in columns[1] | columns[3]


def test_the_declared_schema_can_be_the_expected_one(mails: DataFrame) -> None:
    right = dq.schema_of(mails)
    assert judge(mails, "declared", declared_schema=right).status == "Ok"
    assert judge(mails, "declared", declared_schema=right[:3]).message.endswith(
        "'odd' is unexpected."
    )
    other = [column("mail", "string", meaning="url"), *right[1:]]
    assert judge(mails, "declared", declared_schema=other).message.endswith(
        "'mail' has the meaning 'email' instead of 'url'."
    )
    # A meaning that only the declaration gives is not contradicted by data that gives none.
    more = [*right[:3], column("odd", "string", meaning="url")]
    assert judge(mails, "declared", declared_schema=more).status == "Ok"
    unknown = judge(mails, "declared")
    assert unknown.status == "Error"
    assert unknown.message.startswith("No schema is declared to compare with")


def test_types_need_no_look_at_the_rows(
    spark: SparkSession, count_jobs: Callable[[Callable[[], object]], int]
) -> None:
    data = spark.range(3).selectExpr("id", "CAST(id AS STRING) AS t")
    types = {"type": "schema_equals", "expected": dq.schema_of(data)}
    lengths = {"type": "schema_contains", "expected": [column("t", "varchar(1)")]}
    count = {"type": "record_count_in_range", "min": 1}
    assert count_jobs(lambda: dq.evaluate(data, [types], samples=False)) == 0
    assert count_jobs(
        lambda: dq.evaluate(data, [types, lengths, count], samples=False)
    ) == count_jobs(lambda: dq.evaluate(data, [count], samples=False))
