"""Which values broke a rule: the most frequent ones, with their counts, from one query for all."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.rules.catalogue import BUILT_IN
from dq_dagster.spark.passes import samples

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Counter = Callable[[Callable[[], object]], int]
LONG = "x" * 100

ROWS = [
    (1, "DE", 5.0, [1], "a"),
    (2, "XX", -1.0, [], "a"),
    (2, "XX", None, None, "b"),
    (3, None, 7.0, [3], "b"),
    (4, LONG, 9.0, [3], "b"),
    (5, f"{LONG}!", 9.0, [3], "b"),
]
SCHEMA = "id int, country string, x double, list array<int>, day string"


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, SCHEMA)


Shown = list[tuple[Any, int]]


def shown(outcome: dq.Outcome) -> Shown:
    """The values alone where they are of one column."""
    return [(s.values[0] if len(s.values) == 1 else s.values, s.rows) for s in outcome.samples]


CUT = f"{'x' * 60}…"
CASES: dict[str, tuple[dict[str, Any], Shown]] = {
    "set": (
        {"type": "column_values_in_set", "columns": "country", "values": ["DE"]},
        # Two values that are alike as far as they are shown are two all the same.
        [("XX", 2), (CUT, 1), (CUT, 1)],
    ),
    "null": (
        {"type": "row_dq", "expectation": "country = 'DE'", "where": "id < 4"},
        [("XX", 2), (None, 1)],
    ),
    "several columns of a condition": (
        {"type": "row_dq", "expectation": "x > 0 AND size(list) > 0", "null_is": "fail"},
        [((None, None), 1), (("-1.0", "[]"), 1)],
    ),
    "unique": ({"type": "column_unique", "columns": "id"}, [("2", 2)]),
    "unique, one of them kept in flight": (
        {"type": "column_unique", "columns": "id", "keep": {"order_by": "x"}},
        [("2", 2)],
    ),
    "key": ({"type": "unique_key", "columns": ["id", "country"]}, [(("2", "XX"), 2)]),
    "not empty": ({"type": "column_not_empty", "columns": ["country", "x"]}, [(None, 1)] * 2),
    "empty": ({"type": "column_empty", "columns": "list"}, [("[3]", 3), ("[1]", 1), ("[]", 1)]),
    "only what is beyond the hard bound": (
        {"type": "column_values_in_range", "columns": "x", "soft_max": 6, "max": 8},
        [("9.0", 2)],
    ),
    "what is beyond a soft bound": (
        {"type": "column_values_in_range", "columns": "x", "soft_max": 6, "max": 9},
        [("9.0", 2), ("7.0", 1)],
    ),
    "only the columns that fail": (
        {"type": "column_values_in_range", "columns": ["id", "x"], "max": 5},
        [("9.0", 2), ("7.0", 1)],
    ),
    "reference": (
        {
            "type": "column_values_in_reference",
            "columns": "id",
            "reference": {"asset": "ids"},
            "threshold": {"max": 1},
        },
        [("4", 1), ("5", 1)],
    ),
    "no row is to blame": ({"type": "column_max_in_range", "columns": "id", "max": 1}, []),
    "it names no column": ({"type": "row_dq", "expectation": "1 = 2"}, []),
    "it holds": ({"type": "column_values_in_range", "columns": "id", "max": 9}, []),
    "it is tolerated": (
        {"type": "column_values_in_range", "columns": "id", "max": 3, "threshold": {"max": 2}},
        [],
    ),
    "it could not be judged": ({"type": "row_dq", "expectation": "1 / (id - 1) > 0"}, []),
    "its column is missing": ({"type": "column_values_in_set", "columns": "z", "values": [1]}, []),
}


@pytest.fixture(scope="module")
def together(spark: SparkSession, table: DataFrame) -> dq.Evaluation:
    rules = [{**rule, "name": name} for name, (rule, _) in CASES.items()]
    ids = spark.createDataFrame([(1,), (2,), (3,)], "id int")
    return dq.evaluate(table, rules, references={"ids": ids})


@pytest.mark.parametrize("name", CASES)
def test_the_values_that_broke_it(together: dq.Evaluation, name: str) -> None:
    assert shown(together[name]) == CASES[name][1]


def test_values_are_in_no_message_and_no_record(together: dq.Evaluation) -> None:
    for outcome in together:
        said = [outcome.message, outcome.details, outcome.metrics, outcome.observed, repr(outcome)]
        assert "XX" not in str(said)
        assert "xxxx" not in str(said)
    assert "XX" not in str(together.to_pandas().to_dict())


def test_what_is_printed(table: DataFrame) -> None:
    rules = [
        dq.ColumnValuesInSet(name="set", columns="country", values=["DE"], where="id < 4"),
        dq.UniqueKey(name="key", columns=["id", "country"]),
        dq.ColumnValuesInRange(name="ok", columns="id", max=9),
    ]
    assert repr(dq.evaluate(table, rules)) == (
        "3 outcomes: 2 Error, 1 Ok\n"
        "Error  set  2 of 3 values (66.67 %) of 'country' are not in the set of 1 value (none "
        "allowed; rows where id < 4).\n"
        "            values: 'XX' (2)\n"
        "Error  key  2 of 6 combinations (33.33 %) of 'id' and 'country' are not unique (none "
        "allowed).\n"
        "            values: (id=2, country='XX') (2)\n"
        "Ok     ok   0 of 6 values (0 %) of 'id' are outside the expected range (at most 9)."
    )


def test_several_columns_are_named(table: DataFrame) -> None:
    rule = dq.ColumnNotEmpty(name="filled", columns=["country", "x"])
    assert repr(dq.evaluate(table, [rule])).endswith("values: country=NULL (1), x=NULL (1)")


def test_what_a_browser_or_a_terminal_would_obey_is_shown_as_text(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("<script>alert(1)</script>",), ("\x1b[31m\n",)], "s string")
    result = dq.evaluate(frame, [dq.ColumnValuesInSet(name="set", columns="s", values=["a"])])
    for page in (result._repr_html_(), result["set"]._repr_html_()):
        assert "<script>" not in page
        assert "&lt;script&gt;alert(1)" in page
    assert r"'\x1b[31m\n' (1)" in repr(result)
    assert "\x1b" not in repr(result)


def test_at_most_five_the_most_frequent_first(spark: SparkSession) -> None:
    frame = spark.sql("SELECT CAST(sqrt(id) AS INT) AS n FROM range(100)")
    result = dq.evaluate(frame, [dq.ColumnValuesInRange(name="r", columns="n", min=100)])
    assert shown(result["r"]) == [("9", 19), ("8", 17), ("7", 15), ("6", 13), ("5", 11)]


def test_each_slice_has_its_own(table: DataFrame) -> None:
    rules = [
        dq.ColumnValuesInSet(
            name="set", columns="country", values=["DE"], scope="both", where="id < 4"
        ),
        dq.ColumnUnique(name="unique", columns="id", scope="both"),
    ]
    result = dq.evaluate(table, rules, partition_by="day")
    assert shown(result["set", "a"]) == shown(result["set", "b"]) == [("XX", 1)]
    assert shown(result["set"]) == [("XX", 2)]
    assert result["unique", "a"].samples == result["unique", "b"].samples == ()
    assert shown(result["unique"]) == [("2", 2)]


@pytest.mark.parametrize("includes_blank", [False, True])
def test_repeated_values_are_counted_as_rows_are_found(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, *, includes_blank: bool
) -> None:
    """Where values are themselves they are counted; a window over all rows says the same."""
    chance = random.Random(3)
    choices: dict[str, list[Any]] = {
        "day": ["a", "b", None],
        "n": [1, 2, 3, 4, None],
        "s": ["", " ", "x", "X", "y", "y ", None],
        "f": [0.0, -0.0, 1.5, float("nan"), None],
        "d": [Decimal("1.0"), Decimal("1.5"), None],
        "free": ["x", "X", "y", None],
    }
    rows = [tuple(map(chance.choice, choices.values())) for _ in range(60)]
    kinds = "day string, n int, s string, f double, d decimal(3,1), free string collate utf8_lcase"
    frame = spark.createDataFrame([*rows, ("a", 9, "once", 9.5, Decimal(9), "once")], kinds)
    columns = ["n", "s", "f", "d", "free"]
    fields: dict[str, Any] = {
        "scope": "both",
        "where": "day IS NOT NULL OR n > 1",
        "empty_includes_blank": includes_blank,
    }
    rules: list[dq.Rule] = [
        *(dq.ColumnUnique(name=f"each {name}", columns=name, **fields) for name in columns),
        *(
            dq.UniqueKey(
                name=f"key {name} {empty}", columns=["s", name], empty_is_key=empty, **fields
            )
            for name in ("n", "d")
            for empty in (False, True)
        ),
        dq.ColumnValuesInSet(name="set", columns="n", values=[1], scope="both"),
    ]

    def found() -> dict[tuple[str, str | None], Shown]:
        result = dq.evaluate(frame, rules, partition_by="day")
        return {(one.rule.name, one.partition): shown(one) for one in result}

    counted = found()
    monkeypatch.setattr(samples, "_is_itself", lambda *_: False)
    assert counted == found()
    assert all(counted.values())


def test_sensitive_columns_are_masked_in_spark(spark: SparkSession) -> None:
    frame = spark.sql(
        "SELECT id, 'canary-7f3a' AS name, named_struct('city', 'canary-7f3a', 'n', 1) AS place "
        "FROM range(2)"
    )
    rules = [
        dq.ColumnValuesInSet(name="one", columns="name", values=["a"]),
        dq.RowExpectation(name="two", expectation="id > 5 AND NAME = 'a'"),
        dq.ColumnValuesInSet(name="field", columns="place.city", values=["a"]),
        dq.RowExpectation(name="all fields", expectation="place.n > 5"),
    ]
    sensitive = ["Name", "place.city"]
    result = dq.evaluate(frame, dq.RuleSet(asset="o", rules=rules, sensitive=sensitive))
    assert "canary" not in repr(result)
    assert shown(result["one"]) == shown(result["field"]) == [("***", 2)]
    assert shown(result["two"]) == [(("0", "***"), 1), (("1", "***"), 1)]
    assert shown(result["all fields"]) == [("***", 2)]


def test_one_query_for_all_that_fail_and_none_if_nothing_does(
    table: DataFrame, count_jobs: Counter
) -> None:
    def bad(count: int) -> list[dq.Rule]:
        return [
            dq.ColumnValuesInRange(name=f"r{n}", columns="x", max=n, scope="both")
            for n in range(count)
        ]

    def jobs(rules: Any, **arguments: Any) -> int:
        return count_jobs(lambda: dq.evaluate(table, rules, **arguments))

    assert jobs(bad(1)) == jobs(bad(8)) > jobs(bad(8), samples=False)
    assert jobs(bad(1), samples=False) == jobs(bad(8), samples=False)
    good = [dq.ColumnValuesInRange(columns="x", max=9), dq.RecordCountInRange(min=99)]
    assert jobs(good) == jobs(good, samples=False)


def test_many_rules_with_many_columns_are_no_burden(spark: SparkSession) -> None:
    """Spark can take hours to plan a filter with as many alternatives."""
    names = [f"c{n}" for n in range(30)]
    frame = spark.range(5).selectExpr(*(f"id + {n} AS c{n}" for n in range(30)))
    rules = [
        dq.ColumnValuesInRange(name="wide", columns=names, max=0),
        *(dq.ColumnValuesInRange(name=name, columns=name, max=0) for name in names),
    ]
    start = time.monotonic()
    result = dq.evaluate(frame, rules)
    assert time.monotonic() - start < 120
    assert all(len(outcome.samples) >= 4 for outcome in result)


def test_without_samples_there_are_none(table: DataFrame) -> None:
    rule = dq.ColumnValuesInSet(columns="country", values=["DE"])
    [outcome] = dq.evaluate(table, [rule], samples=False)
    assert (outcome.status, outcome.samples) == (dq.Status.ERROR, ())


def test_a_query_that_raises_costs_the_samples_alone(spark: SparkSession) -> None:
    """Counting needs one field of a struct; to show it, all of them are computed."""
    bad = "if(id > 1, raise_error('no'), 'a')"
    frame = spark.sql(f"SELECT id, named_struct('n', id, 'bad', {bad}) AS place FROM range(3)")
    rules = [
        dq.RowExpectation(name="field", expectation="place.n < 2"),
        dq.ColumnValuesInRange(name="range", columns="id", max=1),
    ]
    result = dq.evaluate(frame, rules)
    assert result["field"].message.startswith("1 of 3 rows (33.33 %) does not meet")
    assert result["range"].message.startswith("1 of 3 values (33.33 %) of 'id' is outside")
    assert result["field"].samples == result["range"].samples == ()


def test_there_are_none_after_the_deadline(spark: SparkSession) -> None:
    def dawdle(data: Any, context: Any) -> bool:
        time.sleep(3)
        return True

    rules = [
        dq.ColumnValuesInRange(name="range", columns="id", max=1),
        dq.PythonRule(name="slow", function=dawdle),
    ]
    dq.evaluate(spark.range(5), rules[:1])
    result = dq.evaluate(spark.range(5), rules, timeout=3)
    assert result["range"].message.startswith("3 of 5 values")
    assert result["range"].samples == ()


def test_odd_types_are_shown_as_text(spark: SparkSession) -> None:
    frame = spark.sql(
        "SELECT 1 AS id, X'00FF' AS b, parse_json('{\"a\": 1}') AS v, map('k', 1) AS m, "
        "TIMESTAMP'9999-12-31 23:59:59' AS t, INTERVAL '1' DAY AS i, "
        "named_struct('p', CAST(NULL AS INT)) AS s, double('NaN') AS d, collate('Ä', 'UNICODE') c"
    )
    rules = [dq.ColumnEmpty(name=name, columns=name) for name in frame.columns]
    result = dq.evaluate(frame, rules)
    assert {one.rule.name: shown(one) for one in result} == {
        "id": [("1", 1)],
        "b": [("00FF", 1)],
        "v": [('{"a":1}', 1)],
        "m": [('{"k":1}', 1)],
        "t": [("9999-12-31 23:59:59", 1)],
        "i": [("INTERVAL '1' DAY", 1)],
        "s": [("{}", 1)],
        "d": [("NaN", 1)],
        "c": [("Ä", 1)],
    }


def test_every_type_that_counts_rows_is_among_the_cases() -> None:
    tried = {rule["type"] for rule, _ in CASES.values()}
    counting = {one.model_fields["type"].default for one in BUILT_IN if one.counts_rows}
    # These have the same conditions as others, with other words.
    alike = {
        "column_values_not_in_set", "column_values_match", "column_values_not_match",
        "column_value_lengths_in_range", "column_valid_meaning",
    }  # fmt: skip
    assert counting <= tried | alike
