"""Reading many folders of files as one frame, whatever columns each of them has."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import types as T

from dq_dagster.errors import UnreadableData
from dq_dagster.spark.partition_folders import StoredPartition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Those whose files may lie anywhere, and whose schema may be told to Spark.
FILE_FORMATS = frozenset({"parquet", "orc", "avro", "json", "csv", "text", "xml"})


def schema_text(frame: DataFrame) -> str:
    """The schema as JSON: what a stored partition remembers of its columns."""
    return frame.schema.json()


def load_folders(
    session: SparkSession, kind: str, partitions: Sequence[StoredPartition]
) -> DataFrame:
    """All partitions as one frame with all their columns.

    Spark is told the schema that each was written with, so it opens no file to find out, and a
    column that only some of them have is there, with NULL elsewhere. Partitions of the same
    schema are read together.
    """
    groups: dict[str, list[str]] = {}
    for partition in partitions:
        groups.setdefault(partition.schema, []).append(str(partition.folder))
    schemas = {text: T.StructType.fromJson(json.loads(text)) for text in groups}
    _require_same_types(list(schemas.values()), partitions)
    frames = []
    for text, folders in groups.items():
        reader = session.read.format(kind)
        if kind in FILE_FORMATS:
            reader = reader.schema(schemas[text])
        frames.append(reader.load(folders if len(folders) > 1 else folders[0]))
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)


def _require_same_types(
    schemas: Sequence[T.StructType], partitions: Sequence[StoredPartition]
) -> None:
    """Numbers may grow wider from one partition to another; texts do not become numbers."""
    seen: dict[str, T.StructField] = {}
    for schema in schemas:
        for field in schema.fields:
            known = seen.setdefault(field.name.lower(), field)
            if not _alike(known.dataType, field.dataType):
                raise UnreadableData.changed_type(
                    field.name,
                    _example(known, partitions),
                    _example(field, partitions),
                )


def _alike(one: T.DataType, other: T.DataType) -> bool:
    if isinstance(one, T.NumericType) and isinstance(other, T.NumericType):
        return True
    return type(one) is type(other)


def _example(field: T.StructField, partitions: Sequence[StoredPartition]) -> tuple[str, str]:
    """The type, and the key of a partition that has it."""
    for partition in partitions:
        schema = T.StructType.fromJson(json.loads(partition.schema))
        if any(f.name == field.name and f.dataType == field.dataType for f in schema.fields):
            return field.dataType.simpleString(), partition.key
    return field.dataType.simpleString(), ""
