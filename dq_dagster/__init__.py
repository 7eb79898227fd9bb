"""Data-quality rules for tables built with Dagster and Spark.

Names are loaded when they are first used: declaring rules starts neither Spark nor Dagster.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dq_dagster import plugins as plugins
    from dq_dagster import states as states
    from dq_dagster.errors import DeclarationError as DeclarationError
    from dq_dagster.errors import DqError as DqError
    from dq_dagster.errors import UnreadableData as UnreadableData
    from dq_dagster.evaluation.backtest.backtest import backtest as backtest
    from dq_dagster.evaluation.backtest.result import Backtest as Backtest
    from dq_dagster.evaluation.backtest.result import BacktestPoint as BacktestPoint
    from dq_dagster.evaluation.diff.diff import diff as diff
    from dq_dagster.evaluation.diff.result import Diff as Diff
    from dq_dagster.evaluation.diff.row_hashes import RowHashes as RowHashes
    from dq_dagster.evaluation.diff.row_hashes import row_hashes as row_hashes
    from dq_dagster.evaluation.evaluate import evaluate as evaluate
    from dq_dagster.evaluation.faults import failing_rows as failing_rows
    from dq_dagster.evaluation.faults import split as split
    from dq_dagster.evaluation.history.history import History as History
    from dq_dagster.evaluation.history.history import Recorded as Recorded
    from dq_dagster.evaluation.outcome import Outcome as Outcome
    from dq_dagster.evaluation.result import Evaluation as Evaluation
    from dq_dagster.evaluation.topnotch.report import PlanReport as PlanReport
    from dq_dagster.integration.checks.build import build_asset_checks as build_asset_checks
    from dq_dagster.integration.checks.jobs import build_check_job as build_check_job
    from dq_dagster.integration.checks.loading import UnknownAssetWarning as UnknownAssetWarning
    from dq_dagster.integration.checks.loading import validate as validate
    from dq_dagster.integration.checks.readers import Files as Files
    from dq_dagster.integration.checks.readers import Table as Table
    from dq_dagster.integration.checks.run_modes import build_check_sensor as build_check_sensor
    from dq_dagster.integration.guarded.build import guard as guard
    from dq_dagster.integration.guarded.build import guarded_asset as guarded_asset
    from dq_dagster.integration.guarded.quarantine import Quarantine as Quarantine
    from dq_dagster.integration.guarded.replay import replay as replay
    from dq_dagster.integration.guarded.stats import StatsTable as StatsTable
    from dq_dagster.integration.guarded.stats import stats as stats
    from dq_dagster.integration.io_manager import SparkIOManager as SparkIOManager
    from dq_dagster.integration.topnotch.plan import TopNotchPlan as TopNotchPlan
    from dq_dagster.integration.topnotch.plan import load_plan as load_plan
    from dq_dagster.judging.evidence import PastValue as PastValue
    from dq_dagster.judging.judgement import Status as Status
    from dq_dagster.metrics.sources import CallContext as CallContext
    from dq_dagster.plan.plan import explain as explain
    from dq_dagster.rules.base.rule import Rule as Rule
    from dq_dagster.rules.fields.meaning import Meaning as Meaning
    from dq_dagster.rules.fields.metric_source import MetricSource as MetricSource
    from dq_dagster.rules.fields.reference import Reference as Reference
    from dq_dagster.rules.fields.threshold import AtLeast as AtLeast
    from dq_dagster.rules.fields.threshold import AtMost as AtMost
    from dq_dagster.rules.templates.template import Template as Template
    from dq_dagster.rules.types import *  # noqa: F403
    from dq_dagster.rules.types.uniqueness import Keep as Keep
    from dq_dagster.ruleset import RuleSet as RuleSet
    from dq_dagster.ruleset import bind as bind
    from dq_dagster.sources.contracts.changes import ContractDiff as ContractDiff
    from dq_dagster.sources.contracts.changes import contract_diff as contract_diff
    from dq_dagster.sources.contracts.load import load_contract as load_contract
    from dq_dagster.sources.contracts.write import WrittenContract as WrittenContract
    from dq_dagster.sources.contracts.write import to_contract as to_contract
    from dq_dagster.sources.contracts.write import write_contract as write_contract
    from dq_dagster.sources.json_schema import json_schema as json_schema
    from dq_dagster.sources.load import load_rules as load_rules
    from dq_dagster.sources.migration import Migration as Migration
    from dq_dagster.sources.migration import MigrationEntry as MigrationEntry
    from dq_dagster.sources.migration import MigrationReport as MigrationReport
    from dq_dagster.sources.spark_expectations.load import (
        load_spark_expectations as load_spark_expectations,
    )
    from dq_dagster.sources.yaml.files import load_templates as load_templates
    from dq_dagster.spark.frames.schemas import schema_of as schema_of
    from dq_dagster.spark.session.java import ensure_java as ensure_java

# Where names live; rules are found where they are registered.
_RULES = "dq_dagster.rules.types"
_HOMES: dict[str, tuple[str, ...]] = {
    "errors": ("DeclarationError", "DqError", "UnreadableData"),
    "evaluation.backtest.backtest": ("backtest",),
    "evaluation.backtest.result": ("Backtest", "BacktestPoint"),
    "evaluation.diff.diff": ("diff",),
    "evaluation.diff.result": ("Diff",),
    "evaluation.diff.row_hashes": ("RowHashes", "row_hashes"),
    "evaluation.evaluate": ("evaluate",),
    "evaluation.faults": ("failing_rows", "split"),
    "evaluation.history.history": ("History", "Recorded"),
    "evaluation.outcome": ("Outcome",),
    "evaluation.result": ("Evaluation",),
    "evaluation.topnotch.report": ("PlanReport",),
    "integration.checks.build": ("build_asset_checks",),
    "integration.checks.jobs": ("build_check_job",),
    "integration.checks.loading": ("UnknownAssetWarning", "validate"),
    "integration.checks.readers": ("Files", "Table"),
    "integration.checks.run_modes": ("build_check_sensor",),
    "integration.guarded.build": ("guard", "guarded_asset"),
    "integration.guarded.quarantine": ("Quarantine",),
    "integration.guarded.replay": ("replay",),
    "integration.guarded.stats": ("StatsTable", "stats"),
    "integration.io_manager": ("SparkIOManager",),
    "integration.topnotch.plan": ("TopNotchPlan", "load_plan"),
    "judging.evidence": ("PastValue",),
    "judging.judgement": ("Status",),
    "metrics.sources": ("CallContext",),
    "plan.plan": ("explain",),
    "rules.base.rule": ("Rule",),
    "rules.fields.meaning": ("Meaning",),
    "rules.fields.metric_source": ("MetricSource",),
    "rules.fields.reference": ("Reference",),
    "rules.fields.threshold": ("AtLeast", "AtMost"),
    "rules.templates.template": ("Template",),
    "rules.types.uniqueness": ("Keep",),
    "ruleset": ("RuleSet", "bind"),
    "sources.contracts.changes": ("ContractDiff", "contract_diff"),
    "sources.contracts.load": ("load_contract",),
    "sources.contracts.write": ("WrittenContract", "to_contract", "write_contract"),
    "sources.json_schema": ("json_schema",),
    "sources.load": ("load_rules",),
    "sources.migration": ("Migration", "MigrationEntry", "MigrationReport"),
    "sources.spark_expectations.load": ("load_spark_expectations",),
    "sources.yaml.files": ("load_templates",),
    "spark.frames.schemas": ("schema_of",),
    "spark.session.java": ("ensure_java",),
}
_MODULES = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}
# For extensions: what a plugin is written with, and what evaluations keep of partitions.
_SUBMODULES = ("plugins", "states")


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return _every_name()
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES.get(name, _RULES)), name, None)
    if value is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{_nearest(name)}")
    globals()[name] = value
    return value


def _every_name() -> list[str]:
    rules = import_module("dq_dagster.rules.catalogue").BUILT_IN
    return sorted({*_MODULES, *_SUBMODULES, *(rule.__name__ for rule in rules)})


def _nearest(name: str) -> str:
    from dq_dagster.errors.base import did_you_mean

    return did_you_mean(name, _every_name())


def __dir__() -> list[str]:
    return sorted({*globals(), *_every_name()})
