"""Rows that commands read, and queries over them.

A query only ever reaches Spark within a SELECT of ours, where nothing but a query is accepted. Its
inputs are named within the text, so that no session has them as tables afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dq_dagster.errors import UnreadableData
from dq_dagster.plan.topnotch import PlanInput, ViewCommand
from dq_dagster.spark.frames.columns import identifier
from dq_dagster.spark.frames.reading import explained, read_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read_input(session: SparkSession, source: PlanInput) -> DataFrame:
    """Files: Parquet, or with a delimiter texts with a header, whose types fit their values."""
    if source.delimiter is None:
        return read_files(session, source.path, kind="parquet", options={})
    return read_files(session, source.path, kind="csv", options={"sep": source.delimiter})


def view(command: ViewCommand, frames: Sequence[DataFrame]) -> DataFrame:
    """The rows of a query over the inputs, lazily."""
    names = [f"input_{number}" for number in range(len(frames))]
    inputs = ", ".join(
        f"{identifier(alias)} AS (SELECT * FROM {{{name}}})"  # noqa: S608 (quoted)
        for alias, name in zip(command.aliases, names, strict=True)
    )
    # PySpark fills in what is in braces: only our names are.
    query = command.query.replace("{", "{{").replace("}", "}}")
    text = f"WITH {inputs} SELECT * FROM (\n{query}\n)"  # noqa: S608 (the author's own SQL)
    session = frames[0].sparkSession
    by_name = dict(zip(names, frames, strict=True))
    return explained(
        lambda: session.sql(text, None, **by_name), f"The query of '{command.key}' fails"
    )


def with_features(frame: DataFrame, features: Mapping[str, str]) -> DataFrame:
    """The rows with further columns, each an expression over the others."""
    if not features:
        return frame
    there = {name.lower() for name in frame.columns}
    taken = [name for name in features if name.lower() in there]
    if taken:
        raise UnreadableData.feature_taken(taken[0])
    added = [f"({sql}) AS {identifier(name)}" for name, sql in features.items()]
    return explained(
        lambda: frame.selectExpr("*", *added), f"The features {', '.join(features)} cannot be added"
    )
