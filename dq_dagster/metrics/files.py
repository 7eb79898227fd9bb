"""What can be measured of the files behind the data."""

from __future__ import annotations

from dataclasses import dataclass

from dq_dagster.metrics.metric import Metric


@dataclass(frozen=True, slots=True)
class FileBytes(Metric):
    """The bytes that the files take, all together."""

    @property
    def name(self) -> str:
        return "file_size"


@dataclass(frozen=True, slots=True)
class FileCount(Metric):
    """The number of files."""

    @property
    def name(self) -> str:
        return "file_count"
