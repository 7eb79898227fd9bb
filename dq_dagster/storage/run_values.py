"""What the ops of a run pass on to each other: it is of no asset, and is needed for a while."""

from __future__ import annotations

import pickle
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import NothingStored, UnreadableData
from dq_dagster.spark.frames.frames import as_spark, is_frame, require_distinct, require_readable
from dq_dagster.spark.frames.reading import is_remote
from dq_dagster.storage.folders import folder_name, is_older
from dq_dagster.storage.store import Store, store_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# No part of an asset's key has a folder of that name: such keys get a mark in front.
RUNS = ".dq_runs"
_PICKLED = "pickled"


@dataclass(frozen=True, slots=True)
class RunValue:
    """One output of a step, in a folder of its run; ``name`` is the run, the step and the output.

    DataFrames are stored in the format of the assets. Anything else is pickled, into a file that
    Spark writes, so that it gets wherever Spark does.
    """

    root: str
    name: tuple[str, ...]
    kind: str
    # How many seconds the values of other runs stay.
    keep: float

    def write(self, session: SparkSession, value: Any) -> str | None:
        """Says where the rows are, if it is about rows."""
        self._remove_old_runs()
        if is_frame(value):
            frame = require_readable(as_spark(value))
            require_distinct(session, frame.schema)
            return self._frames.write_whole(frame).place
        import pyarrow as pa

        table = pa.table({_PICKLED: [_pickled(value, self._label)]})
        self._values.write_whole(session.createDataFrame(table))
        return None

    def load(self, session: SparkSession) -> Any:
        try:
            return self._frames.load_whole(session)
        except NothingStored:
            pass
        try:
            [row] = self._values.load_whole(session).collect()
        except NothingStored:
            raise NothingStored.output(self._label, self._folder) from None
        return pickle.loads(row[_PICKLED])  # noqa: S301 (what a step of this run wrote)

    @property
    def _label(self) -> str:
        run, step, *output = self.name
        return f"'{'/'.join(output)}' of step '{step}' in run {run}"

    @property
    def _folder(self) -> str:
        return "/".join([self.root, RUNS, *map(folder_name, self.name)])

    @property
    def _frames(self) -> Store:
        return self._store("frame", self.kind)

    @property
    def _values(self) -> Store:
        return self._store("value", "parquet")

    def _store(self, folder: str, kind: str) -> Store:
        return store_at(f"{self._folder}/{folder}", self._label, kind)

    def _remove_old_runs(self) -> None:
        """Once a run, on a local file system."""
        runs = Path(self.root) / RUNS
        if is_remote(self.root) or (runs / folder_name(self.name[0])).exists():
            return
        for run in runs.glob("*"):
            if is_older(run, self.keep):
                shutil.rmtree(run, ignore_errors=True)


def _pickled(value: Any, label: str) -> bytes:
    try:
        return pickle.dumps(value)
    # Whatever an object raises that is to pickle itself.
    except Exception as error:
        raise UnreadableData.not_storable(label, type(value), type(error)) from error
