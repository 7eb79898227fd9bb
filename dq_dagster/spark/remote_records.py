"""What is stored behind a URI, in a folder inside the data that Spark passes over.

It is written after the data, and an overwrite of the data takes it away: where it is, the data was
complete, with these columns and so many files.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from dq_dagster.spark.folder_names import PARTITION_COLUMN
from dq_dagster.spark.partition_files import is_missing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_COLUMN = ".dq_schema"
_FOLDER = f"{_COLUMN}=1"


@dataclass(frozen=True, slots=True)
class RemoteRecord:
    """The schema as JSON, and the number of files, which older records do not have."""

    schema: str
    files: int | None = None

    def text(self) -> str:
        return json.dumps({"files": self.files, "schema": json.loads(self.schema)})

    @classmethod
    def parse(cls, text: str) -> RemoteRecord:
        found = json.loads(text)
        if "schema" not in found:
            return cls(text)
        return cls(json.dumps(found["schema"]), found["files"])


def write_record(session: SparkSession, place: str, record: RemoteRecord) -> None:
    """Of the data at one place."""
    table = _table(session, {"value": [record.text()]})
    table.write.mode("overwrite").text(f"{place}/{_FOLDER}")


def write_records(session: SparkSession, root: str, records: Mapping[str, RemoteRecord]) -> None:
    """Of partitions, by the names of their folders, by one write."""
    table = _table(
        session,
        {
            "value": [record.text() for record in records.values()],
            PARTITION_COLUMN: [name.removeprefix(f"{PARTITION_COLUMN}=") for name in records],
            _COLUMN: ["1"] * len(records),
        },
    )
    writer = table.write.partitionBy(PARTITION_COLUMN, _COLUMN)
    # Other writers may be at work at the same place: this mode keeps to the folders it writes.
    writer.option("partitionOverwriteMode", "dynamic").mode("overwrite").text(root)


def records_at(session: SparkSession, places: Sequence[str]) -> dict[str, RemoteRecord]:
    """By place, of those that have one, by one small job."""
    names = {place: place.rpartition("/")[2] for place in places}
    try:
        by_name = _read(session, [f"{place}/{_FOLDER}" for place in places])
    except AnalysisException as error:
        if not is_missing(error):
            raise
        # Spark takes the paths together or not at all, but of a pattern it takes what is there.
        # No folder's name holds a sign that means something in a pattern.
        try:
            root = places[0].rpartition("/")[0]
            by_name = _read(session, [f"{root}/{{{','.join(names.values())}}}/{_FOLDER}"])
        except AnalysisException as still:
            if not is_missing(still):
                raise
            return {}
    found = {place: by_name[name] for place, name in names.items() if name in by_name}
    return {place: RemoteRecord.parse(text) for place, text in found.items()}


def files_by_folder(frame: DataFrame) -> Counter[str]:
    """How many files Spark reads, by the name of the folder they lie in."""
    return Counter(path.rsplit("/", 2)[-2] for path in frame.inputFiles())


def _read(session: SparkSession, paths: Sequence[str]) -> dict[str, str]:
    found = session.read.schema("value string").text(list(paths))
    folder = "regexp_extract(_metadata.file_path, '.*/([^/]+)/[^/]+/[^/]+$', 1)"
    # Connect finds out here whether there is anything to read.
    return {row[0]: row[1] for row in found.selectExpr(folder, "value").collect()}


def _table(session: SparkSession, columns: dict[str, list[str]]) -> DataFrame:
    import pyarrow as pa

    return session.createDataFrame(pa.table(columns)).coalesce(1)
