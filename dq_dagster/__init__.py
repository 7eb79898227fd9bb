"""Data-quality rules for tables built with Dagster and Spark.

Names are loaded when they are first used: declaring rules starts neither Spark nor Dagster.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dq_dagster.errors import DeclarationError as DeclarationError
    from dq_dagster.errors import DqError as DqError
    from dq_dagster.errors import UnreadableData as UnreadableData
    from dq_dagster.evaluation.backtest import backtest as backtest
    from dq_dagster.evaluation.history import History as History
    from dq_dagster.evaluation.history import Recorded as Recorded
    from dq_dagster.evaluation.outcome import Outcome as Outcome
    from dq_dagster.evaluation.result import Evaluation as Evaluation
    from dq_dagster.evaluation.reuse import Block as Block
    from dq_dagster.evaluation.reuse import KeptStates as KeptStates
    from dq_dagster.evaluation.reuse import Reuse as Reuse
    from dq_dagster.evaluation.run import evaluate as evaluate
    from dq_dagster.evaluation.run import explain as explain
    from dq_dagster.evaluation.tested_history import Backtest as Backtest
    from dq_dagster.evaluation.tested_history import BacktestPoint as BacktestPoint
    from dq_dagster.integration.checks import build_asset_checks as build_asset_checks
    from dq_dagster.integration.loading import UnknownAssetWarning as UnknownAssetWarning
    from dq_dagster.integration.loading import validate as validate
    from dq_dagster.integration.readers import Files as Files
    from dq_dagster.integration.readers import Table as Table
    from dq_dagster.integration.spark_io_manager import SparkIOManager as SparkIOManager
    from dq_dagster.judging.evidence import Evidence as Evidence
    from dq_dagster.judging.judgement import Judgement as Judgement
    from dq_dagster.judging.past import PastValue as PastValue
    from dq_dagster.judging.status import Status as Status
    from dq_dagster.metrics.conditions import ValueSql as ValueSql
    from dq_dagster.metrics.python_call import CallContext as CallContext
    from dq_dagster.rules.aggregate_expectation import (
        AggregateExpectation as AggregateExpectation,
    )
    from dq_dagster.rules.column_emptiness import ColumnEmpty as ColumnEmpty
    from dq_dagster.rules.column_emptiness import ColumnNotEmpty as ColumnNotEmpty
    from dq_dagster.rules.column_frequent import (
        ColumnMostFrequentInSet as ColumnMostFrequentInSet,
    )
    from dq_dagster.rules.column_frequent import ColumnTopValuesInSet as ColumnTopValuesInSet
    from dq_dagster.rules.column_meaning import ColumnValidMeaning as ColumnValidMeaning
    from dq_dagster.rules.column_patterns import ColumnValuesMatch as ColumnValuesMatch
    from dq_dagster.rules.column_patterns import ColumnValuesNotMatch as ColumnValuesNotMatch
    from dq_dagster.rules.column_references import (
        ColumnValuesInReference as ColumnValuesInReference,
    )
    from dq_dagster.rules.column_rule import ColumnRule as ColumnRule
    from dq_dagster.rules.column_sets import ColumnValuesInSet as ColumnValuesInSet
    from dq_dagster.rules.column_sets import ColumnValuesNotInSet as ColumnValuesNotInSet
    from dq_dagster.rules.column_statistics import ColumnAvgInRange as ColumnAvgInRange
    from dq_dagster.rules.column_statistics import ColumnMaxInRange as ColumnMaxInRange
    from dq_dagster.rules.column_statistics import ColumnMedianInRange as ColumnMedianInRange
    from dq_dagster.rules.column_statistics import ColumnMinInRange as ColumnMinInRange
    from dq_dagster.rules.column_statistics import ColumnStddevInRange as ColumnStddevInRange
    from dq_dagster.rules.column_statistics import ColumnSumInRange as ColumnSumInRange
    from dq_dagster.rules.column_statistics_typical import ColumnAvgTypical as ColumnAvgTypical
    from dq_dagster.rules.column_statistics_typical import ColumnMaxTypical as ColumnMaxTypical
    from dq_dagster.rules.column_statistics_typical import (
        ColumnMedianTypical as ColumnMedianTypical,
    )
    from dq_dagster.rules.column_statistics_typical import ColumnMinTypical as ColumnMinTypical
    from dq_dagster.rules.column_statistics_typical import (
        ColumnStddevTypical as ColumnStddevTypical,
    )
    from dq_dagster.rules.column_statistics_typical import ColumnSumTypical as ColumnSumTypical
    from dq_dagster.rules.column_uniqueness import ColumnUnique as ColumnUnique
    from dq_dagster.rules.column_uniqueness import UniqueKey as UniqueKey
    from dq_dagster.rules.column_value_ranges import (
        ColumnValueLengthsInRange as ColumnValueLengthsInRange,
    )
    from dq_dagster.rules.column_value_ranges import ColumnValuesInRange as ColumnValuesInRange
    from dq_dagster.rules.column_value_rule import ColumnValueRule as ColumnValueRule
    from dq_dagster.rules.compare_metrics import CompareMetrics as CompareMetrics
    from dq_dagster.rules.counts_typical import ColumnCountTypical as ColumnCountTypical
    from dq_dagster.rules.counts_typical import (
        ColumnEmptyCountTypical as ColumnEmptyCountTypical,
    )
    from dq_dagster.rules.counts_typical import (
        ColumnUniqueCountTypical as ColumnUniqueCountTypical,
    )
    from dq_dagster.rules.counts_typical import RecordCountTypical as RecordCountTypical
    from dq_dagster.rules.dataset_counts import ColumnCountInRange as ColumnCountInRange
    from dq_dagster.rules.dataset_counts import RecordCountInRange as RecordCountInRange
    from dq_dagster.rules.file_size import FileSizeInRange as FileSizeInRange
    from dq_dagster.rules.meaning import Meaning as Meaning
    from dq_dagster.rules.metric_rule import MetricInRange as MetricInRange
    from dq_dagster.rules.metric_rule import MetricInSet as MetricInSet
    from dq_dagster.rules.metric_source import MetricSource as MetricSource
    from dq_dagster.rules.metric_typical import MetricTypical as MetricTypical
    from dq_dagster.rules.python_rule import PythonRule as PythonRule
    from dq_dagster.rules.recency import Freshness as Freshness
    from dq_dagster.rules.recency import RowInsertedCountInRange as RowInsertedCountInRange
    from dq_dagster.rules.reference import Reference as Reference
    from dq_dagster.rules.row_expectation import RowExpectation as RowExpectation
    from dq_dagster.rules.rule import Rule as Rule
    from dq_dagster.rules.schema_rules import SchemaContains as SchemaContains
    from dq_dagster.rules.schema_rules import SchemaEquals as SchemaEquals
    from dq_dagster.rules.threshold import AtLeast as AtLeast
    from dq_dagster.rules.threshold import AtMost as AtMost
    from dq_dagster.ruleset import RuleSet as RuleSet
    from dq_dagster.sources.json_schema import json_schema as json_schema
    from dq_dagster.sources.yaml_files import load_rules as load_rules
    from dq_dagster.spark.java import ensure_java as ensure_java
    from dq_dagster.spark.schemas import schema_of as schema_of

_HOMES = {
    "errors": ("DeclarationError", "DqError", "UnreadableData"),
    "evaluation.backtest": ("backtest",),
    "evaluation.history": ("History", "Recorded"),
    "evaluation.result": ("Evaluation",),
    "evaluation.outcome": ("Outcome",),
    "evaluation.reuse": ("Block", "KeptStates", "Reuse"),
    "evaluation.run": ("evaluate", "explain"),
    "evaluation.tested_history": ("Backtest", "BacktestPoint"),
    "integration.checks": ("build_asset_checks",),
    "integration.loading": ("UnknownAssetWarning", "validate"),
    "integration.readers": ("Files", "Table"),
    "integration.spark_io_manager": ("SparkIOManager",),
    "judging.evidence": ("Evidence",),
    "judging.judgement": ("Judgement",),
    "judging.past": ("PastValue",),
    "judging.status": ("Status",),
    "rules.aggregate_expectation": ("AggregateExpectation",),
    "metrics.conditions": ("ValueSql",),
    "metrics.python_call": ("CallContext",),
    "rules.column_emptiness": ("ColumnEmpty", "ColumnNotEmpty"),
    "rules.column_frequent": ("ColumnMostFrequentInSet", "ColumnTopValuesInSet"),
    "rules.column_meaning": ("ColumnValidMeaning",),
    "rules.column_patterns": ("ColumnValuesMatch", "ColumnValuesNotMatch"),
    "rules.column_references": ("ColumnValuesInReference",),
    "rules.column_rule": ("ColumnRule",),
    "rules.column_sets": ("ColumnValuesInSet", "ColumnValuesNotInSet"),
    "rules.column_statistics": (
        "ColumnAvgInRange",
        "ColumnMaxInRange",
        "ColumnMedianInRange",
        "ColumnMinInRange",
        "ColumnStddevInRange",
        "ColumnSumInRange",
    ),
    "rules.column_statistics_typical": (
        "ColumnAvgTypical",
        "ColumnMaxTypical",
        "ColumnMedianTypical",
        "ColumnMinTypical",
        "ColumnStddevTypical",
        "ColumnSumTypical",
    ),
    "rules.column_uniqueness": ("ColumnUnique", "UniqueKey"),
    "rules.column_value_ranges": ("ColumnValueLengthsInRange", "ColumnValuesInRange"),
    "rules.column_value_rule": ("ColumnValueRule",),
    "rules.compare_metrics": ("CompareMetrics",),
    "rules.counts_typical": (
        "ColumnCountTypical",
        "ColumnEmptyCountTypical",
        "ColumnUniqueCountTypical",
        "RecordCountTypical",
    ),
    "rules.dataset_counts": ("ColumnCountInRange", "RecordCountInRange"),
    "rules.file_size": ("FileSizeInRange",),
    "rules.recency": ("Freshness", "RowInsertedCountInRange"),
    "rules.meaning": ("Meaning",),
    "rules.metric_rule": ("MetricInRange", "MetricInSet"),
    "rules.metric_source": ("MetricSource",),
    "rules.metric_typical": ("MetricTypical",),
    "rules.python_rule": ("PythonRule",),
    "rules.reference": ("Reference",),
    "rules.row_expectation": ("RowExpectation",),
    "rules.rule": ("Rule",),
    "rules.schema_rules": ("SchemaContains", "SchemaEquals"),
    "rules.threshold": ("AtLeast", "AtMost"),
    "ruleset": ("RuleSet",),
    "sources.json_schema": ("json_schema",),
    "sources.yaml_files": ("load_rules",),
    "spark.java": ("ensure_java",),
    "spark.schemas": ("schema_of",),
}
_MODULES = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}

__all__ = sorted(_MODULES)  # noqa: PLE0605 (a list of the names above)


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{_nearest(name)}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def _nearest(name: str) -> str:
    from dq_dagster.errors.base import did_you_mean

    return did_you_mean(name, __all__)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
