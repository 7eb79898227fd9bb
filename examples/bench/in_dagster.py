"""Suite D: what Dagster itself costs, for the everyday rules on stored data.

A run of checks alone, in this process and with an event log in SQLite, beside a plain evaluation
of the same rules. What a new process would take to start Python and Spark is not part of it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import dagster as dg

import dq_dagster as dq
from examples.bench.answers import evaluate
from examples.bench.report import Difference
from examples.bench.setting import Actions, Setting, Suite
from examples.bench.stopwatch import Action
from examples.bench.suites import EVERYDAY

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

_PLAIN, _IN_DAGSTER = f"{len(EVERYDAY)} rules, evaluated", f"{len(EVERYDAY)} rules, a Dagster run"


# What runs would print is left out: it would be part of what is measured.
QUIET = {"loggers": {"console": {"config": {"log_level": "ERROR"}}}}


def new_instance(folder: Path) -> dg.DagsterInstance:
    """A real event log in a folder."""
    folder.mkdir(parents=True)
    return dg.DagsterInstance.local_temp(str(folder))


def require_passed(run: dg.ExecuteInProcessResult) -> None:
    """The table holds nothing that a rule could complain about."""
    wrong = [str(one.description) for one in run.get_asset_check_evaluations() if not one.passed]
    if wrong:
        raise SystemExit("\n".join(["The data is good, yet checks say otherwise:", *wrong]))


def checks_of(frame: DataFrame) -> dg.JobDefinition:
    """The everyday rules as checks of a table that somebody else wrote."""
    orders = dg.AssetSpec("orders")
    rule_set = dq.RuleSet(asset=orders, rules=EVERYDAY, reader=lambda: frame)
    defs = dg.Definitions(
        assets=[orders],
        asset_checks=dq.build_asset_checks(rule_set),
        jobs=[dg.define_asset_job("checks", dg.AssetSelection.all_asset_checks())],
    )
    return defs.resolve_job_def("checks")


def run_checks(job: dg.JobDefinition, instance: dg.DagsterInstance) -> Any:
    run = job.execute_in_process(instance=instance, run_config=QUIET)
    require_passed(run)
    return run


def _in_dagster(setting: Setting) -> Actions:
    instance = new_instance(setting.scratch / "dagster")
    return {
        _PLAIN: Action(partial(evaluate, setting.frame, EVERYDAY)),
        _IN_DAGSTER: Action(partial(run_checks, checks_of(setting.frame), instance)),
    }


SUITE_D = Suite(
    "Suite D: everyday rules as Dagster checks",
    _in_dagster,
    references=(_PLAIN,),
    verdicts=(Difference(_IN_DAGSTER, _PLAIN),),
)
