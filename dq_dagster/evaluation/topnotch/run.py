"""Runs a TopNotch plan without Dagster: its commands one after the other, and a report of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dq_dagster.errors import DeclarationError, DqError, Problem, UnreadableData
from dq_dagster.evaluation.evaluate import evaluate
from dq_dagster.evaluation.faults import judged
from dq_dagster.evaluation.topnotch.report import AssertionReport, CommandReport, PlanReport
from dq_dagster.plan.topnotch import (
    AssertionCommand,
    DiffCommand,
    PlanCommand,
    PlanFile,
    PlanInput,
    ViewCommand,
)
from dq_dagster.spark.frames.ansi import at_home, is_ansi
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.spark.frames.failures import failure_of, without_quoting_rows
from dq_dagster.spark.frames.reading import require_existing
from dq_dagster.spark.passes.isolation import attempted
from dq_dagster.spark.session.session import is_connect
from dq_dagster.spark.topnotch.diffs import diff
from dq_dagster.spark.topnotch.invalid_rows import invalid_rows, shown_rows
from dq_dagster.spark.topnotch.views import read_input, view, with_features
from dq_dagster.storage.parquet_output import replace_parquet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def require_inputs(plan: PlanFile) -> None:
    """Raises DeclarationError with every local file that a command reads and that is not there."""
    problems = []
    for command in plan.commands:
        for source in command.inputs:
            try:
                if source.command is None:
                    require_existing(source.path)
            except UnreadableData as error:
                problems.append(Problem(f"'{command.key}': {error}", place=command.place))
    if problems:
        raise DeclarationError(list(dict.fromkeys(problems)))


def run_plan(plan: PlanFile, session: SparkSession, *, samples: bool = True) -> PlanReport:
    """Runs all commands. One that fails does not keep those from running that need no rows of it.

    What a command writes to its ``outputPath``, or keeps because of ``cache``, is computed once.
    """
    require_inputs(plan)
    with _folder(plan, session) as folder, without_quoting_rows():
        run = _PlanRun(session, folder, samples=samples)
        reports = tuple(run.report(command) for command in plan.commands)
    return PlanReport(plan.name, reports, [command.declared for command in plan.commands])


@contextmanager
def _folder(plan: PlanFile, session: SparkSession) -> Iterator[Path | None]:
    """A place for rows that are kept while the plan runs; None where there is none for all."""
    wanted = any(command.cache for command in plan.commands)
    # The workers of a cluster, or a server, may not see what lies here.
    master = session.conf.get("spark.master", "") or ""
    local = not is_connect(session) and master.startswith("local")
    if not wanted or not local:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="dq_plan_", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def output(command: PlanCommand, frames: Sequence[DataFrame]) -> DataFrame:
    """The rows of a command, given those of its inputs."""
    match command:
        case ViewCommand():
            return view(command, frames)
        case DiffCommand():
            return diff(command, *frames)
        case AssertionCommand():
            rows = with_features(frames[0], command.features)
            rules = [one.rule for one in command.assertions]
            return at_home(invalid_rows(judged(rows, rules), command.assertions))
    raise TypeError(f"No rows for {type(command).__name__}.")


def stored(command: PlanCommand, rows: DataFrame) -> DataFrame:
    """The rows as they are stored, if the command says where."""
    if command.output_path is None:
        return rows
    return replace_parquet(rows, command.output_path, command.key)


@dataclass(frozen=True, slots=True)
class _PlanRun:
    session: SparkSession
    folder: Path | None
    # The rows of the commands so far, None of those that failed.
    frames: dict[str, DataFrame | None] = field(default_factory=dict)
    samples: bool = field(default=True, kw_only=True)

    def report(self, command: PlanCommand) -> CommandReport:
        frames = attempted(lambda: [self._input(one) for one in command.inputs], _explained)
        if isinstance(frames, DqError):
            self.frames[command.key] = None
            return CommandReport(command.key, error=str(frames))
        reports: tuple[AssertionReport, ...] = ()
        if isinstance(command, AssertionCommand):
            found = attempted(lambda: self._assertions(command, frames[0]), _explained)
            if isinstance(found, DqError):
                self.frames[command.key] = None
                return CommandReport(command.key, error=str(found))
            reports = found
        rows = attempted(lambda: self._stored(command, output(command, frames)), _explained)
        failure = rows if isinstance(rows, DqError) else None
        self.frames[command.key] = None if isinstance(rows, DqError) else rows
        return CommandReport(command.key, reports, None if failure is None else str(failure))

    def _input(self, source: PlanInput) -> DataFrame:
        if source.command is None:
            return read_input(self.session, source)
        found = self.frames[source.command]
        if found is None:
            raise UnreadableData.failed_command(source.command)
        return found

    def _stored(self, command: PlanCommand, rows: DataFrame) -> DataFrame:
        if command.cache and command.output_path is None and self.folder is not None:
            place = str(self.folder / f"rows_{len(self.frames)}")
            return replace_parquet(rows, place, command.key)
        return stored(command, rows)

    def _assertions(
        self, command: AssertionCommand, frame: DataFrame
    ) -> tuple[AssertionReport, ...]:
        rows = with_features(frame, command.features)
        outcomes = evaluate(rows, [one.rule for one in command.assertions], samples=False)
        reports = [AssertionReport(one, outcomes[one.rule.name]) for one in command.assertions]
        shown = [
            one.assertion
            for one in reports
            if one.num_invalid or (one.num_invalid is not None and one.assertion.summary)
        ]
        if not shown:
            return tuple(reports)
        found = judged(rows, [one.rule for one in shown])
        table = JudgedTable.of(found.frame, is_ansi=is_ansi(found.frame))
        by_name = shown_rows(found, shown, table, samples=self.samples)
        return tuple(
            AssertionReport(one.assertion, one.outcome, by_name.get(one.assertion.rule.name))
            for one in reports
        )


def _explained(error: Exception) -> DqError:
    return error if isinstance(error, DqError) else failure_of(error)
