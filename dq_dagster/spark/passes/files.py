"""The bytes of the files behind a DataFrame, through Spark's own file systems.

Spark says which files it reads; a second, small query asks the file system for their sizes and
adds them up. Object stores answer as local disks do, and nothing but the paths and one row with
the sum comes to the driver.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

from dq_dagster.errors import Misfit, RuleFailure, TimedOut, Unmeasurable
from dq_dagster.metrics.measured import UNDIVIDED, WHOLE, Cut, Measured, Slice
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.sources import FileBytes, FileCount
from dq_dagster.spark.frames.columns import identifier
from dq_dagster.spark.frames.failures import condition_of
from dq_dagster.spark.frames.slicing import Parts, States
from dq_dagster.spark.passes.isolation import attempted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dq_dagster.spark.frames.columns import JudgedTable

# Spark looks up so many paths by itself, and takes a task for each if there are more.
_FEW = 32
_CROWDED = 4
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*):/+")
_WILDCARDS = re.compile(r"([{}\[\]*?\\])")


@dataclass(frozen=True, slots=True)
class FileTotals:
    """How many files there are, and how many bytes they take together."""

    files: int
    bytes: int


def file_totals(frame: DataFrame) -> FileTotals:
    """Raises Misfit for data that is not read from files, Unmeasurable if Spark cannot tell."""
    found = attempted(
        lambda: _file_totals(frame),
        lambda error: (
            error if isinstance(error, TimedOut) else Unmeasurable.files(condition_of(error))
        ),
    )
    if isinstance(found, RuleFailure):
        raise found
    if found is None:
        raise Misfit.not_from_files()
    return found


def _file_totals(frame: DataFrame) -> FileTotals | None:
    paths = [unquote(path) for path in frame.inputFiles()]
    if paths:
        return FileTotals(len(paths), _bytes(frame.sparkSession, paths))
    return FileTotals(0, 0) if _reads_files(frame) else None


def file_totals_by_key(frame: DataFrame, key: str) -> dict[str, FileTotals]:
    """The same for the files that hold rows of each partition; ``key`` is the partition's SQL."""
    if not _reads_files(frame):
        raise Misfit.not_from_files()
    file = frame.metadataColumn("_metadata")
    files = frame.select(
        F.expr(key).alias("key"),
        file.getField("file_path").alias("path"),
        file.getField("file_size").alias("size"),
    )
    sizes = files.groupBy("key", "path").agg(F.max("size").alias("size"))
    totals = sizes.groupBy("key").agg(F.count("size").alias("files"), F.sum("size").alias("bytes"))
    return {row["key"]: FileTotals(row["files"], row["bytes"]) for row in totals.collect()}


def _reads_files(frame: DataFrame) -> bool:
    """Whether the data would come from files if there were any: only then Spark knows a size."""
    try:
        # Not by its name alone: the data may have a column that is called like this.
        _ = frame.select(frame.metadataColumn("_metadata").getField("file_size")).schema
    except AnalysisException:
        return False
    return True


def _bytes(session: SparkSession, paths: Sequence[str]) -> int:
    folders = _folders(paths)
    if len(paths) <= _FEW or len(folders) * _CROWDED > len(paths):
        sizes = _listed(session, paths)
    else:
        # Listing a few folders is many times faster than finding each of their files.
        sizes = _listed(session, folders).join(_table(session, paths), "path", "leftsemi")
    total = sizes.selectExpr("sum(length) AS bytes").collect()[0]["bytes"]
    return int(total or 0)


def _folders(paths: Sequence[str]) -> list[str]:
    """The folders of the files, without those inside another one of them."""
    outermost: list[str] = []
    for folder in sorted({path.rpartition("/")[0] + "/" for path in paths}):
        if not outermost or not folder.startswith(outermost[-1]):
            outermost.append(folder)
    return outermost


def _listed(session: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Path and length of all files at and below the paths; their contents are not read."""
    reader = session.read.format("binaryFile").option("recursiveFileLookup", "true")
    found = reader.load([_WILDCARDS.sub(r"\\\1", path) for path in paths])
    return found.selectExpr(f"regexp_replace(path, '{_SCHEME.pattern}', '$1:/') AS path", "length")


def _table(session: SparkSession, paths: Sequence[str]) -> DataFrame:
    import pyarrow as pa

    # Spark writes the same path with one slash after the scheme or with three.
    plain = [_SCHEME.sub(r"\1:/", path) for path in paths]
    return session.createDataFrame(pa.table({"path": plain}))


def measure_files(metrics: Sequence[Metric], parts: Parts, table: JudgedTable) -> States:
    """The states of file metrics, or why there are none."""
    try:
        totals = _totals(parts)
    except RuleFailure as failure:
        return {metric: Measured.failed(metric, failure) for metric in metrics}
    values = {
        FileBytes(): {part: of.bytes for part, of in totals.items()},
        FileCount(): {part: of.files for part, of in totals.items()},
    }
    return {metric: Measured(metric, of, parts.cuts, 0) for metric, of in values.items()}


def _totals(parts: Parts) -> dict[Slice, FileTotals]:
    totals: dict[Slice, FileTotals] = {}
    if UNDIVIDED in parts.cuts:
        totals[WHOLE] = file_totals(parts.frame)
    if Cut(partitioned=True) in parts.cuts:
        by_key = file_totals_by_key(parts.frame, identifier(parts.keys[None]))
        totals |= {Slice(key): of for key, of in by_key.items()}
    return totals
