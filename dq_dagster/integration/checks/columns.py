"""The columns of assets that are on record, and the columns that rules name and assets lack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from dq_dagster.errors import Misfit, Problem
from dq_dagster.integration.checks.loading import LoadedChecks
from dq_dagster.integration.checks.request import declared_columns
from dq_dagster.metrics.schema import STRUCT, Field, Shape
from dq_dagster.plan.columns import NamedColumns
from dq_dagster.rules.base.rule import RuleFamily
from dq_dagster.rules.fields.schema_columns import fields_of
from dq_dagster.ruleset import RuleSet

# The fields of a rule set that name columns.
_OF_RULE_SET = ("samples", "sensitive", "column_meanings")


@dataclass(frozen=True, slots=True)
class ColumnsOnRecord:
    """The columns of an asset: of its latest materialization, or else of its definition."""

    fields: tuple[Field, ...]

    @property
    def names(self) -> list[str]:
        return [one.name for one in self.fields]

    def column_of(self, name: str) -> str | None:
        """The column that a name is about, also as a field within it; None if there is none."""
        for one in self.fields:
            if _same(one.name, name):
                return one.name
        first, *path = name.split(".")
        for one in self.fields:
            if path and _same(one.name, first) and _has(one.shape, path):
                return one.name
        return None


def columns_on_record(
    defs: dg.Definitions, keys: Sequence[dg.AssetKey], instance: dg.DagsterInstance | None
) -> dict[dg.AssetKey, ColumnsOnRecord]:
    """Those of each asset that has any on record; without an instance, those of definitions."""
    graph = defs.resolve_asset_graph()
    found = {}
    for key in keys:
        built = _latest(instance, key)
        said = graph.get(key).metadata if graph.has(key) else {}
        columns = declared_columns(built) or declared_columns(said)
        if columns:
            found[key] = ColumnsOnRecord(fields_of(columns))
    return found


def _latest(instance: dg.DagsterInstance | None, key: dg.AssetKey) -> Mapping[str, Any]:
    event = None if instance is None else instance.get_latest_materialization_event(key)
    made = None if event is None else event.asset_materialization
    return {} if made is None else made.metadata


def misfits(
    rule_sets: Sequence[RuleSet],
    known: Sequence[dg.AssetKey],
    columns: Mapping[dg.AssetKey, ColumnsOnRecord],
) -> list[Problem]:
    """What rules say of assets that do not exist, and of columns that these do not have."""
    problems: list[Problem] = []
    for one in rule_sets:
        key = dg.AssetKey(one.asset_path)
        problems += LoadedChecks(key, one, None).unknown_assets(known)
        if key in known and key in columns:
            problems += _unknown_columns(one, columns[key])
    return problems


def _unknown_columns(rule_set: RuleSet, columns: ColumnsOnRecord) -> Iterator[Problem]:
    asset = rule_set.asset_name
    for field in _OF_RULE_SET:
        for name in getattr(rule_set, field):
            if columns.column_of(name) is None:
                message = f"field '{field}': {Misfit.no_column(name, columns.names)}"
                yield Problem(message, asset=asset, place=rule_set.origin.place, field=field)
    for rule in rule_set.rules:
        # Whether columns are there is what these find out themselves.
        named = () if rule.family is RuleFamily.SCHEMAS else NamedColumns.of(rule).all
        for name in named:
            if columns.column_of(name) is None:
                message = str(Misfit.no_column(name, columns.names))
                place = rule_set.origin.of(rule)
                yield Problem(message, rule=rule.name, asset=asset, place=place)


def _has(shape: Shape, path: Sequence[str]) -> bool:
    """Whether a struct has a field of that path; what is inside of others is not known here."""
    if not path or shape.kind != STRUCT:
        return not path
    return any(_same(one.name, path[0]) and _has(one.shape, path[1:]) for one in shape.parts)


def _same(one: str, other: str) -> bool:
    """As Spark compares names."""
    return one.lower() == other.lower()
