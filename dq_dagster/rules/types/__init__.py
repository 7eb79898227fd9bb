"""The rule types. One line here registers a rule: its public name, its YAML type, its page.

Pages and lists have them in this order, within the families that the types belong to.
"""

# ruff: noqa: I001 (the order means something)
from __future__ import annotations

from dq_dagster.rules.types.emptiness import ColumnNotEmpty as ColumnNotEmpty
from dq_dagster.rules.types.emptiness import ColumnEmpty as ColumnEmpty
from dq_dagster.rules.types.sets_and_patterns import ColumnValuesInSet as ColumnValuesInSet
from dq_dagster.rules.types.sets_and_patterns import ColumnValuesNotInSet as ColumnValuesNotInSet
from dq_dagster.rules.types.sets_and_patterns import ColumnValuesMatch as ColumnValuesMatch
from dq_dagster.rules.types.sets_and_patterns import ColumnValuesNotMatch as ColumnValuesNotMatch
from dq_dagster.rules.types.value_ranges import ColumnValuesInRange as ColumnValuesInRange
from dq_dagster.rules.types.value_ranges import (
    ColumnValueLengthsInRange as ColumnValueLengthsInRange,
)
from dq_dagster.rules.types.uniqueness import ColumnUnique as ColumnUnique
from dq_dagster.rules.types.uniqueness import UniqueKey as UniqueKey
from dq_dagster.rules.types.frequent_values import ColumnTopValuesInSet as ColumnTopValuesInSet
from dq_dagster.rules.types.frequent_values import (
    ColumnMostFrequentInSet as ColumnMostFrequentInSet,
)
from dq_dagster.rules.types.meanings import ColumnValidMeaning as ColumnValidMeaning
from dq_dagster.rules.types.references import ColumnValuesInReference as ColumnValuesInReference
from dq_dagster.rules.types.table_diff import TableDiff as TableDiff
from dq_dagster.rules.types.counts import RecordCountInRange as RecordCountInRange
from dq_dagster.rules.types.counts import RecordCountTypical as RecordCountTypical
from dq_dagster.rules.types.counts import ColumnCountInRange as ColumnCountInRange
from dq_dagster.rules.types.counts import ColumnCountTypical as ColumnCountTypical
from dq_dagster.rules.types.counts import FileSizeInRange as FileSizeInRange
from dq_dagster.rules.types.counts import ColumnEmptyCountTypical as ColumnEmptyCountTypical
from dq_dagster.rules.types.counts import ColumnUniqueCountTypical as ColumnUniqueCountTypical
from dq_dagster.rules.types.statistics import ColumnMinInRange as ColumnMinInRange
from dq_dagster.rules.types.statistics import ColumnMaxInRange as ColumnMaxInRange
from dq_dagster.rules.types.statistics import ColumnAvgInRange as ColumnAvgInRange
from dq_dagster.rules.types.statistics import ColumnSumInRange as ColumnSumInRange
from dq_dagster.rules.types.statistics import ColumnMedianInRange as ColumnMedianInRange
from dq_dagster.rules.types.statistics import ColumnStddevInRange as ColumnStddevInRange
from dq_dagster.rules.types.statistics import ColumnMinTypical as ColumnMinTypical
from dq_dagster.rules.types.statistics import ColumnMaxTypical as ColumnMaxTypical
from dq_dagster.rules.types.statistics import ColumnAvgTypical as ColumnAvgTypical
from dq_dagster.rules.types.statistics import ColumnSumTypical as ColumnSumTypical
from dq_dagster.rules.types.statistics import ColumnMedianTypical as ColumnMedianTypical
from dq_dagster.rules.types.statistics import ColumnStddevTypical as ColumnStddevTypical
from dq_dagster.rules.types.schemas import SchemaEquals as SchemaEquals
from dq_dagster.rules.types.schemas import SchemaContains as SchemaContains
from dq_dagster.rules.types.recency import Freshness as Freshness
from dq_dagster.rules.types.recency import RowInsertedCountInRange as RowInsertedCountInRange
from dq_dagster.rules.types.expectations import RowExpectation as RowExpectation
from dq_dagster.rules.types.expectations import AggregateExpectation as AggregateExpectation
from dq_dagster.rules.types.expectations import QueryExpectation as QueryExpectation
from dq_dagster.rules.types.templates import TemplateRule as TemplateRule
from dq_dagster.rules.types.expectations import PythonRule as PythonRule
from dq_dagster.rules.types.metrics import MetricInRange as MetricInRange
from dq_dagster.rules.types.metrics import MetricInSet as MetricInSet
from dq_dagster.rules.types.metrics import CompareMetrics as CompareMetrics
from dq_dagster.rules.types.metrics import MetricTypical as MetricTypical
