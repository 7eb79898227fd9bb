"""The rule about the files behind the data."""

from __future__ import annotations

from typing import Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.wording import plural
from dq_dagster.metrics.files import FileBytes, FileCount
from dq_dagster.metrics.metric import Metric
from dq_dagster.rules.byte_sizes import ByteRange
from dq_dagster.rules.fields import QualityDimension
from dq_dagster.rules.rule import Rule


class FileSizeInRange(ByteRange, Rule):
    """The files behind the data have a number of bytes within the range.

    Bounds are numbers of bytes, or texts such as ``10 MB`` (a million each) and ``1 GiB`` (1024 to
    the third). Counted are the files that Spark reads for the data, each once; data that does not
    come from files is an Error. Of a partition those count that hold rows of it.

    Observed: the number of bytes, all files together.

    Example::

        - type: file_size_in_range
          soft_max: 100 MB
          max: 1 GiB
    """

    type: Literal["file_size_in_range"] = "file_size_in_range"
    quality_dimension: QualityDimension = "completeness"
    """Which quality the rule speaks of."""

    looks_at_rows = False
    observes_first_metric = True

    def metrics(self) -> tuple[Metric, ...]:
        return (FileBytes(), FileCount())

    def judge(self, evidence: Evidence) -> Judgement:
        files = plural(evidence[FileCount()], "file")
        return self.expected.judge(evidence[FileBytes()], what=f"The size of {files}")

    def demand(self) -> str:
        return f"The size of the files is {self.expected.words()}."
