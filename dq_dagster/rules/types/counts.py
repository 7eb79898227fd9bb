"""Rules about numbers of rows, columns, bytes, empty and unique values."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.wording import listing, plural
from dq_dagster.metrics.conditions import IsEmpty
from dq_dagster.metrics.frequency import GroupedRows, Grouping, UniqueCount
from dq_dagster.metrics.metric import ColumnCount, Metric, RecordCount
from dq_dagster.metrics.sources import FileBytes, FileCount
from dq_dagster.rules.base.change_detection import ChangeDetection
from dq_dagster.rules.base.column_rules import ColumnRule
from dq_dagster.rules.base.rule import Rule, RuleFamily
from dq_dagster.rules.fields.constraints import QualityDimension
from dq_dagster.rules.fields.ranges import ByteRange, NumberRange, ValueJudge


class _RowCount(Rule, ValueJudge):
    """The number of rows is judged."""

    quality_dimension: QualityDimension = "completeness"
    """Which quality the rule speaks of."""

    family = RuleFamily.TABLES
    observes_first_metric = True

    def metrics(self) -> tuple[Metric, ...]:
        return (RecordCount(where=self.where),)

    def judge(self, evidence: Evidence) -> Judgement:
        [metric] = self.metrics()
        rows = evidence[metric]
        return self.judge_value(rows, metric, evidence, what="The number of rows", rows=rows)

    def demand(self) -> str:
        return f"The number of rows is {self.expectation()}."


class _ColumnCount(Rule, ValueJudge):
    """The number of columns is judged."""

    quality_dimension: QualityDimension = "consistency"
    """Which quality the rule speaks of."""

    family = RuleFamily.TABLES
    judges_rows = False
    observes_first_metric = True

    def metrics(self) -> tuple[Metric, ...]:
        return (ColumnCount(),)

    def judge(self, evidence: Evidence) -> Judgement:
        [metric] = self.metrics()
        return self.judge_value(evidence[metric], metric, evidence, what="The number of columns")

    def demand(self) -> str:
        return f"The number of columns is {self.expectation()}."


class RecordCountInRange(NumberRange, _RowCount):
    """The number of rows is within the bounds.

    No rows are zero rows, not Empty.

    Observed: the number of rows.

    Example::

        - type: record_count_in_range
          min: 1
          soft_max: 1000000
    """

    type: Literal["record_count_in_range"] = "record_count_in_range"


class RecordCountTypical(ChangeDetection, _RowCount):
    """The number of rows is typical of its past.

    No rows are zero rows, not Empty.

    Observed: the number of rows.

    Example::

        - type: record_count_typical
          learning_period: 5
          soft_iqr_factor: 1
    """

    type: Literal["record_count_typical"] = "record_count_typical"


class ColumnCountInRange(NumberRange, _ColumnCount):
    """The number of columns is within the bounds.

    Observed: the number of columns.

    Example::

        - type: column_count_in_range
          min: 10
          max: 10
    """

    type: Literal["column_count_in_range"] = "column_count_in_range"


class ColumnCountTypical(ChangeDetection, _ColumnCount):
    """The number of columns is typical of its past: as a rule, it never changes.

    Observed: the number of columns.

    Example::

        - type: column_count_typical
          learning_period: 3
    """

    type: Literal["column_count_typical"] = "column_count_typical"


class _ValueCountTypical(ChangeDetection, ColumnRule):
    """Some of each column's values are counted, and the number is judged by its past.

    They are counted among rows that may not be there: without any there is nothing to judge, and
    nothing worth remembering.
    """

    counted: ClassVar[str]
    observes_first_metric = True

    @abstractmethod
    def counts(self, column: str) -> tuple[Metric, Metric]:
        """How many there are, and among how many."""

    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        return self.counts(column)

    def observed_metrics(self, evidence: Evidence) -> tuple[Metric, ...]:
        kept: list[Metric] = []
        for count, among in map(self.counts, self.columns):
            kept += [count, among] if evidence.values.get(among) else [among]
        return tuple(kept)

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        count, among = self.counts(column)
        rows = evidence[among]
        if not rows:
            return self.of_nothing(column)
        what = f"The number of {self.counted} values of '{column}'"
        return self.judge_value(evidence[count], count, evidence, what=what, rows=rows)

    def of_nothing(self, column: str) -> Judgement:
        return Judgement.of_no_rows()

    def demand(self) -> str:
        columns = listing(self.columns)
        return f"The number of {self.counted} values of {columns} is {self.expectation()}."


class ColumnEmptyCountTypical(_ValueCountTypical):
    """The number of empty values of each column is typical of its past.

    Observed: the number of empty values. No rows are Empty, and leave no trace in the past.

    Example::

        - type: column_empty_count_typical
          columns: [email]
          iqr_factor: 2
          min_iqr: 1
    """

    type: Literal["column_empty_count_typical"] = "column_empty_count_typical"
    quality_dimension: QualityDimension = "completeness"
    """Which quality the rule speaks of."""
    counted = "empty"

    def counts(self, column: str) -> tuple[Metric, Metric]:
        return self.count(IsEmpty(column, self.blank_is_empty)), self.rows


class ColumnUniqueCountTypical(_ValueCountTypical):
    """The number of values of each column that occur exactly once is typical of its past.

    Observed: the number of those values. No values are Empty, and leave no trace in the past.

    Example::

        - type: column_unique_count_typical
          columns: [customer]
    """

    type: Literal["column_unique_count_typical"] = "column_unique_count_typical"
    quality_dimension: QualityDimension = "uniqueness"
    """Which quality the rule speaks of."""
    counted = "unique"

    def counts(self, column: str) -> tuple[Metric, Metric]:
        grouping = Grouping((column,), self.blank_is_empty, self.where)
        return UniqueCount(grouping, where=self.where), GroupedRows(grouping, where=self.where)

    def of_nothing(self, column: str) -> Judgement:
        return Judgement.of_no_values(column)


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

    family = RuleFamily.TABLES
    judges_rows = False
    observes_first_metric = True

    def metrics(self) -> tuple[Metric, ...]:
        return (FileBytes(), FileCount())

    def judge(self, evidence: Evidence) -> Judgement:
        files = plural(evidence[FileCount()], "file")
        return self.expected.judge(evidence[FileBytes()], what=f"The size of {files}")

    def demand(self) -> str:
        return f"The size of the files is {self.expectation()}."
