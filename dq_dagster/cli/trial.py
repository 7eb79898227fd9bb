"""`dq-dagster test`: tries rules on data and saves nothing."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dq_dagster.cli.input import PAIRS, BadInput, reported, started
from dq_dagster.judging.judgement import Status
from dq_dagster.metrics.conditions import sample_words
from dq_dagster.sql.expressions import filter_refusals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dq_dagster.evaluation.outcome import Outcome
    from dq_dagster.evaluation.result import Evaluation
    from dq_dagster.rules.base.rule import Rule
    from dq_dagster.ruleset import RuleSet

_Command = TypeVar("_Command", bound=Callable[..., Any])
_COLOURS = {Status.OK: "green", Status.WARNING: "yellow", Status.ERROR: "red"}
_NARROWEST_MESSAGE = 40
_WIDEST_NAME = 40


def as_text(result: Evaluation, rule_set: RuleSet) -> str:
    """The plan in one line, a line or more for each outcome, and what it comes to."""
    name_width = min(max(len(o.rule.name) for o in result), _WIDEST_NAME)
    lines = [_lines(outcome, name_width) for outcome in result]
    title = f"{rule_set.asset_name}: {result.plan.headline()}"
    return "\n".join([title, "", *lines, "", result.headline()])


def as_json(result: Evaluation, rule_set: RuleSet) -> str:
    content = {
        "asset": rule_set.asset_name,
        "status": result.status.value,
        "plan": result.plan.headline(),
        "outcomes": [_record(outcome) for outcome in result],
    }
    return json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)


def _lines(outcome: Outcome, name_width: int) -> str:
    status_width = max(map(len, _COLOURS))
    status = click.style(f"{outcome.status:<{status_width}}", fg=_COLOURS.get(outcome.status))
    margin = " " * (status_width + 2 + name_width + 2)
    message = _wrapped(outcome.message, margin)
    if outcome.samples:
        message += f"\n{margin}{_wrapped(f'values: {sample_words(outcome.samples)}', margin)}"
    name = outcome.rule.name
    # A longer name has a line to itself, so that the messages stay in line.
    gap = f"\n{margin}" if len(name) > name_width else " " * (name_width - len(name) + 2)
    return f"{_coloured(status)}  {name}{gap}{message}"


def _coloured(text: str) -> str:
    # https://no-color.org: whatever its value, the variable means no colour.
    return click.unstyle(text) if os.environ.get("NO_COLOR") else text


def _wrapped(message: str, margin: str) -> str:
    """Broken to the width of a terminal; a file or a pipe gets one line."""
    if not sys.stdout.isatty():
        return message
    width = max(shutil.get_terminal_size().columns - len(margin), _NARROWEST_MESSAGE)
    return f"\n{margin}".join(textwrap.wrap(message, width, break_on_hyphens=False))


def _record(outcome: Outcome) -> dict[str, Any]:
    from dq_dagster.evaluation.outcome import plain

    return {
        "rule": outcome.rule.name,
        "type": outcome.rule.type,
        "status": outcome.status.value,
        "message": outcome.message,
        "observed": plain(outcome.observed),
        "expected": outcome.expected,
        "bounds": plain(outcome.bounds),
        "rows": outcome.rows,
        "failed_rows": outcome.failed_rows,
        "metrics": plain(outcome.metrics),
        "details": plain(outcome.details),
        "samples": [
            {"columns": list(one.columns), "values": list(one.values), "rows": one.rows}
            for one in outcome.samples
        ],
    }


@dataclass(frozen=True, slots=True)
class TrialData:
    """Where the rows come from."""

    path: str | None
    table: str | None
    kind: str | None
    options: Mapping[str, str]
    where: str | None

    def check(self) -> None:
        """Finds what can be found without Spark."""
        from dq_dagster.spark.frames.reading import require_existing

        if (self.path is None) == (self.table is None):
            raise BadInput("Give the data to try the rules on: either --data PATH or --table NAME.")
        if self.path is None and (self.kind or self.options):
            raise BadInput("--format and --option describe files: they go with --data.")
        if self.path is not None:
            require_existing(self.path)
        require_filter(self.where)

    def read(self, session: SparkSession) -> DataFrame:
        from dq_dagster.spark.frames.reading import read_files, read_table, rows_where

        if self.path is not None:
            frame = read_files(session, self.path, kind=self.kind, options=self.options)
        else:
            frame = read_table(session, str(self.table))
        return frame if self.where is None else rows_where(frame, self.where)


def require_filter(where: str | None) -> None:
    """Refuses what is no row filter, before Spark is started to find that out."""
    reasons = filter_refusals(where) if where is not None else ()
    if reasons:
        raise BadInput(f"--where: {' '.join(refusal.reason for refusal in reasons)}")


def _moment(ctx: Any, param: click.Parameter, text: str | None) -> datetime | None:
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        message = f"'{text}' is not a time such as 2024-03-09T12:00:00+00:00."
        raise click.BadParameter(message, ctx, param) from None


def data_options(command: _Command) -> _Command:
    """The options that say where the rows come from."""
    options = (
        click.option("--data", metavar="PATH", help="Files, or a folder of them, to judge."),
        click.option(
            "--format", "kind", help="The format of the files; by default what their names end in."
        ),
        click.option("--option", "options", help="An option for reading the files.", **PAIRS),
        click.option(
            "--table", metavar="NAME", help="A table of Spark's catalog, instead of files."
        ),
        click.option("--where", metavar="SQL", help="Look at these rows of the data only."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command("test")
@click.argument("rules", type=click.Path(path_type=Path))
@data_options
@click.option("--asset", help="The asset whose rules to try, if there are several.")
@click.option(
    "--rule",
    "names",
    metavar="NAME",
    multiple=True,
    help="Try this rule only, also if it is disabled.",
)
@click.option(
    "--now", metavar="TIME", callback=_moment, help="The time that ages are counted from."
)
@click.option("--conf", help="A setting of Spark, if it has to be started.", **PAIRS)
@click.option("--strict", is_flag=True, help="Let a Warning count as an Error.")
@click.option("--no-samples", is_flag=True, help="Do not show the values that broke rules.")
@click.option("--json", "machine", is_flag=True, help="Print JSON, for machines.")
@click.pass_context
def trial(
    ctx: click.Context,
    *,
    rules: Path,
    data: str | None,
    kind: str | None,
    options: Mapping[str, str],
    table: str | None,
    where: str | None,
    asset: str | None,
    names: Sequence[str],
    now: datetime | None,
    conf: Mapping[str, str],
    strict: bool,
    no_samples: bool,
    machine: bool,
) -> None:
    """Try the RULES of a YAML file or folder on data. Nothing is saved.

    --rule, --option and --conf can be given several times. CSV files are read with a header and
    with types that fit their values, unless --option header=false or --option inferSchema=false
    says otherwise.

    The exit code is 0 if there is no Error, 1 if there is one, and 2 if nothing could be tried.
    """
    # Here, since other commands need no Spark, and no help needs any rules.
    from dq_dagster.evaluation.evaluate import evaluate
    from dq_dagster.sources.yaml.files import load_rules

    source = TrialData(data, table, kind, options, where)
    with reported():
        rule_set = rule_set_of(load_rules(rules), asset)
        chosen = rule_set.model_copy(update={"rules": chosen_rules(rule_set, names)})
        source.check()
        result = evaluate(source.read(started(conf)), chosen, now=now, samples=not no_samples)
    shown = as_json(result, rule_set) if machine else as_text(result, rule_set)
    click.echo(shown)
    ctx.exit(_exit_code(result, strict=strict))


def rule_set_of(rule_sets: Sequence[RuleSet], asset: str | None) -> RuleSet:
    """The rules of the asset, or the only ones that there are."""
    by_name = {rule_set.asset_name: rule_set for rule_set in rule_sets}
    if not by_name:
        raise BadInput("There are no rules: a file needs 'asset: ...' and 'rules: [...]'.")
    if asset is None:
        if len(by_name) == 1:
            return rule_sets[0]
        raise BadInput(
            f"There are rules of several assets: name one with --asset ({_all(by_name)})."
        )
    if asset not in by_name:
        raise BadInput.unknown("asset", asset, list(by_name))
    return by_name[asset]


def chosen_rules(rule_set: RuleSet, names: Sequence[str]) -> tuple[Rule, ...]:
    """The enabled rules, or those that were named, which count as enabled."""
    by_name = {rule.name: rule for rule in rule_set.rules}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise BadInput.unknown("rule", unknown[0], list(by_name))
    chosen = [by_name[name] for name in dict.fromkeys(names)] or list(rule_set.enabled_rules)
    if not chosen:
        hint = f": name one with --rule ({_all(by_name)})" if by_name else ""
        raise BadInput(f"Asset '{rule_set.asset_name}' has no enabled rule{hint}.")
    return tuple(rule.model_copy(update={"enabled": True}) for rule in chosen)


def _all(names: Mapping[str, Any]) -> str:
    return ", ".join(names)


def _exit_code(result: Evaluation, *, strict: bool) -> int:
    bad = {Status.ERROR, Status.WARNING} if strict else {Status.ERROR}
    return int(any(outcome.status in bad for outcome in result))
