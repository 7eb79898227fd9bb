"""The schema of what is stored behind a URI, in a folder inside the data that Spark passes over.

It is written after the data, and an overwrite of the data takes it away: where it is, the data is
complete and has these columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dq_dagster.spark.folder_names import PARTITION_COLUMN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_COLUMN = ".dq_schema"
_FOLDER = f"{_COLUMN}=1"


def write_schema(session: SparkSession, place: str, schema: str) -> None:
    """Of the data at one place."""
    record = _table(session, {"value": [schema]})
    record.write.mode("overwrite").text(f"{place}/{_FOLDER}")


def write_schemas(session: SparkSession, root: str, names: Sequence[str], schema: str) -> None:
    """Of all the partitions with these folder names, by one write."""
    record = _table(
        session,
        {
            "value": [schema] * len(names),
            PARTITION_COLUMN: list(names),
            _COLUMN: ["1"] * len(names),
        },
    )
    writer = record.write.partitionBy(PARTITION_COLUMN, _COLUMN)
    # Other writers may be at work at the same place: this mode keeps to the folders it writes.
    writer.option("partitionOverwriteMode", "dynamic").mode("overwrite").text(root)


def schemas_at(session: SparkSession, places: Sequence[str]) -> dict[str, str]:
    """By place, by one small job; raises Spark's PATH_NOT_FOUND if one of them has none."""
    reader = session.read.schema("value string")
    found = reader.text([f"{place}/{_FOLDER}" for place in places])
    folder = "regexp_extract(_metadata.file_path, '.*/([^/]+)/[^/]+/[^/]+$', 1)"
    by_name = {row[0]: row[1] for row in found.selectExpr(folder, "value").collect()}
    names = {place: place.rpartition("/")[2] for place in places}
    return {place: by_name[name] for place, name in names.items() if name in by_name}


def _table(session: SparkSession, columns: dict[str, list[str]]) -> DataFrame:
    import pyarrow as pa

    return session.createDataFrame(pa.table(columns)).coalesce(1)
