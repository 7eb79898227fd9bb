"""dq.diff: what it says, what it refuses, and what it costs."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from pyspark.errors import PySparkException
from rich.console import Console

import dq_dagster as dq
from dq_dagster.errors import Misfit
from dq_dagster.spark.passes.diff import join
from tests.spark.passes.test_blocks import colliding

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    Count = Callable[[Callable[[], object]], int]

NAN = float("nan")
SECRET = "secret 4711"


def test_the_report_as_text_html_json_and_rich(spark: SparkSession) -> None:
    left = spark.createDataFrame(
        [(1, "a", 1.5), (2, "b", 2.0), (3, SECRET, 3.0), (4, "d", None)],
        "id int, `<b>` string, n double",
    )
    right = spark.createDataFrame(
        [(1, "a", 1.0, None), (2, None, 2.0, None), (4, "d", None, None), (5, "e", 1.0, None)],
        "id bigint, `<b>` string, n double, extra date",
    )
    found = dq.diff(left, right, keys="id")
    assert str(found).splitlines() == [
        "4 of 5 rows differ: 1 only left, 1 only right, 2 changed; 1 is the same.",
        "Only right: column 'extra'.",
        "'id' is of type int left, bigint right.",
        "column  changed  only left NULL  only right NULL  largest difference",
        "<b>           1               0                1",
        "n             1               0                0                 0.5",
    ]
    html = found._repr_html_()
    assert "<b>4 of 5 rows differ" in html
    assert '<td style="text-align:left">&lt;b&gt;</td>' in html
    plain = json.loads(found.to_json())
    assert plain["equal"] is False
    assert plain["columns"][1] == {
        "column": "n",
        "right": "n",
        "changed": 1,
        "only_left_null": 0,
        "only_right_null": 0,
        "largest_difference": 0.5,
    }
    assert plain["schema"]["only_right"] == ["extra"]
    assert plain["samples"] == {}
    assert SECRET not in str(found) + html + found.to_json()
    shown = dq.diff(left, right, keys="id", samples=1)
    assert f"Only left:\n  id: 3, <b>: {SECRET}, n: 3.0" in str(shown)
    assert shown.to_dict()["samples"]["only_right"] == [
        {"id": "5", "<b>": "e", "n": "1.0", "extra": None}
    ]
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(shown)
    assert "largest difference" in console.export_text()


def test_equal_tables_whatever_the_order(spark: SparkSession) -> None:
    left = spark.createDataFrame(
        [(1, NAN, {"a": 1, "b": 2}), (2, 0.0, None)], "k int, x double, m map<string,int>"
    )
    right = spark.createDataFrame(
        [({"b": 2, "a": 1}, NAN, 1), (None, -0.0, 2)], "m map<string,int>, X double, K int"
    )
    found = dq.diff(left, right, keys=["k"])
    assert found.equal
    assert str(found).splitlines()[0] == "All 2 rows are the same."
    hashes = [dq.row_hashes(one, columns=["k", "x", "m"]) for one in (left, right)]
    assert hashes[0].whole == hashes[1].whole
    nothing = dq.diff(left.limit(0), right.limit(0), keys="k")
    assert (nothing.equal, nothing.headline()) == (True, "There are no rows.")


def test_pandas_files_and_tables(spark: SparkSession, tmp_path: Path) -> None:
    data = pd.DataFrame({"id": [1, 2], "at": pd.to_datetime(["2024-01-01", "2024-01-02"])})
    spark.createDataFrame(data).write.parquet(str(tmp_path / "t"))
    spark.sql(
        "CREATE OR REPLACE TEMP VIEW diff_there AS SELECT 1 AS id, TIMESTAMP'2024-01-01' AS at"
    )
    assert dq.diff(data, str(tmp_path / "t"), keys="id").equal
    assert dq.diff(dq.Files(str(tmp_path / "t")), tmp_path / "t", keys="id").equal
    for there in ("diff_there", dq.Table("diff_there"), dq.Reference(table="diff_there")):
        assert dq.diff(data, there, keys="id").only_left == 1
    with pytest.raises(dq.UnreadableData, match="'/no/such' does not exist"):
        dq.diff(data, "/no/such", keys="id")
    with pytest.raises(dq.UnreadableData, match="Table 'no_such' cannot be read"):
        dq.diff(data, "no_such", keys="id")


def test_other_names_and_types_on_the_right(spark: SparkSession) -> None:
    left = spark.createDataFrame(
        [(1, 2, Decimal("0.10"), 2**53 + 1)], "id int, n int, d decimal(4,2), b bigint"
    )
    right = spark.createDataFrame(
        [(1, 2, Decimal("0.1"), float(2**53))], "key bigint, other bigint, d decimal(9,1), b double"
    )
    found = dq.diff(left, right, keys={"id": "key"}, renamed={"n": "other"})
    assert {name: one.changed for name, one in found.columns.items()} == {"n": 0, "d": 0, "b": 1}
    assert found.schema.types["n"] == ("int", "bigint")
    one = dq.diff(left, right, keys={"id": "key"}, columns={"n": "other"})
    assert (one.equal, list(one.columns)) == (True, ["n"])
    assert dq.diff(left, right, keys={"id": "key"}, ignore=["b", "n", "other"]).equal


def test_types_that_are_never_equal_are_said(spark: SparkSession) -> None:
    left = spark.sql("SELECT 1 AS id, 'a' AS x")
    right = spark.sql("SELECT 1 AS id, 2 AS x")
    found = dq.diff(left, right, keys="id")
    assert (found.same, found.equal, found.schema.not_compared) == (1, False, ("x",))
    assert "'x' is of type string left, int right, and is not compared." in str(found)
    with pytest.raises(
        Misfit, match="Column 'x' of type string cannot be compared with 'x' of type int"
    ):
        dq.diff(left, right, keys="id", columns="x")
    variant = spark.sql("SELECT 1 AS id, parse_json('1') AS v")
    with pytest.raises(Misfit, match="does not fit column 'v' of type variant"):
        dq.diff(variant, variant, keys="id")


@pytest.mark.parametrize(
    ("fields", "changed"),
    [
        ({}, {"n", "t", "at"}),
        ({"tolerance": 0.2}, {"t", "at"}),
        ({"tolerance": {"n": 0.05}, "relative_tolerance": {"n": 0.1}}, {"t", "at"}),
        ({"relative_tolerance": 0.05}, {"n", "t", "at"}),
        ({"ignore_case": True, "ignore_whitespace": "t"}, {"n", "at"}),
        ({"ignore_whitespace": ["t"], "tolerance": {"at": "5 s"}}, {"n", "t"}),
        ({"tolerance": {"at": timedelta(seconds=1.9)}, "ignore": "t"}, {"n", "at"}),
    ],
)
def test_what_counts_as_equal(spark: SparkSession, fields: Any, changed: set[str]) -> None:
    at = datetime(2024, 1, 1, tzinfo=UTC)
    kinds = "id string, n decimal(5,2), t string, at timestamp"
    left = spark.createDataFrame([("A", Decimal("1.10"), " Two\u00a0 words", at)], kinds)
    later = at + timedelta(seconds=2)
    right = spark.createDataFrame([("A", Decimal("1.21"), "two words ", later)], kinds)
    found = dq.diff(left, right, keys="id", **fields)
    assert {name for name, one in found.columns.items() if one.changed} == changed


@pytest.mark.parametrize("kind", ["string", "string collate UTF8_LCASE"])
@pytest.mark.parametrize(
    ("fields", "changed"),
    [
        ({}, {2, 3, 4, 5, 6, 7}),
        ({"ignore_case": True}, {2, 4, 5, 6, 7}),
        ({"ignore_whitespace": True}, {2, 3, 5, 6, 7}),
        ({"ignore_case": ["t"], "ignore_whitespace": ["t"]}, {2, 5, 6, 7}),
    ],
)
def test_long_texts_are_compared_whole(
    spark: SparkSession, kind: str, fields: Any, changed: set[int]
) -> None:
    long = "\u00e4 text of more bytes than a hash has \u2014 " * 40
    pairs = {
        1: (long, long),
        2: (long + "x", long + "y"),
        3: (long, long.upper()),
        4: (long, long.replace(" ", "  ")),
        5: (long, None),
        6: (None, long),
        7: ("x" * 64, "x" * 65),
        8: ("\u00e4" * 32, "\u00e4" * 32),
        9: ("\u00e4" * 33, "\u00e4" * 33),
    }
    sides = [
        spark.createDataFrame([(n, pair[at]) for n, pair in pairs.items()], "id int, t string")
        .selectExpr("id", f"CAST(t AS {kind}) AS t")
        for at in (0, 1)
    ]  # fmt: skip
    found = dq.diff(*sides, keys="id", **fields)
    one = found.columns["t"]
    assert (found.changed, one.changed) == (len(changed), len(changed))
    assert (one.emptied, one.filled) == (1, 1)
    rows = found.changed_rows.collect()
    assert {row["id"]: (row["left"]["t"], row["right"]["t"]) for row in rows} == {
        n: pairs[n] for n in changed
    }


def test_long_texts_made_to_share_a_hash_are_still_others(spark: SparkSession) -> None:
    sides = [
        spark.sql(f"SELECT 1 AS id, CAST(X'{(b'x' * 64 + end).hex()}' AS STRING) AS t")
        for end in colliding()
    ]
    hashes = [side.selectExpr("xxhash64(t)", "xxhash64(7L, t)").collect() for side in sides]
    assert hashes[0] == hashes[1]
    assert dq.diff(*sides, keys="id").changed == 1


def test_keys_that_do_not_tell_rows_apart_are_an_error(spark: SparkSession) -> None:
    rows = spark.createDataFrame(
        [(1, SECRET), (1, "x"), (1, "y"), (2, "z"), (None, "n")], "id int, t string"
    )
    good = spark.createDataFrame([(1, "x")], "id int, t string")
    said = "rows without a value there: 1; values that occur more than once: 1."
    with pytest.raises(Misfit) as error:
        dq.diff(rows, good, keys="id")
    assert str(error.value) == (
        "'id' cannot tell the rows of the left side apart, so that they cannot be compared: " + said
    )
    with pytest.raises(Misfit, match=r"rows of the right side apart.*without a value there: 1"):
        dq.diff(good, rows.where("id IS NULL OR id = 2"), keys="id")
    # Those that the other side does not have, too.
    with pytest.raises(Misfit, match="values that occur more than once: 1"):
        dq.diff(good, spark.sql("SELECT 9 AS id, 'x' AS t UNION ALL SELECT 9, 'y'"), keys="id")
    missing = spark.createDataFrame([(None, "a"), (None, "b"), (1, "x")], "id int, t string")
    with pytest.raises(Misfit, match=r"rows without a value there: 2\."):
        dq.diff(missing, good, keys="id")
    # Joined, these would be far too many rows.
    many = spark.range(200_000).selectExpr("1 AS id")
    with pytest.raises(Misfit, match="values that occur more than once: 1"):
        dq.diff(many, many, keys="id")


def test_repeated_keys_are_found_whatever_the_session_makes_of_overflows(
    spark: SparkSession,
) -> None:
    lenient = spark.newSession()
    lenient.conf.set("spark.sql.ansi.enabled", "false")
    twice = lenient.range(2).selectExpr("7 AS id")
    with pytest.raises(Misfit, match="values that occur more than once: 1"):
        dq.diff(twice, twice, keys="id")


def test_data_that_overflows_on_its_own_is_not_taken_for_repeated_keys(
    spark: SparkSession,
) -> None:
    ages = "make_dt_interval(106751991) + make_dt_interval(CAST(id AS INT)) AS age"
    right = spark.range(3).selectExpr("id", "make_dt_interval(1) AS age")
    with pytest.raises(PySparkException, match="INTERVAL_ARITHMETIC_OVERFLOW"):
        dq.diff(spark.range(3).selectExpr("id", ages), right, keys="id")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"keys": "idd"}, "Column 'idd' is not in the table. Did you mean 'id'"),
        ({"keys": "id", "columns": "x"}, "Column 'x' is not in the table"),
        (
            {"keys": "id", "tolerance": {"t": 1}},
            "A tolerance does not fit column 't' of type string",
        ),
        ({"keys": "id", "tolerance": -1}, "finite number that is not negative, not -1"),
        ({"keys": "id", "tolerance": "5 s"}, "a time is the tolerance of a column"),
        ({"keys": "id", "columns": "t", "ignore": "t"}, "'ignore' goes without 'columns'"),
        ({"keys": "id", "samples": 101}, "samples is a number of rows, from 0 to 100"),
        ({"keys": "id", "hashes": (None, None)}, "hashes need partition_by"),
        ({"keys": "id", "partition_by": "no("}, "partition_by, 'no\\(', is neither a column nor"),
    ],
)
def test_what_cannot_be_compared_is_said(spark: SparkSession, fields: Any, words: str) -> None:
    table = spark.sql("SELECT 1 AS id, 'a' AS t")
    with pytest.raises(dq.DqError, match=words):
        dq.diff(table, table, **fields)


def test_jobs_do_not_depend_on_columns(spark: SparkSession, count_jobs: Count) -> None:
    narrow = spark.range(9).selectExpr("id", "id AS c0")
    wide = spark.range(9).selectExpr("id", *(f"id * {n} AS c{n}" for n in range(120)))
    few = count_jobs(lambda: dq.diff(narrow, narrow.where("id > 2"), keys="id"))
    assert count_jobs(lambda: dq.diff(wide, wide.where("id > 2"), keys="id")) == few


def test_one_join_and_no_second_shuffle_for_the_keys(spark: SparkSession) -> None:
    left = spark.range(9).selectExpr("id", "id AS c")
    found = dq.diff(left, left, keys="id")
    joined = found._join._joined()  # noqa: SLF001
    plan: Any = joined._jdf.queryExecution().executedPlan().toString()  # noqa: SLF001
    # The initial plan of adaptive execution is the one before anything ran.
    assert plan.count("FullOuter") == 1
    assert plan.count("Exchange hashpartitioning") == 2
    assert plan.count("Sort [") == 2
    # Sorted and joined as what they are: decimals of 19 digits take longer.
    assert "decimal" not in plan


def test_changes_to_and_from_null_are_counted_apart_in_large_tables(spark: SparkSession) -> None:
    rows = "VALUES (1, NULL, 'x'), (2, 'y', NULL), (3, 'z', NULL), (4, NULL, NULL), (5, 'a', 'b')"
    table = spark.sql(f"SELECT * FROM {rows} AS t (id, l, r)")
    found = dq.diff(table.selectExpr("id", "l AS c"), table.selectExpr("id", "r AS c"), keys="id")
    changes = found.columns["c"]
    assert (changes.changed, changes.emptied, changes.filled) == (4, 2, 1)
    # What fits into one number for these few rows is counted in two for more than 2^31 of them.
    for counting in (join._paired_nulls, join._nulls):  # noqa: SLF001
        [row] = found._join._aggregated(counting).values()  # noqa: SLF001
        assert join._null_changes("l_v.c0", row) == (2, 1)  # noqa: SLF001


@pytest.mark.parametrize(
    ("kinds", "values", "tolerance", "largest"),
    [
        # Spark rounds these differences to fewer places than the values have.
        (("decimal(38,18)", "decimal(38,18)"), ("3e-18", "1e-18"), Decimal("1e-18"), 2e-18),
        (("decimal(38,10)", "bigint"), ("1.0000000001", "1"), Decimal("1e-11"), 1e-10),
        (("decimal(38,0)", "decimal(38,18)"), ("1", "1.0000001"), Decimal("1e-8"), 1e-7),
        # More digits than a decimal of as many places has: then with fewer of them.
        (("decimal(38,0)", "decimal(38,18)"), ("1e30", "0.5"), Decimal("1e-8"), 1e30),
    ],
)
def test_distances_of_decimals_keep_all_places(
    spark: SparkSession,
    kinds: tuple[str, str],
    values: tuple[str, str],
    tolerance: Decimal,
    largest: float,
) -> None:
    sides = [
        spark.sql(f"SELECT 1 AS id, CAST('{value}' AS {kind}) AS v")
        for kind, value in zip(kinds, values, strict=True)
    ]
    for leeway in ({}, {"tolerance": tolerance}, {"relative_tolerance": 1e-15}):
        found = dq.diff(*sides, keys="id", **leeway)
        assert (found.changed, found.columns["v"].largest) == (1, largest), leeway
    assert dq.diff(*sides, keys="id", tolerance=2 * largest).changed == 0
