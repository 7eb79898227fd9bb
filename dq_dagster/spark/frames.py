"""Whatever people hand over as data, as one Spark DataFrame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import UnreadableData
from dq_dagster.spark.session import current_session

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

# A column that says which partition a row came from. Rules, functions and queries never see it.
HIDDEN_KEY = "__dq_partition_key__"


def as_spark(data: Any) -> DataFrame:
    """Spark DataFrames as they are, pandas ones converted, dicts by partition put together."""
    if _is_spark(data):
        frame: DataFrame = data
        return frame
    if _is_pandas(data):
        return _from_pandas(data)
    if isinstance(data, Mapping):
        for part in data.values():
            if not _is_table(part):
                raise UnreadableData.no_table(f"a dict with a value of type {_type_of(part)}")
        return union([as_spark(part) for part in data.values()])
    raise UnreadableData.no_table(_type_of(data))


def _is_table(data: Any) -> bool:
    return _is_spark(data) or _is_pandas(data) or isinstance(data, Mapping)


def _type_of(data: Any) -> str:
    return f"{type(data).__module__}.{type(data).__qualname__}"


def _is_spark(data: Any) -> bool:
    # Classic and Connect DataFrames are different classes with one parent.
    from pyspark.sql import DataFrame

    return isinstance(data, DataFrame)


def _is_pandas(data: Any) -> bool:
    import pandas as pd

    return isinstance(data, pd.DataFrame)


def _from_pandas(data: pd.DataFrame) -> DataFrame:
    """Missing values of pandas (None, NaN, NaT, NA) become NULL, as pandas means them."""
    import pyarrow as pa

    names = [str(name) for name in data.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UnreadableData(f"The pandas DataFrame has the column {twice[0]!r} twice.")
    try:
        table = pa.Table.from_pandas(data, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise UnreadableData(
            "The pandas DataFrame has a column whose values are not all of one type "
            f"({type(error).__name__}: {_culprit(error)}). Convert that column first."
        ) from None
    return current_session().createDataFrame(table.rename_columns(names))


def _culprit(error: Exception) -> str:
    # Arrow names the column in the last line of its text; the first ones quote values.
    return str(error.args[-1]) if len(error.args) > 1 else "mixed values"


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """All rows, with the columns of all frames; what one of them has not is NULL there."""
    if not frames:
        raise UnreadableData.no_partition_at_all()
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)
