"""Metrics of other assets, measured on their data like those of the judged one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.measured import UNDIVIDED, Measured
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.sources import AssetData, OtherAssetMetric
from dq_dagster.plan.plan import passes_for
from dq_dagster.spark.frames.ansi import home_of, is_ansi, under_ansi
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.spark.frames.schemas import outside_rows
from dq_dagster.spark.frames.slicing import Parts, States

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def measure_other_assets(metrics: Sequence[Metric], parts: Parts, table: JudgedTable) -> States:
    """The value of each metric, the same for every part, with a RuleFailure where there is none."""
    by_dataset: dict[AssetData, list[OtherAssetMetric]] = {}
    for metric in cast("Sequence[OtherAssetMetric]", metrics):
        by_dataset.setdefault(metric.dataset, []).append(metric)
    found: States = {}
    for dataset, wanted in by_dataset.items():
        try:
            there = _measured(dataset, [metric.metric for metric in wanted], parts.frame, table)
        except RuleFailure as failure:
            found |= {metric: Measured.failed(metric, failure) for metric in wanted}
        else:
            found |= {m: Measured.of_all(m, there[m.metric].value()) for m in wanted}
    return found


def _measured(
    dataset: AssetData, metrics: Sequence[Metric], frame: DataFrame, table: JudgedTable
) -> States:
    # Here: the steps know this module, as the way to run one of them.
    from dq_dagster.spark.passes.run import run

    home = table.other_datasets.frame_of(dataset, frame, home_of(frame.sparkSession))
    other = under_ansi(home)
    others = replace(table.other_datasets, asset=dataset.asset, partition=None, whole=None)
    there = JudgedTable.of(home, table.now, others, is_ansi=is_ansi(other))
    found = outside_rows(home)
    for step in passes_for(dict.fromkeys(metrics, (UNDIVIDED,))):
        found |= run(step, other, there, home=home)
    return found
