"""`dq.load_spark_expectations`: the rules of Spark-Expectations, and a report on each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import DeclarationError
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.fields.reference import Reference
from dq_dagster.ruleset import Origin, RuleSet, asset_path
from dq_dagster.sources.migration import (
    Migration,
    MigrationEntry,
    MigrationReport,
    Taken,
    Untranslatable,
    sentence,
    unused_name,
)
from dq_dagster.sources.reading import Declaration, Reading
from dq_dagster.sources.rules_table.rows import is_table
from dq_dagster.sources.spark_expectations.rows import rows_of_file, rows_of_table
from dq_dagster.sources.spark_expectations.translate import (
    Caller,
    Translation,
    translated,
    unchecked_target,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def load_spark_expectations(
    source: Any,
    *,
    product_id: str | None = None,
    table: str | None = None,
    params: Mapping[str, Any] | None = None,
    env: str | None = None,
    assets: Any = None,
    view: str | None = None,
    tables: Mapping[str, Any] | None = None,
    trusted: bool | None = None,
    strict: bool = False,
    spark: SparkSession | None = None,
) -> Migration:
    """The rules of Spark-Expectations as rule sets of this library, with a report on every one.

    ``source`` is its YAML or JSON file, or its rules table: a DataFrame, or a ``dq.Table``.
    ``product_id`` and ``table`` choose rules; by default all are taken. ``params`` are what it
    calls ``se_dq_rules_params``, ``env`` is the environment of a file that has several.

    Each table is an asset: ``dev.orders`` is ``dev/orders``, unless ``assets`` names another one,
    by table or for all of them. In queries the rows are what ``view`` names, ``<table>_view`` by
    default; ``tables`` has the data behind other names, such as ``{"customers": {"asset": ...}}``;
    all others are tables of Spark's catalog.

    Queries, and conditions across rows that no rule of this library stands for, are taken only from
    sources that are ``trusted``: files are, a table is not unless you say so. What cannot be taken
    is in ``report.refused``, with the reason; with ``strict`` it is raised as DeclarationError. So
    are files that cannot be read.
    """
    from_table = is_table(source)
    trust = not from_table if trusted is None else trusted
    caller = Caller(params or {}, view, _references(tables or {}), trust)
    rows = rows_of_table(source, spark) if from_table else rows_of_file(_path(source), env)
    chosen = [_Chosen(row, caller, product_id, table) for row in rows]
    found = _Loaded(assets, trust)
    row_rules = [one.says.table for one in chosen if one.is_active_row_rule]
    for one in chosen:
        found.add(one, row_rules)
    report = MigrationReport(tuple(found.entries))
    if strict:
        report.require_all()
    return Migration(found.rule_sets(), report)


def _path(source: Any) -> str | Path:
    if isinstance(source, str | Path):
        return source
    kind = type(source).__name__
    raise DeclarationError.of(
        f"rules come from a path, a DataFrame or a dq.Table(...), not from a {kind}."
    )


def _references(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Where data lies, as rules have it; a text is an asset."""
    return {
        name: (
            one.model_dump(exclude_unset=True)
            if isinstance(one, Reference)
            else dict(one)
            if isinstance(one, Mapping)
            else {"asset": "/".join(asset_path(one))}
        )
        for name, one in tables.items()
    }


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A row, and whether the caller wants it."""

    row: Declaration
    caller: Caller
    product_id: str | None
    table: str | None

    @property
    def says(self) -> Translation:
        """What the row says of itself, whatever can be made of it."""
        return Translation(self.row, self.caller)

    @property
    def reason_against(self) -> str | None:
        product = self.says.text("product_id")
        if self.product_id is not None and product != self.product_id:
            return f"It is of product '{product}'."
        if self.table is not None and self.says.table != self.table.replace("`", ""):
            return f"It is of table '{self.says.table}'."
        return None

    @property
    def is_active_row_rule(self) -> bool:
        says = self.says
        return self.reason_against is None and says.kind == "row_dq" and says.flag("is_active")


@dataclass(slots=True)
class _Loaded:
    """The rules by asset, and an entry for every row, in the order of rows."""

    assets: Any
    trusted: bool
    entries: list[MigrationEntry] = field(default_factory=list)
    rules: dict[str, dict[str, tuple[Rule, str]]] = field(default_factory=dict)

    def add(self, chosen: _Chosen, row_rules: Sequence[str]) -> None:
        says = chosen.says
        entry = MigrationEntry(says.name, says.kind, says.table, chosen.row.place, Taken.REFUSED)
        against = chosen.reason_against
        if against is not None:
            self.entries.append(replace(entry, taken=Taken.NOT_CHOSEN, notes=(against,)))
            return
        try:
            asset = self._asset(says.table)
            found = translated(chosen.row, chosen.caller)
            unchecked_target(found, row_rules)
            self.entries.append(self._taken(entry, found, asset))
        except Untranslatable as reason:
            self.entries.append(replace(entry, notes=(sentence(str(reason)),)))

    def _taken(self, entry: MigrationEntry, found: Translation, asset: str) -> MigrationEntry:
        of_asset = self.rules.setdefault(asset, {})
        name = unused_name(found.name, found.kind, of_asset)
        if name != found.name:
            found.note("Another rule of the table has its name.")
            found.fields["name"] = name
        reading = Reading(trusted=self.trusted)
        rule = reading.rule(Declaration(found.fields, found.row.place))
        if rule is None:
            reasons = " ".join(problem.message for problem in reading.problems)
            raise Untranslatable(reasons)
        of_asset[rule.check_name] = (rule, found.row.place)
        return replace(
            entry,
            taken=Taken.OTHERWISE if found.differs else Taken.AS_IT_IS,
            notes=tuple(found.notes),
            becomes=rule.type,
            name=rule.name,
            text=str(found.fields.get("expectation", "")),
        )

    def _asset(self, table: str) -> str:
        named = self.assets
        if isinstance(named, Mapping):
            known = {str(key).replace("`", ""): one for key, one in named.items()}
            named = known.get(table)
        if named is not None:
            return "/".join(asset_path(named))
        parts = [part for part in table.split(".") if part.strip()]
        if not parts:
            raise Untranslatable("'table_name' is missing: name the asset by assets=.")
        if "/" in table or not table.isprintable():
            raise Untranslatable(f"{table!r} is no name of a table: name the asset by assets=.")
        return "/".join(parts)

    def rule_sets(self) -> list[RuleSet]:
        return [
            RuleSet(asset=asset, rules=[rule for rule, _ in rules.values()]).declared_at(
                Origin(
                    next(iter(rules.values()))[1],
                    {name: place for name, (_, place) in rules.items()},
                )
            )
            for asset, rules in self.rules.items()
            if rules
        ]
