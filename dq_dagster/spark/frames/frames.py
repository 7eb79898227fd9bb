"""Whatever people hand over as data, as one Spark DataFrame."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from dq_dagster.errors import NothingStored, UnreadableData
from dq_dagster.spark.frames.failures import reason_of
from dq_dagster.spark.session.session import is_case_sensitive

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

# A column that says which partition a row came from. Rules, functions and queries never see it,
# and no data has a column of that name: it is another one in each process.
HIDDEN_KEY = f"__dq_partition_key_{uuid.uuid4().hex}__"
# A column of the same kind that says where a row goes in flight: without any fault, with faults
# that let it pass, or kept out. After a dash it has a one or a zero for each fault that cannot be
# found again in the stored row.
TARGET = f"__dq_target_{uuid.uuid4().hex}__"
GOOD, KEPT, OUT = "good", "kept", "out"
# One that is true for rows that are in the table already, and stay there whatever they break.
STORED = f"__dq_stored_{uuid.uuid4().hex}__"
# And one that says which row of a pandas DataFrame it was.
ROW = f"__dq_row_{uuid.uuid4().hex}__"


def as_spark(data: Any) -> DataFrame:
    """Spark DataFrames as they are, pandas ones converted, dicts by partition put together."""
    if isinstance(data, Mapping):
        for part in data.values():
            if not isinstance(part, DataFrame | Mapping) and not _is_pandas(part):
                raise UnreadableData.no_table(f"a dict with a value of type {_type_of(part)}")
        return union(list(all_as_spark(data).values()))
    return all_as_spark({None: data})[None]


def is_frame(data: Any) -> bool:
    """Whether it is a DataFrame, of Spark or of pandas."""
    return isinstance(data, DataFrame) or _is_pandas(data)


def all_as_spark(parts: Mapping[Any, Any]) -> dict[Any, DataFrame]:
    """Frames that belong together, by their keys."""
    tables = {key: part for key, part in parts.items() if _is_pandas(part)}
    converted = _from_pandas(tables) if tables else {}
    return {key: converted[key] if key in converted else _one(part) for key, part in parts.items()}


def _one(data: Any) -> DataFrame:
    if isinstance(data, Mapping):
        return as_spark(data)
    # Classic and Connect DataFrames are different classes with one parent.
    if isinstance(data, DataFrame):
        return data
    raise UnreadableData.no_table(_type_of(data))


def _type_of(data: Any) -> str:
    return f"{type(data).__module__}.{type(data).__qualname__}"


def require_readable(frame: DataFrame) -> DataFrame:
    """The frame itself, for those who need all of it; raises if a column cannot be read."""
    reasons = [reason for field in frame.schema.fields if (reason := reason_of(field))]
    if reasons:
        raise UnreadableData(" ".join(reasons))
    return frame


def storable(data: Any, asset: str) -> DataFrame:
    """A frame of which nothing is lost if it is written; raises if there is none."""
    return all_storable({None: data}, asset, alike=False)[None]


def all_storable(
    parts: Mapping[Any, Any], asset: str, *, alike: bool = True
) -> dict[Any, DataFrame]:
    """The same for partitions, which have to be like those that are written in other runs."""
    frames = all_as_spark(parts)
    try:
        for key, frame in frames.items():
            require_readable(frame)
            _require_names(frame)
            require_distinct(frame.sparkSession, frame.schema)
            if alike and _is_pandas(parts[key]):
                _require_instants(parts[key], frame)
    except UnreadableData as error:
        raise UnreadableData.not_stored(asset, str(error)) from None
    return frames


def _require_names(frame: DataFrame) -> None:
    if not frame.columns:
        raise UnreadableData.no_columns()
    twice = [name for name, count in Counter(frame.columns).items() if count > 1]
    if twice:
        raise UnreadableData.column_twice(twice[0])


def require_distinct(session: SparkSession, schema: StructType) -> None:
    """Refuses columns that the session does not tell apart, and could neither write nor read."""
    names: dict[str, str] = {}
    for name in schema.names:
        other = names.setdefault(name.lower(), name)
        if other != name and not is_case_sensitive(session):
            raise UnreadableData.differ_in_case(other, name)


def _require_instants(data: pd.DataFrame, frame: DataFrame) -> None:
    """Times without a zone only stay without one if the session's zone does not have them."""
    session = frame.sparkSession
    if session.conf.get("spark.sql.timestampType") == "TIMESTAMP_NTZ":
        return
    for number, field in enumerate(frame.schema.fields):
        if "timestamp_ntz" in field.dataType.simpleString():
            zone = session.conf.get("spark.sql.session.timeZone") or "UTC"
            raise UnreadableData.off_the_clock(field.name, str(data.dtypes.iloc[number]), zone)


def _is_pandas(data: Any) -> bool:
    import pandas as pd

    return isinstance(data, pd.DataFrame)


def _from_pandas(tables: Mapping[Any, pd.DataFrame]) -> dict[Any, DataFrame]:
    # Here, since it takes a while to import what it needs.
    from dq_dagster.spark.frames.pandas_tables import from_pandas

    return from_pandas(tables)


def has_rows(frame: DataFrame) -> bool:
    """Whether there is any row."""
    return not frame.isEmpty()


def counted(frame: DataFrame) -> int:
    """How many rows there are."""
    return frame.count()


def to_pandas(frame: DataFrame) -> pd.DataFrame:
    """All rows, brought to this process: for those who keep them there anyway."""
    return frame.toPandas()


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """All rows, with the columns of all frames; what one of them has not is NULL there."""
    if not frames:
        raise NothingStored.no_partition_at_all()
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)
