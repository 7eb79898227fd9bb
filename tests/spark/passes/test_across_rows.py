"""Conditions across rows: counts, splits and samples agree with plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Row = tuple[int, str | None, int | None, str]
ROWS: list[Row] = [
    (1, "a", 10, "x"), (2, "a", 20, "x"), (3, "b", 5, "x"), (4, None, 7, "x"), (5, "c", 0, "x"),
    (6, None, 8, "y"), (7, "b", 50, "y"), (8, "b", None, "y"), (9, "d", 50, "y"),
    (10, None, 0, "y"),
]  # fmt: skip


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, "n int, k string, v int, p string").repartition(3)


def is_alone(row: Row, among: list[Row]) -> bool:
    return Counter(one[1] for one in among)[row[1]] == 1


def is_first(row: Row, among: list[Row]) -> bool:
    return row[0] == min(one[0] for one in among if one[1] == row[1])


def is_below_average(row: Row, among: list[Row]) -> bool | None:
    values = [one[2] for one in among if one[1] == row[1] and one[2] is not None]
    return None if row[2] is None else row[2] <= sum(values) / len(values)


def follows(row: Row, among: list[Row]) -> bool | None:
    before = [one[2] for one in sorted(among) if one[0] < row[0]]
    last = before[-1] if before else None
    return None if last is None or row[2] is None else row[2] >= last


def has_few(row: Row, among: list[Row]) -> bool:
    return len({one[2] for one in among if one[1] == row[1] and one[2] is not None}) < 2


def has_share(row: Row, among: list[Row]) -> bool:
    return sum(100 // one[2] for one in among if one[2]) > 35


Holds = Callable[[Row, list[Row]], bool | None]
WHERE = "v is null or v > 5"
CASES: list[tuple[str, str, str | None, Holds]] = [
    ("alone", "count(*) over (partition by k) = 1", None, is_alone),
    ("alone_where", "count(*) over (partition by k) = 1", WHERE, is_alone),
    ("first", "row_number() over (partition by k order by n) = 1", WHERE, is_first),
    ("below", "v <= avg(v) over (partition by k)", None, is_below_average),
    ("follows", "v >= lag(v) over (order by n)", None, follows),
    ("few", "size(collect_set(v) over (partition by k)) < 2", WHERE, has_few),
    # Dividing by zero raises on rows that the filter leaves out, unless they are left alone.
    ("share", "sum(100 div v) over () > 35", "v > 0", has_share),
]


def passes(row: Row, where: str | None) -> bool:
    if where == "v > 0":
        return bool(row[2])
    return where is None or row[2] is None or row[2] > 5


def broken(where: str | None, holds: Holds, among: list[Row], *, null: str = "fail") -> set[int]:
    seen = [row for row in among if passes(row, where)]
    return {
        row[0] for row in seen if not (null == "pass" if (a := holds(row, seen)) is None else a)
    }


def rules(**fields: Any) -> list[dq.RowExpectation]:
    return [
        dq.RowExpectation(name=name, expectation=sql, where=where, across_rows=True, **fields)
        for name, sql, where, _ in CASES
    ]


@pytest.mark.parametrize("null", ["fail", "pass"])
def test_counts_of_partitions_and_of_the_whole(table: DataFrame, null: str) -> None:
    found = dq.evaluate(table, rules(scope="both", null_is=null), partition_by="p")
    for name, _, where, holds in CASES:
        for part in ("x", "y", None):
            among = [row for row in ROWS if part in {None, row[3]}]
            bad = broken(where, holds, among, null=null)
            [outcome] = [o for o in found if o.rule.name == name and o.partition == part]
            assert (outcome.failed_rows, outcome.rows) == (
                len(bad),
                sum(passes(row, where) for row in among),
            ), (name, part)


@pytest.mark.parametrize("divided", [False, True])
def test_rows_that_break_them(table: DataFrame, divided: bool) -> None:
    by = "p" if divided else None
    failing = dq.failing_rows(table, rules(), partition_by=by).collect()
    found = {row["n"]: {fault["rule"] for fault in row["dq_faults"]} for row in failing}
    expected: dict[int, set[str]] = {}
    for name, _, where, holds in CASES:
        parts = [[r for r in ROWS if r[3] == p] for p in ("x", "y")] if divided else [ROWS]
        for among in parts:
            for n in broken(where, holds, among):
                expected.setdefault(n, set()).add(name)
    assert found == expected
    good, bad = dq.split(table, rules(), partition_by=by)
    assert {row["n"] for row in bad.collect()} == set(expected)
    assert {row["n"] for row in good.collect()} == {row[0] for row in ROWS} - set(expected)


def test_ten_windows_take_as_many_jobs_as_two(
    table: DataFrame, count_jobs: Callable[[Callable[[], object]], int]
) -> None:
    def judged(count: int) -> int:
        some = [
            {"type": "row_dq", "name": f"r{n}", "across_rows": True,
             "expectation": f"sum(v) over (partition by k) > {n}"}
            for n in range(count)
        ]  # fmt: skip
        return count_jobs(lambda: dq.evaluate(table, some, samples=False))

    assert judged(8) <= judged(2)


def test_a_window_that_raises_leaves_the_others_alone(table: DataFrame) -> None:
    def row_dq(name: str, expectation: str) -> dq.RowExpectation:
        return dq.RowExpectation(name=name, expectation=expectation, across_rows=True)

    found = dq.evaluate(
        table,
        [
            row_dq("alone", "count(*) over (partition by k) = 1"),
            row_dq("raises", "sum(1 / v) over () > 0"),
            row_dq("number", "sum(v) over ()"),
            row_dq("no_column", "count(*) over (partition by kk) = 1"),
            row_dq("no_table", "v > (select max(v) from no_such_table)"),
        ],
    )
    assert found["alone"].failed_rows == 8
    assert "DIVIDE_BY_ZERO" in found["raises"].message
    assert "'sum(v) over ()' is of type bigint" in found["number"].message
    assert "Column 'kk' is not in the table. Did you mean 'k'?" in found["no_column"].message
    assert "view `no_such_table` cannot be found" in found["no_table"].message


def test_subqueries_look_at_tables(table: DataFrame, spark: SparkSession) -> None:
    spark.createDataFrame([(10,), (20,)], "limit int").createOrReplaceTempView("limits_of_v")
    rule = dq.RowExpectation(
        expectation="v <= (select max(limit) from limits_of_v)", across_rows=True, null_is="pass"
    )
    try:
        good, bad = dq.split(table, [rule])
        assert {row["n"] for row in bad.collect()} == {7, 9}
        assert good.count() == 8
        assert dq.evaluate(table, [rule])[rule.name].failed_rows == 2
    finally:
        spark.catalog.dropTempView("limits_of_v")


@pytest.mark.parametrize(
    ("columns", "approximate"), [(["k"], False), (["k", "p"], False), (["k"], True)]
)
def test_keys_whose_empties_count(table: DataFrame, columns: list[str], approximate: bool) -> None:
    rule = dq.UniqueKey(columns=columns, empty_is_key=True, approximate=approximate)
    keys = [tuple(row["nkvp".index(c)] for c in columns) for row in ROWS]
    bad = sum(Counter(keys)[key] > 1 for key in keys)
    outcome = dq.evaluate(table, [rule])[rule.name]
    assert outcome.failed_rows == (len(keys) - len(set(keys)) if approximate else bad)
    if not approximate:
        assert outcome.rows == len(ROWS)
        _, failing = dq.split(table, [rule])
        assert failing.count() == bad


def test_what_cannot_be_declared() -> None:
    text = "count(*) over (partition by k) = 1"
    with pytest.raises(dq.DeclarationError, match="With across_rows: true, a rule may look beyond"):
        dq.RowExpectation(expectation=text)
    with pytest.raises(dq.DeclarationError, match="'dimensions' cannot be combined with"):
        dq.RowExpectation(expectation=text, across_rows=True, dimensions=["p"])
    with pytest.raises(dq.DeclarationError, match="put the condition into a rule of type agg_dq"):
        dq.RowExpectation(expectation="sum(v) > 1", across_rows=True)


def test_a_stream_has_no_other_rows(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    rule = dq.RowExpectation(expectation="count(*) over () > 1", across_rows=True)
    with pytest.raises(dq.DeclarationError, match="It looks at other rows, and a stream never has"):
        dq.split(stream, [rule])
