"""Two inputs side by side: which rows are on one side only, and where columns differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.errors import Misfit
from dq_dagster.plan.topnotch import ColumnPair, DiffCommand, DiffSide
from dq_dagster.spark.expressions.differences import difference, figure
from dq_dagster.spark.frames.columns import JudgedTable, identifier, text_literal
from dq_dagster.spark.frames.frames import require_readable
from dq_dagster.spark.frames.reading import explained

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BOTH_NULL, FIRST_NULL, SECOND_NULL = "both null", "only first null", "only second null"
OTHER_TYPE, EQUAL = "different types", "equal"
DIFFERENT = "both not null, same type, not equal"


def diff(command: DiffCommand, left: DataFrame, right: DataFrame) -> DataFrame:
    """Each key with the columns of both sides, their differences, and whether they are equal.

    Raises Misfit if a key is missing or occurs twice on a side, for which the rows are read; all
    else is lazy.
    """
    sides = (_side(command.left, left), _side(command.right, right))
    for side, frame in zip((command.left, command.right), sides, strict=True):
        _require_keys(side, frame)
    keys = [[identifier(side.named(key)) for key in side.keys] for side in _both(command)]
    same = " AND ".join(f"{one} = {other}" for one, other in zip(*keys, strict=True))
    joined = sides[0].join(sides[1], F.expr(same), "full_outer")
    columns = [name for some in keys for name in some]
    for pair in command.pairs:
        columns += _compared(pair, joined.schema)
    rows = explained(lambda: joined.selectExpr(*columns), f"'{command.key}' cannot be compared")
    if not command.only_differences:
        return rows
    differs = [f"NOT ({_alike(pair, joined.schema)})" for pair in command.pairs]
    # A row without a like differs, also if it has nothing to compare.
    alone = [f"{some[0]} IS NULL" for some in keys]
    return rows.where(" OR ".join([*alone, *differs]))


def _both(command: DiffCommand) -> tuple[DiffSide, DiffSide]:
    return command.left, command.right


def _side(side: DiffSide, frame: DataFrame) -> DataFrame:
    """The columns that matter, under the names that they have in the diff."""
    table = JudgedTable.of(require_readable(frame))
    return frame.selectExpr(
        *(
            f"{table.column(name).sql} AS {identifier(side.named(name))}"
            for name in (*side.keys, *side.columns)
        )
    )


def _require_keys(side: DiffSide, frame: DataFrame) -> None:
    keys = [identifier(side.named(key)) for key in side.keys]
    missing = " OR ".join(f"{key} IS NULL" for key in keys)
    counted = frame.groupBy(*(F.expr(key) for key in keys)).agg(F.count("*").alias("dq_rows"))
    [found] = counted.selectExpr(
        f"coalesce(sum(if({missing}, dq_rows, 0)), 0) AS missing",
        f"count_if(dq_rows > 1 AND NOT ({missing})) AS repeated",
    ).collect()
    if found.missing or found.repeated:
        raise Misfit.no_diff_key(f"'{side.name}'", side.keys, found.missing, found.repeated)


def _alike(pair: ColumnPair, schema: T.StructType) -> str:
    """Whether a row of the diff has nothing that differs in a pair: of numbers, whatever type."""
    verdict = identifier(pair.equals)
    alike = f"{verdict} IN ({text_literal(EQUAL)}, {text_literal(BOTH_NULL)})"
    close = _close(pair, schema)
    if close is None:
        return alike
    return f"{alike} OR ({verdict} = {text_literal(OTHER_TYPE)} AND {close})"


def _close(pair: ColumnPair, schema: T.StructType) -> str | None:
    """Whether two numbers are equal within the tolerance; None if they are no numbers."""
    one, other = identifier(pair.left), identifier(pair.right)
    kinds = schema[pair.left].dataType, schema[pair.right].dataType
    apart = difference(one, other, *kinds)
    if apart is None:
        return None
    # First this: two infinities have no difference.
    within = f"abs({apart}) <= {figure(pair.tolerance, *kinds)}"
    return f"({one} = {other} OR coalesce({within}, false))"


def _compared(pair: ColumnPair, schema: T.StructType) -> list[str]:
    """The columns of a pair: both values, their difference if they are numbers, and the verdict."""
    one, other = identifier(pair.left), identifier(pair.right)
    kinds = schema[pair.left].dataType, schema[pair.right].dataType
    columns = [one, other]
    verdict = text_literal(OTHER_TYPE)
    apart = difference(one, other, *kinds)
    if apart is not None:
        at_least = f"abs({apart}) >= {figure(pair.tolerance, *kinds)}"
        shown = f"if(coalesce({at_least}, true), {apart}, 0)"
        present = f"{one} IS NOT NULL AND {other} IS NOT NULL"
        columns.append(f"if({present}, {shown}, NULL) AS {identifier(pair.minus)}")
    if kinds[0] == kinds[1]:
        equal = _close(pair, schema) or f"{one} = {other}"
        verdict = f"if({equal}, {text_literal(EQUAL)}, {text_literal(DIFFERENT)})"
    columns.append(
        f"CASE WHEN {one} IS NULL AND {other} IS NULL THEN {text_literal(BOTH_NULL)} "
        f"WHEN {one} IS NULL THEN {text_literal(FIRST_NULL)} "
        f"WHEN {other} IS NULL THEN {text_literal(SECOND_NULL)} "
        f"ELSE {verdict} END AS {identifier(pair.equals)}"
    )
    return columns
