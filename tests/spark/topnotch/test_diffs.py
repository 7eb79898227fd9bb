"""Diffs of TopNotch plans, compared with plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from dq_dagster.errors import Misfit, UnreadableData
from dq_dagster.plan.topnotch import DiffCommand, DiffSide, Figure, PlanInput
from dq_dagster.spark.topnotch.diffs import diff

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def command(
    columns: Sequence[str],
    tolerances: Sequence[Figure],
    *,
    keys: tuple[str, ...] = ("id",),
    only_differences: bool = False,
) -> DiffCommand:
    return DiffCommand(
        "d",
        {},
        "plan.json:1:1",
        left=DiffSide(PlanInput("l"), "cur", keys, tuple(columns)),
        right=DiffSide(PlanInput("r"), "old", keys, tuple(columns)),
        tolerances=tuple(tolerances),
        only_differences=only_differences,
    )


# --- The same in plain Python -----------------------------------------------------------------


def verdict(one: Any, other: Any, *, numbers: bool, tolerance: Figure) -> str:
    if one is None or other is None:
        words = {(True, True): "both null", (True, False): "only first null"}
        return words.get((one is None, other is None), "only second null")
    same = one == other or (numbers and is_nan(one) and is_nan(other))
    if numbers and not same and not is_nan(one) and not is_nan(other):
        same = abs(one - other) <= kind_of(one)(tolerance)
    return "equal" if same else "both not null, same type, not equal"


def minus(one: Any, other: Any, tolerance: Figure) -> Any:
    if one is None or other is None:
        return None
    difference = one - other
    if is_nan(difference):
        return difference
    return difference if abs(difference) >= kind_of(one)(tolerance) else kind_of(one)(0)


def kind_of(value: Any) -> Any:
    return float if isinstance(value, float) else lambda number: Decimal(str(number))


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def as_text(value: Any) -> str:
    """The same text for equal values, whatever numbers they are."""
    if value is None or isinstance(value, str | bool):
        return repr(value)
    return "nan" if is_nan(value) else f"{float(value):.12g}"


BIG, INFINITE, NOT_A_NUMBER = 2**63 - 1, math.inf, math.nan
VALUES: dict[str, tuple[str, list[Any], Figure]] = {
    "int": ("int", [0, 1, -1, 2**31 - 1, -(2**31), None], 1),
    "long": ("bigint", [0, 1, BIG, -BIG - 1, None], 0),
    "tiny": ("tinyint", [127, -128, 0, None], Decimal("0.5")),
    "decimal": ("decimal(38, 2)", [Decimal("1.10"), Decimal("1.11"), Decimal(10**35), None], 0.01),
    "double": ("double", [0.0, -0.0, 1.0, 1.05, INFINITE, -INFINITE, NOT_A_NUMBER, None], 0.1),
    "float": ("float", [0.5, 0.25, INFINITE, NOT_A_NUMBER, None], 0.25),
    "text": ("string", ["a", "A", "", " a", None], 5),
    "flag": ("boolean", [True, False, None], 0),
}


def every_pair() -> list[tuple[Any, ...]]:
    """For each pair of values of each column a row; columns that have fewer begin anew."""
    pairs = {name: [(a, b) for a in some for b in some] for name, (_, some, _) in VALUES.items()}
    longest = max(map(len, pairs.values()))
    return [tuple(pairs[name][n % len(pairs[name])] for name in VALUES) for n in range(longest)]


def frames(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    rows = every_pair()
    columns = ", ".join(f"{name} {kind}" for name, (kind, _, _) in VALUES.items())
    left, right = (
        spark.createDataFrame(
            [(number, *(pair[side] for pair in row)) for number, row in enumerate(rows)],
            f"id int, {columns}",
        )
        for side in (0, 1)
    )
    return left, right


def test_every_kind_of_value_is_compared_as_python_does(spark: SparkSession) -> None:
    tolerances = [tolerance for *_, tolerance in VALUES.values()]
    found = diff(command(list(VALUES), tolerances), *frames(spark)).collect()
    pairs = every_pair()
    assert len(found) == len(pairs)
    for row in found:
        assert row.cur_id == row.old_id
        for (name, (_, _, tolerance)), (one, other) in zip(
            VALUES.items(), pairs[row.cur_id], strict=True
        ):
            numbers = name not in {"text", "flag"}
            equals = row[f"cur_{name}__equals__old_{name}"]
            assert equals == verdict(one, other, numbers=numbers, tolerance=tolerance), (
                name,
                one,
                other,
            )
            if numbers:
                shown = row[f"cur_{name}__minus__old_{name}"]
                assert as_text(shown) == as_text(minus(one, other, tolerance)), (name, one, other)
    assert "cur_text__minus__old_text" not in found[0]


def test_rows_of_one_side_and_rows_that_differ(spark: SparkSession) -> None:
    left = spark.createDataFrame(
        [(1, 1.0, "a"), (2, 2.0, "a"), (3, None, None), (4, 4.0, "x"), (5, None, "b")],
        "id int, x double, t string",
    )
    right = spark.createDataFrame(
        [(1, 1.05, "a"), (2, 2.5, "a"), (4, 4.0, "y"), (5, None, "b"), (6, 6.0, None)],
        "id int, x double, t string",
    )
    every = diff(command("xt", [0.1, 0]), left, right)
    assert every.columns == [
        "cur_id",
        "old_id",
        "cur_x",
        "old_x",
        "cur_x__minus__old_x",
        "cur_x__equals__old_x",
        "cur_t",
        "old_t",
        "cur_t__equals__old_t",
    ]
    assert every.count() == 6
    some = diff(command("xt", [0.1, 0], only_differences=True), left, right)
    # Neither 1, which is within the tolerance, nor 5; but 3, which has no like and no values.
    kept = sorted((row.cur_id or row.old_id, row.cur_id is None) for row in some.collect())
    assert kept == [(2, False), (3, False), (4, False), (6, True)]


def test_types_that_differ_are_not_compared_but_subtracted(spark: SparkSession) -> None:
    left = spark.createDataFrame([(1, 1, "1"), (2, 5, None)], "id int, x int, t string")
    right = spark.createDataFrame([(1, 1.0, 1), (2, 2.5, None)], "id int, x double, t int")
    found = sorted(diff(command("xt", [0.1, 0]), left, right).collect())
    assert [row.cur_x__equals__old_x for row in found] == ["different types"] * 2
    assert [row.cur_x__minus__old_x for row in found] == [0.0, 2.5]
    assert [row.cur_t__equals__old_t for row in found] == ["different types", "both null"]


def test_numbers_of_two_types_that_are_equal_are_left_out_like_others(spark: SparkSession) -> None:
    left = [(1, 20), (2, -5), (3, 7), (4, None), (5, None), (6, 1)]
    right = [(1, 20.0), (2, -5.05), (3, 7.2), (4, None), (5, 1.0), (6, math.inf)]
    whole = spark.createDataFrame(left, "id int, x int")
    double = spark.createDataFrame(right, "id int, x double")
    found = diff(command("x", [0.1], only_differences=True), whole, double)
    assert sorted(row.cur_id for row in found.collect()) == [3, 5, 6]
    # A text is no number, whatever it says.
    texts = spark.createDataFrame([(1, "20")], "id int, x string")
    found = diff(command("x", [0.1], only_differences=True), whole.limit(1), texts)
    assert [row.cur_x__equals__old_x for row in found.collect()] == ["different types"]


APART = "'id' cannot tell the rows of 'old' apart, so that they cannot be compared:"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            [1, 1, 2, 2, 3, None, None, None],
            f"{APART} rows without a value there: 3; values that occur more than once: 2.",
        ),
        ([1, None], f"{APART} rows without a value there: 1."),
        ([1, 2, 2], f"{APART} values that occur more than once: 1."),
    ],
)
def test_keys_must_tell_rows_apart(spark: SparkSession, keys: list[Any], message: str) -> None:
    left = spark.createDataFrame([(1, 1)], "id int, x int")
    right = spark.createDataFrame([(key, 1) for key in keys], "id int, x int")
    with pytest.raises(Misfit) as caught:
        diff(command("x", [0]), left, right)
    assert str(caught.value) == message


def test_odd_names_fields_of_structs_and_no_rows(spark: SparkSession) -> None:
    frame = spark.sql("select 1 as `a``b ;--`, named_struct('x', 1.5D) as s")
    odd = command(["s.x"], [0], keys=("a`b ;--",))
    [row] = diff(odd, frame, frame).collect()
    assert row["cur_a`b ;--"] == 1
    assert row["cur_s_x__equals__old_s_x"] == "equal"
    assert diff(odd, frame.where("false"), frame.where("false")).collect() == []


def test_columns_that_are_missing_or_have_no_equality(spark: SparkSession) -> None:
    frame = spark.sql("select 1 as id, map('a', 1) as m")
    with pytest.raises(Misfit, match="Column 'x' is not in the table"):
        diff(command(["x"], [0]), frame, frame)
    with pytest.raises(UnreadableData, match="'d' cannot be compared"):
        diff(command(["m"], [0]), frame, frame)
