"""TopNotch plans: loaded from their files, run as they are, or as assets and checks of Dagster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg

from dq_dagster.evaluation.topnotch.report import PlanReport
from dq_dagster.integration.checks.build import build_asset_checks, checks_of
from dq_dagster.integration.checks.readers import SPARK_RESOURCE
from dq_dagster.integration.topnotch.assets import PlanAssets
from dq_dagster.plan.topnotch import PlanFile
from dq_dagster.ruleset import RuleSet
from dq_dagster.sources.topnotch.plan import read_plan
from dq_dagster.spark.session.java import use_packaged_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def load_plan(
    path: str | Path,
    *,
    variables: Mapping[str, Any] | None = None,
    paths: Mapping[str, str] | None = None,
    within: str | Path | None = None,
    inputs: Mapping[str, Any] | None = None,
    key_prefix: str | Sequence[str] = (),
    group_name: str | None = None,
    spark: str = SPARK_RESOURCE,
) -> TopNotchPlan:
    """A TopNotch plan with its nested plans, and all files that they name.

    ``variables`` are the values of ``${name}``. ``paths`` says where data lies now, by the
    beginnings of paths: ``{"/user/me/": "s3a://bucket/"}``; relative ones are meant from the
    working directory. Nested plans and the files of commands lie in the folder of the plan or
    below, unless ``within`` names another folder.

    As assets, what commands give has their ``outputKey`` as a key, below ``key_prefix``; their
    group is ``group_name``, by default the name of the file. Files that are read are external
    assets by their path; ``inputs`` says by their ``ref`` which of them are assets of yours, which
    are then loaded by their IO managers. ``spark`` is the resource that reads files.

    Raises DeclarationError with every mistake in every file, each with its line and column.
    """
    file = read_plan(path, variables=variables, paths=paths, within=within)
    prefix = (key_prefix,) if isinstance(key_prefix, str) else tuple(key_prefix)
    assets = PlanAssets(file, dict(inputs or {}), prefix, group_name, spark)
    assets.refuse_misfits()
    return TopNotchPlan(file, assets)


@dataclass(frozen=True)
class TopNotchPlan:
    """A plan that was loaded: ``run`` it, or give its assets and checks to ``dg.Definitions``."""

    _file: PlanFile
    _assets: PlanAssets = field(repr=False)

    @property
    def name(self) -> str:
        """The name of its file, without what it ends in."""
        return self._file.name

    @property
    def notes(self) -> tuple[str, ...]:
        """What the plan asks for that is not done here, each with its place."""
        return self._file.notes

    @cached_property
    def assets(self) -> list[dg.AssetsDefinition | dg.AssetSpec]:
        """An asset for the rows of each view, each diff and each assertion, and of files read.

        Those of an assertion are the rows that are invalid, with the reasons.
        """
        return [*self._assets.files.values(), *self._assets.commands.values()]

    @cached_property
    def rule_sets(self) -> list[RuleSet]:
        """The assertions as rules of the assets that they judge; those on files, of their own."""
        return [*self._assets.of_assets(), *self._assets.of_files()]

    @cached_property
    def checks(self) -> list[dg.AssetChecksDefinition]:
        """A check for each assertion, on the asset that it judges. None of them blocks.

        Those on files, which nothing builds, are checks of their own asset, the invalid rows.
        """
        use_packaged_java()
        of_files = [checks_of(one, step="files") for one in self._assets.of_files()]
        return [*build_asset_checks(self._assets.of_assets()), *of_files]

    @cached_property
    def definitions(self) -> dg.Definitions:
        """All of it, without the resources that it needs: an IO manager, and Spark for files."""
        return dg.Definitions(assets=self.assets, asset_checks=self.checks)

    def run(self, session: SparkSession | None = None, *, samples: bool = True) -> PlanReport:
        """Runs the commands without Dagster, in the order of the plan, and reports what came of it.

        Rows are written where commands have an ``outputPath``. A command that fails keeps only
        those from running that need its rows. ``samples=False`` leaves row values out of the
        report. Without a session, that of the process is used, or a local one started.
        """
        # Here, since Dagster needs neither of them to load a plan.
        from dq_dagster.evaluation.topnotch.run import require_inputs, run_plan
        from dq_dagster.spark.session.session import current_session

        require_inputs(self._file)
        return run_plan(self._file, session or current_session(), samples=samples)
