"""`dq-dagster contract`: rules from and to contracts, and what a change of rules means."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from dq_dagster.cli.code_location import code_location_options, definitions_of, instance_of_user
from dq_dagster.cli.input import BadInput, reported
from dq_dagster.cli.rules.imports import report_option, write_beside, write_migration

if TYPE_CHECKING:
    from dq_dagster.evaluation.backtest.on_record import AssetRecord, OnRecord
    from dq_dagster.ruleset import RuleSet
    from dq_dagster.sources.contracts.changes import ContractDiff, RuleChange

_FAILURES = ("breaking", "stricter", "error-on-record", "never")


@click.group("contract")
def contract() -> None:
    """Read and write data contracts (ODCS 3.x), and compare two states of rules."""


@contract.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the rules there.")
@click.option("--asset", help="The asset that the rules are of; by default named by the object.")
@click.option("--object", "objects", multiple=True, help="Take this object of the contract only.")
@click.option("--untrusted", is_flag=True, help="Refuse queries.")
@report_option
@click.pass_context
def import_contract(
    ctx: click.Context,
    *,
    path: Path,
    output: Path | None,
    asset: str | None,
    objects: Sequence[str],
    untrusted: bool,
    form: str,
) -> None:
    """Turn a contract of the Open Data Contract Standard into rules in YAML.

    The report says of every element whether it is taken as it is, means something else here, is
    refused, or is documentation, with the reasons. With --output the rules are written to that file
    and the report is printed; without, the rules are printed, and the report goes to standard
    error.

    The exit code is 0, 1 if an element is refused, and 2 if the file cannot be read.
    """
    # Here, as below: other commands do not need it.
    from dq_dagster.sources.contracts.load import load_contract

    with reported():
        found = load_contract(path, assets=asset, objects=objects or None, trusted=not untrusted)
    write_migration(found, output, form)
    ctx.exit(int(bool(found.report.refused)))


@contract.command("export")
@click.argument("rules", required=False, type=click.Path(path_type=Path))
@code_location_options
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the contract there.")
@click.option("--id", "id_", help="The contract's id; by default made of the assets.")
@click.option("--name", help="The contract's name; by default that of the first asset.")
@click.option("--version", default="1.0.0", show_default=True, help="The contract's own version.")
@click.option("--status", default="active", show_default=True, help="The contract's status.")
@report_option
def export_contract(
    *,
    rules: Path | None,
    module: str | None,
    file: str | None,
    output: Path | None,
    id_: str | None,
    name: str | None,
    version: str,
    status: str,
    form: str,
) -> None:
    """Write rules as a contract of the Open Data Contract Standard 3.1.

    RULES is a rules file, a folder of them, or another contract; without it, the rules are those of
    the code location. The report says which rules others understand; the rest is kept as it is, for
    dq_dagster alone, so that importing the contract gives the same rules.

    The exit code is 0, or 2 if the rules cannot be read.
    """
    from dq_dagster.sources.contracts.write import to_contract

    with reported():
        found = to_contract(
            _rules(rules, module, file), id=id_, name=name, version=version, status=status
        )
    write_beside(found.to_yaml(), found.report, output, form)


@contract.command("diff")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", required=False, type=click.Path(path_type=Path))
@code_location_options
@click.option(
    "--instance",
    "on_record",
    is_flag=True,
    help="Judge the new rules on what is on record in the instance of DAGSTER_HOME.",
)
@click.option(
    "--days",
    type=click.IntRange(1, 3_650),
    default=90,
    show_default=True,
    help="How many of the last days on record are judged.",
)
@click.option(
    "--zone",
    default="UTC",
    show_default=True,
    help="The session's time zone, for bounds that are times without one.",
)
@click.option(
    "--fail-on",
    type=click.Choice(_FAILURES),
    multiple=True,
    default=("breaking",),
    show_default=True,
    help="Which changes make the exit code 1.",
)
@click.option("--untrusted", is_flag=True, help="Refuse queries and functions in the files.")
@click.option("--json", "machine", is_flag=True, help="Print JSON, for machines.")
@click.pass_context
def diff(
    ctx: click.Context,
    *,
    old: Path,
    new: Path | None,
    module: str | None,
    file: str | None,
    on_record: bool,
    days: int,
    zone: str,
    fail_on: Sequence[str],
    untrusted: bool,
    machine: bool,
) -> None:
    """Tell breaking from harmless changes between two states of rules.

    OLD and NEW are rules files, folders of them, or contracts; without NEW, the new rules are those
    of the code location. A change is breaking if some data that was an Error is none any more, and
    stricter if some data that was fine is an Error now; all others are harmless.

    With --instance, the new rules are judged on the values that checks recorded: no data is read,
    and no Spark is started. Where the record does not suffice, that is said by rule.

    The exit code is 0, 1 if there are changes of the kinds of --fail-on, and 2 if something cannot
    be read.
    """
    from dq_dagster.sources.contracts.changes import contract_diff, rule_sets_in

    with reported():
        before = rule_sets_in(old, trusted=not untrusted)
        after = _rules(new, module, file, trusted=not untrusted)
        found = contract_diff(before, after)
        verdicts = _verdicts(found, days, zone) if on_record else []
    if machine:
        click.echo(_as_json(found, verdicts))
    else:
        click.echo(str(found))
        _print_verdicts(verdicts)
    ctx.exit(int(_fails(found, verdicts, fail_on)))


def _rules(
    path: Path | None, module: str | None, file: str | None, *, trusted: bool = True
) -> list[RuleSet]:
    from dq_dagster.sources.contracts.changes import rule_sets_in

    if path is not None:
        if module is not None or file is not None:
            raise BadInput("Give either a file with rules, or a code location (-m or -f).")
        return rule_sets_in(path, trusted=trusted)
    from dq_dagster.integration.guarded.declared import DeclaredRules

    return DeclaredRules.of(definitions_of(module, file)).rule_sets()


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What a changed rule would have said, and what it said as it was."""

    change: RuleChange
    now: OnRecord
    before: OnRecord | None

    def __str__(self) -> str:
        from dq_dagster.judging.judgement import Status

        was = ""
        if self.before is not None and self.before.days:
            was = f" (as it was: {self.before.count(Status.ERROR)})"
        return f"{self.change.asset}, {self.change.rule}: {self.now.words}{was}"


def _verdicts(found: ContractDiff, days: int, zone: str) -> list[_Verdict]:
    from dq_dagster.errors import NotOnRecord
    from dq_dagster.evaluation.backtest.on_record import OnRecord
    from dq_dagster.integration.event_log.asset_record import asset_record

    try:
        where = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise BadInput(f"There is no time zone '{zone}'.") from None
    known: dict[str, AssetRecord | None] = {}
    verdicts = []
    with instance_of_user() as instance:
        for change in found.changes:
            old, new = change.rules
            if new is None or not new.enabled:
                continue
            if change.asset not in known:
                try:
                    known[change.asset] = asset_record(instance, change.asset, zone=where)
                except NotOnRecord:
                    known[change.asset] = None
            record = known[change.asset]
            if record is None:
                missing = (f"no check of asset '{change.asset}'",)
                verdicts.append(_Verdict(change, OnRecord(missing=missing), None))
                continue
            was = None if old is None else record.judge(old, days=days)
            verdicts.append(_Verdict(change, record.judge(new, days=days), was))
    return verdicts


def _print_verdicts(verdicts: Sequence[_Verdict]) -> None:
    if verdicts:
        click.echo("\nOn record")
    for one in verdicts:
        click.echo(f"  {one}")


def _as_json(found: ContractDiff, verdicts: Sequence[_Verdict]) -> str:
    judged = {id(one.change): one for one in verdicts}
    changes: list[dict[str, Any]] = []
    for change in found.changes:
        written = change.to_dict()
        verdict = judged.get(id(change))
        if verdict is not None:
            before = None if verdict.before is None else verdict.before.to_dict()
            written["on_record"] = {**verdict.now.to_dict(), "before": before}
        changes.append(written)
    content = {"headline": found.headline, "counts": found.counts, "changes": changes}
    return json.dumps(content, indent=2, ensure_ascii=False)


def _fails(found: ContractDiff, verdicts: Sequence[_Verdict], fail_on: Sequence[str]) -> bool:
    from dq_dagster.judging.judgement import Status

    if "never" in fail_on:
        return False
    errors = any(one.now.count(Status.ERROR) for one in verdicts)
    return any(found.of(kind) for kind in fail_on) or ("error-on-record" in fail_on and errors)
