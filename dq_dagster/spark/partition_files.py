"""Reading many folders of files as one frame, whatever columns each of them has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.spark.divided import Divided, Kind
from dq_dagster.spark.folder_names import PARTITION_COLUMN
from dq_dagster.spark.frames import HIDDEN_KEY
from dq_dagster.spark.partition_folders import StoredPartition
from dq_dagster.spark.partition_split import partition_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Those whose files may lie anywhere, and whose schema may be told to Spark.
FILE_FORMATS = frozenset({"parquet", "orc", "avro", "json", "csv", "text", "xml"})
# The folder of the partition, and below it perhaps that of an attempt.
_NAME_IN_PATH = (
    f"regexp_extract(_metadata.file_path, '.*/{PARTITION_COLUMN}=([^/]*)/(?:[^/]*/)?[^/]*$', 1)"
)


def schema_text(frame: DataFrame) -> str:
    """The schema as JSON: what a stored partition remembers of its columns."""
    return frame.schema.json()


def load_whole(session: SparkSession, kind: str, stored: StoredPartition) -> DataFrame:
    """Data that is not partitioned, with the schema that it was written with."""
    reader = session.read.format(kind)
    if kind in FILE_FORMATS:
        reader = reader.schema(_schema(stored.schema))
    return reader.load(stored.place)


def load_divided(
    session: SparkSession, kind: str, root: str, partitions: Mapping[str, StoredPartition]
) -> Divided:
    """All partitions as one frame with all their columns, and with the partition of each row.

    Spark is told the schema that each was written with, so it opens no file to find out, and a
    column that only some of them have is there, with NULL elsewhere. Partitions of the same
    schema are read together.
    """
    if kind not in FILE_FORMATS:
        frames = {key: session.read.format(kind).load(one.place) for key, one in partitions.items()}
        return Divided.of_frames(frames)
    groups: dict[str, dict[str, str]] = {}
    for key, one in partitions.items():
        groups.setdefault(one.schema, {})[key] = one.place
    return Divided.of_kinds(
        [
            Kind(frozenset(places), _load_alike(session, kind, root, _schema(text), places))
            for text, places in groups.items()
        ]
    )


def _load_alike(
    session: SparkSession, kind: str, root: str, schema: T.StructType, places: Mapping[str, str]
) -> DataFrame:
    """Partitions of one schema. Spark takes their names from the folders, once for each file."""
    reader = session.read.format(kind)
    paths = list(places.values())
    taken = PARTITION_COLUMN in {field.name.lower() for field in schema.fields}
    # A column of that name must not be hidden by that of the folders, and text has one column only,
    # also if there is no file yet that would tell Spark that the other one comes from folders.
    if taken or kind == "text":
        frame = reader.schema(schema).load(paths)
        return frame.withColumn(HIDDEN_KEY, F.expr(partition_of(_NAME_IN_PATH, places)))
    # As text: Spark would make the number 1 of the key 01.
    named = T.StructType([*schema.fields, T.StructField(PARTITION_COLUMN, T.StringType())])
    frame = reader.option("basePath", root).schema(named).load(paths)
    key = partition_of(PARTITION_COLUMN, places)
    return frame.withColumn(HIDDEN_KEY, F.expr(key)).drop(PARTITION_COLUMN)


def _schema(text: str) -> T.StructType:
    return T.StructType.fromJson(json.loads(text))
