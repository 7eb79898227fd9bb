"""Suite I: a whole dataset of few or many old days, to which one new day comes at a time.

The old days are built and checked by real runs, so that all that is known of them is in the event
log of an SQLite instance, and their files are where the IO manager put them. Then one day after
another is built, and what is measured is the run that checks the whole dataset with the new day.
"""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
from dagster import AssetCheckEvaluation
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from examples.bench.data import orders_of_days
from examples.bench.in_dagster import QUIET, new_instance, require_passed
from examples.bench.report import Target
from examples.bench.setting import Actions, Setting, Suite
from examples.bench.stopwatch import Action, Laps
from examples.bench.suites import FROM_STATES, scoped

# Dagster knows no partitions of days to come, so all are long past.
FIRST_DAY = date(2001, 1, 1)
# Numbers of old days; Dagster takes its time to record each of them.
_SIZES, _SMALLER_SIZES = (10, 100, 1_000), (10, 30, 100)
_ROWS_A_DAY, _FEWER_ROWS = 2_000, 200
_BUILD, _CHECK = "build", "check"
_SPAN = ("dagster/asset_partition_range_start", "dagster/asset_partition_range_end")


def _key(day: int) -> str:
    return (FIRST_DAY + timedelta(days=day)).isoformat()


@dataclass
class GrowingDataset:
    """Orders by day with rules on all of them together, and a Dagster instance of their own."""

    spark: SparkSession
    folder: Path
    rows_a_day: int
    most_days: int
    rules: Sequence[dq.Rule] = scoped(FROM_STATES, "whole_dataset")
    days: int = 0

    def __post_init__(self) -> None:
        self._instance = new_instance(self.folder)
        self._defs = self._definitions()

    def build(self, days: int = 1) -> None:
        """So many further days, in one run."""
        keys = _key(self.days), _key(self.days + days - 1)
        self._run(_BUILD, tags=dict(zip(_SPAN, keys, strict=True)))
        self.days += days

    def check(self) -> list[AssetCheckEvaluation]:
        """What a run of the checks alone says of the whole dataset."""
        run = self._run(_CHECK)
        require_passed(run)
        return list(run.get_asset_check_evaluations())

    def check_new_day(self) -> list[AssetCheckEvaluation]:
        """The same, where only the newest day may be read."""
        found = self.check()
        expected = f"1 of {self.days:,} partitions was read, {self.days - 1:,} are as recorded."
        more = [text for one in found if not (text := str(one.description)).endswith(expected)]
        if more:
            raise SystemExit("\n".join([f"Expected of all checks: {expected}", *more]))
        return found

    def in_full(self) -> dq.Evaluation:
        """What all rows say, without Dagster and without any record."""
        every = orders_of_days(self.spark, FIRST_DAY, range(self.days), self.rows_a_day)
        return dq.evaluate(every, self.rules, samples=False)

    def _run(self, job: str, **how: Any) -> dg.ExecuteInProcessResult:
        return self._defs.resolve_job_def(job).execute_in_process(
            instance=self._instance, run_config=QUIET, **how
        )

    def _definitions(self) -> dg.Definitions:
        @dg.asset(
            partitions_def=dg.DailyPartitionsDefinition(_key(0), end_date=_key(self.most_days)),
            backfill_policy=dg.BackfillPolicy.single_run(),
            metadata={"partition_expr": "day"},
        )
        def orders(context: dg.AssetExecutionContext) -> DataFrame:
            keys = context.partition_keys
            start = (date.fromisoformat(keys[0]) - FIRST_DAY).days
            days = range(start, start + len(keys))
            return orders_of_days(self.spark, FIRST_DAY, days, self.rows_a_day)

        rule_set = dq.RuleSet(asset=orders, rules=self.rules, incremental=True)
        store = dq.SparkIOManager(pyspark=self.spark, path=str(self.folder / "data"))
        return dg.Definitions(
            assets=[orders],
            asset_checks=dq.build_asset_checks(rule_set),
            resources={"io_manager": store},
            jobs=[
                dg.define_asset_job(_BUILD, dg.AssetSelection.assets("orders").without_checks()),
                dg.define_asset_job(_CHECK, dg.AssetSelection.all_asset_checks()),
            ],
        )


def require_full_answers(found: Iterable[AssetCheckEvaluation], full: dq.Evaluation) -> None:
    """Answers put together from the record are those of all rows."""
    seen = {one.check_name: one.metadata["dq/observed"].value for one in found}
    different = [
        f"{one.rule.name}: {seen.get(one.rule.check_name)} from the record, {one.observed} in full"
        for one in full
        if not _same(seen.get(one.rule.check_name), one.observed)
    ]
    if different or len(seen) != len(full):
        raise SystemExit("\n".join(["The record and all rows differ:", *different]))


def _same(one: Any, other: Any) -> bool:
    known = one is not None and other is not None
    return known and math.isclose(float(one), float(other), rel_tol=1e-9)


def _grown(setting: Setting, old: int) -> GrowingDataset:
    """With the old days on record, and the first new one found right."""
    print(f"  building {old:,} old days ...", flush=True)
    rows = _FEWER_ROWS if setting.small else _ROWS_A_DAY
    # One new day to see that all is right, one to warm up, and one a round.
    most = old + setting.rounds + 2
    dataset = GrowingDataset(setting.spark, setting.scratch / f"{old}-days", rows, most)
    dataset.build(old)
    dataset.check()
    dataset.build()
    require_full_answers(dataset.check_new_day(), dataset.in_full())
    return dataset


def _name(old: int) -> str:
    return f"checks after {old:,} days"


def _growing(setting: Setting) -> Actions:
    sizes = _SMALLER_SIZES if setting.small else _SIZES
    grown = {old: _grown(setting, old) for old in sizes}
    return {
        _name(old): Action(dataset.check_new_day, before=dataset.build)
        for old, dataset in grown.items()
    }


@dataclass(frozen=True)
class Growth:
    """The most old days take at most so many times what the fewest do."""

    limit: float

    def target(self, laps: Laps) -> Target:
        fewest, *_, most = laps.by_name
        return Target(most, fewest, self.limit)

    def verdict(self, laps: Laps) -> str:
        return self.target(laps).verdict(laps)


SUITE_I = Suite(
    "Suite I: the whole dataset, with one new day",
    _growing,
    references=(_name(_SIZES[0]),),
    verdicts=(Growth(1.15),),
)
