"""`dq.to_contract` and `dq.write_contract`: rule sets as a contract that others understand.

A rule is written in the words of the standard only if reading these back gives the same rule; else
it is kept as it is, for this library alone, so that nothing is lost.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dq_dagster.errors import DeclarationError
from dq_dagster.rules.base.rule import Rule
from dq_dagster.ruleset import RuleSet, merged
from dq_dagster.sources.contracts.document import ENGINE
from dq_dagster.sources.contracts.expressed import (
    Expressed,
    columns_of,
    custom,
    expressed,
    typed_property,
)
from dq_dagster.sources.contracts.load import JUDGE_TYPES, ORDER, load_contract
from dq_dagster.sources.migration import MigrationEntry, MigrationReport, Taken
from dq_dagster.sources.yaml.text import to_yaml
from dq_dagster.sources.yaml.writing import rule_as_written, settings_as_written

VERSION = "v3.1.0"
_KEPT = "It is kept for dq_dagster alone: the standard has no words for it."


@dataclass(frozen=True, slots=True)
class WrittenContract:
    """A contract as plain data, and for each rule whether others understand it."""

    document: Mapping[str, Any]
    report: MigrationReport

    def to_yaml(self) -> str:
        return to_yaml(self.document)


def to_contract(
    rule_sets: RuleSet | Sequence[RuleSet],
    *,
    id: str | None = None,  # noqa: A002 (the standard's own word)
    name: str | None = None,
    version: str = "1.0.0",
    status: str = "active",
) -> WrittenContract:
    """Rule sets as a contract of the Open Data Contract Standard 3.1.

    ``dq.load_contract`` reads the same rules from it. Rules that the standard has no words for are
    ``type: custom`` with the engine ``dq_dagster``; the report says which.
    """
    given = [rule_sets] if isinstance(rule_sets, RuleSet) else list(rule_sets)
    every = merged(given)
    if not every:
        raise DeclarationError.of("a contract needs at least one rule set.")
    names = [one.asset_name for one in every]
    head = {
        "apiVersion": VERSION,
        "kind": "DataContract",
        "id": id or "-".join(names).replace("/", "."),
        "name": name or names[0],
        "version": version,
        "status": status,
    }
    kept: set[tuple[str, str]] = set()
    while True:
        document = {**head, **_body(every, kept)}
        differing = _differing(document, every) - kept
        if not differing:
            return WrittenContract(document, _report(every, kept))
        kept |= differing


def write_contract(
    path: str | Path, rule_sets: RuleSet | Sequence[RuleSet], **fields: str
) -> WrittenContract:
    """Writes rule sets into a file as a contract; ``fields`` are those of ``to_contract``."""
    found = to_contract(rule_sets, **fields)
    Path(path).write_text(found.to_yaml(), encoding="utf-8")
    return found


def _differing(document: Mapping[str, Any], rule_sets: Sequence[RuleSet]) -> set[tuple[str, str]]:
    """The rules, by asset and check, that would not be read back as they are."""
    read = {one.asset_name: one for one in _read_back(document)}
    found: set[tuple[str, str]] = set()
    for rule_set in rule_sets:
        there = read.get(rule_set.asset_name)
        rules = {} if there is None else {rule.check_name: rule for rule in there.rules}
        for rule in rule_set.rules:
            if not _same(rule, rules.pop(rule.check_name, None)):
                found.add((rule_set.asset_name, rule.check_name))
        # One too many comes of a rule under another name.
        found |= {(rule_set.asset_name, name) for name in _by_type(rule_set, rules.values())}
    return found


def _by_type(rule_set: RuleSet, others: Collection[Rule]) -> set[str]:
    types = {rule.type for rule in others}
    return {rule.check_name for rule in rule_set.rules if rule.type in types}


def _same(rule: Rule, other: Rule | None) -> bool:
    said = "action_if_failed"
    return (
        other is not None
        and rule == other
        and (said in rule.model_fields_set) == (said in other.model_fields_set)
    )


def _read_back(document: Mapping[str, Any]) -> list[RuleSet]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "contract.yaml"
        file.write_text(to_yaml(document), encoding="utf-8")
        return load_contract(file).rule_sets


def _report(rule_sets: Sequence[RuleSet], kept: Collection[tuple[str, str]]) -> MigrationReport:
    entries = [
        MigrationEntry(
            rule.name,
            rule.type,
            one.asset_name,
            one.origin.of(rule),
            Taken.OTHERWISE if (one.asset_name, rule.check_name) in kept else Taken.AS_IT_IS,
            (_KEPT,) if (one.asset_name, rule.check_name) in kept else (),
        )
        for one in rule_sets
        for rule in one.rules
    ]
    return MigrationReport(tuple(entries))


def _body(rule_sets: Sequence[RuleSet], kept: set[tuple[str, str]]) -> dict[str, Any]:
    tables = [_WrittenTable(one, kept) for one in rule_sets]
    for one in tables:
        one.fill()
    body: dict[str, Any] = {"schema": [one.written() for one in tables]}
    levels = [level for one in tables for level in one.service_levels]
    if levels:
        body["slaProperties"] = levels
    return body


@dataclass(slots=True)
class _WrittenTable:
    """One rule set as an object of the contract."""

    rule_set: RuleSet
    kept: set[tuple[str, str]]
    properties: dict[str, dict[str, Any]] = field(default_factory=dict)
    quality: list[dict[str, Any]] = field(default_factory=list)
    service_levels: list[dict[str, Any]] = field(default_factory=list)
    judges_types: bool = False

    def fill(self) -> None:
        rules = {rule.name: rule_as_written(rule, self.rule_set) for rule in self.rule_set.rules}
        found = {rule.name: self._expressed(rule, rules[rule.name]) for rule in self.rule_set.rules}
        self._columns(found, rules)
        for rule in self.rule_set.rules:
            proposal = found[rule.name]
            if proposal is None:
                self.kept.add((self.rule_set.asset_name, rule.check_name))
                self.quality.append(custom(rule, rules[rule.name]))
                continue
            for column, entry in proposal.at_columns.items():
                self.properties[column].setdefault("quality", []).append(entry)
            if proposal.at_table is not None:
                self.quality.append(proposal.at_table)
            self.service_levels += proposal.service_levels

    def _expressed(self, rule: Rule, written: Mapping[str, Any]) -> Expressed | None:
        if (self.rule_set.asset_name, rule.check_name) in self.kept:
            return None
        return expressed(rule, written, self.rule_set.asset_name)

    def _columns(
        self, found: Mapping[str, Expressed | None], written: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """The columns: those of a schema in its order, and those that rules name."""
        schemas = [one.schema for one in found.values() if one is not None and one.schema]
        self.judges_types = bool(schemas)
        if not schemas:
            schemas = [self._documented(written)]
        for column in schemas[0]:
            self.properties[column["name"]] = dict(column)
        for rule in self.rule_set.rules:
            for name in columns_of(rule):
                self.properties.setdefault(name, {"name": name})

    def _documented(self, written: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Types that are not judged by the standard's words: for people to read."""
        declared = settings_as_written(self.rule_set).get("declared_schema")
        expected = [one["expected"] for one in written.values() if "expected" in one]
        for columns in (declared, *expected):
            if isinstance(columns, list):
                return [typed_property(one) for one in columns]
        return []

    def written(self) -> dict[str, Any]:
        own = settings_as_written(self.rule_set)
        typed = any(len(one) > 1 for one in self._bare())
        if typed and not self.judges_types:
            own[JUDGE_TYPES] = False
        if len(self.rule_set.rules) > 1:
            own[ORDER] = [rule.name for rule in self.rule_set.rules]
        table: dict[str, Any] = {
            "name": self.rule_set.asset_name,
            "logicalType": "object",
            "physicalType": "table",
        }
        if self.properties:
            table["properties"] = list(self.properties.values())
        if self.quality:
            table["quality"] = self.quality
        if own:
            table["customProperties"] = [{"property": ENGINE, "value": own}]
        return table

    def _bare(self) -> list[dict[str, Any]]:
        return [
            {key: value for key, value in one.items() if key != "quality"}
            for one in self.properties.values()
        ]
