"""Whatever people hand over as data, as one Spark DataFrame."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import NothingStored, UnreadableData
from dq_dagster.spark.session import current_session

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

# A column that says which partition a row came from. Rules, functions and queries never see it,
# and no data has a column of that name: it is another one in each process.
HIDDEN_KEY = f"__dq_partition_key_{uuid.uuid4().hex}__"


def as_spark(data: Any) -> DataFrame:
    """Spark DataFrames as they are, pandas ones converted, dicts by partition put together."""
    if _is_spark(data):
        frame: DataFrame = data
        return frame
    if _is_pandas(data):
        return _from_pandas(data)
    if isinstance(data, Mapping):
        return union([as_spark(part) for part in data.values()])
    raise UnreadableData(
        f"A Spark or pandas DataFrame is needed, not {type(data).__module__}."
        f"{type(data).__qualname__}. Let the asset return one, or give the rule set a reader."
    )


def is_frame(data: Any) -> bool:
    """Whether it is a DataFrame that Spark can store."""
    return _is_spark(data) or _is_pandas(data)


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
        raise NothingStored.no_partition_at_all()
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)
