"""`dq.load_contract`: the rules that a contract holds, and a report on each of its elements."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dq_dagster.errors import DeclarationError
from dq_dagster.rules.base.column_rules import ColumnRule
from dq_dagster.rules.base.rule import Rule, check_name
from dq_dagster.rules.catalogue import rule_types
from dq_dagster.ruleset import Origin, RuleSet, asset_path
from dq_dagster.sources.contracts.columns import Columns
from dq_dagster.sources.contracts.document import (
    CONTRACT_DOCUMENTATION,
    ENGINE,
    OBJECT_DOCUMENTATION,
    OF_CONTRACT,
    OF_OBJECT,
    OF_PROPERTY,
    PROPERTY_DOCUMENTATION,
    Contract,
    ContractObject,
    ContractProperty,
    read_contract,
    unknown_keys,
)
from dq_dagster.sources.contracts.library import Quality
from dq_dagster.sources.contracts.quality import quality_rule
from dq_dagster.sources.contracts.service_levels import service_levels
from dq_dagster.sources.contracts.taking import Taking
from dq_dagster.sources.contracts.types import ColumnTypes
from dq_dagster.sources.migration import (
    Migration,
    MigrationEntry,
    MigrationReport,
    Taken,
    Untranslatable,
    unused_name,
)
from dq_dagster.sources.reading import Declaration, Reading

# What this library notes in a contract beside the settings of a rule set.
JUDGE_TYPES, ORDER = "judge_types", "order"
# That a contract is one: they say nothing more.
_ALWAYS = ("id", "name", "status", "version")


def load_contract(
    path: str | Path,
    *,
    assets: Any = None,
    objects: Collection[str] | None = None,
    trusted: bool = True,
    strict: bool = False,
) -> Migration:
    """The rules of an Open Data Contract Standard 3.x file as rule sets, with a report.

    The report accounts for every element of the contract: taken as it is, with another meaning
    here, refused, or documentation, of which no rule is made; each with file and line, and with the
    reasons. Each object is an asset of its name, unless ``assets`` names another one, by object or
    for all of them. ``objects`` chooses some by name.

    SQL is run as it was written, which files are trusted with unless you say ``trusted=False``.
    What cannot be taken is in ``report.refused``; with ``strict`` it is raised as DeclarationError.
    So is a file that cannot be read, or is no contract.
    """
    contract = read_contract(path)
    loading = _Loading(contract, assets, objects, trusted)
    report = MigrationReport(tuple(loading.entries()), "element")
    if strict:
        report.require_all()
    return Migration([one for one in loading.rule_sets if one.rules], report)


@dataclass(slots=True)
class _Loading:
    """Goes through a contract, element by element, and keeps what became of each."""

    contract: Contract
    assets: Any
    chosen: Collection[str] | None
    trusted: bool
    rule_sets: list[RuleSet] = field(default_factory=list)

    def entries(self) -> Iterator[MigrationEntry]:
        levels = list(service_levels(self.contract))
        yield from _documentation(
            self.contract.declared, "contract", "contract", OF_CONTRACT, CONTRACT_DOCUMENTATION
        )
        for one in self.contract.objects:
            of_object = [found for home, found in levels if home is one]
            if self.chosen is not None and not {one.name, one.physical} & set(self.chosen):
                yield MigrationEntry(
                    one.name, "object", one.name, one.declared.place, Taken.NOT_CHOSEN
                )
                for found in of_object:
                    yield replace(found.entry(), taken=Taken.NOT_CHOSEN)
                continue
            yield from self._object(one, of_object)
        for home, found in levels:
            if home is None:
                yield found.entry()

    def _object(self, one: ContractObject, levels: list[Taking]) -> Iterator[MigrationEntry]:
        yield from _documentation(one.declared, one.name, one.name, OF_OBJECT, OBJECT_DOCUMENTATION)
        for top in one.properties:
            for part in top.walk():
                name = ".".join((one.name, *part.path))
                yield from _documentation(
                    part.declared, name, one.name, OF_PROPERTY, PROPERTY_DOCUMENTATION
                )
        try:
            asset = self._asset(one)
        except (Untranslatable, DeclarationError) as reason:
            found = Taking(one.name, "object", one.name, one.declared.place)
            yield found.refuse(str(reason)).entry()
            return
        rules = _Rules(asset, one, self.trusted)
        for found in [*self._takings(one), *levels]:
            rules.add(found)
        rule_set = rules.rule_set(Columns(self.contract, one, self._asset).sensitive())
        if rule_set is not None:
            self.rule_sets.append(rule_set)
        yield from rules.entries

    def _takings(self, one: ContractObject) -> Iterator[Taking]:
        if one.own.get(JUDGE_TYPES, True):
            yield from ColumnTypes(one).takings()
        yield from Columns(self.contract, one, self._asset).takings()
        for top in one.properties:
            for part in top.walk():
                yield from self._quality(one, part, part.declared)
        yield from self._quality(one, None, one.declared)

    def _quality(
        self, one: ContractObject, part: ContractProperty | None, home: Declaration
    ) -> Iterator[Taking]:
        for number, entry in enumerate(home.fields.get("quality") or [], 1):
            path = (one.name, *(() if part is None else part.path))
            declared = entry if isinstance(entry, Declaration) else Declaration({}, home.place)
            named = declared.fields.get("name") or f"quality {number}"
            found = Taking(".".join((*path, str(named))), "quality", one.name, declared.place)
            quality = Quality(self.contract, one, part, declared, self._asset)
            try:
                quality_rule(quality, found)
            except Untranslatable as reason:
                found.refuse(reason)
            yield found

    def _asset(self, one: ContractObject) -> str:
        named = self.assets
        if isinstance(named, Mapping):
            named = named.get(one.name, named.get(one.physical))
        if named is not None:
            return "/".join(asset_path(named))
        parts = one.name.split("/")
        if not one.name.isprintable() or {"", ".", ".."} & {part.strip() for part in parts}:
            raise Untranslatable(f"{one.name!r} is no name of an asset: name it by assets=.")
        return one.name


@dataclass(slots=True)
class _Rules:
    """The rules of one object, and an entry for every element that they come from."""

    asset: str
    home: ContractObject
    trusted: bool
    entries: list[MigrationEntry] = field(default_factory=list)
    rules: dict[str, tuple[Rule, str]] = field(default_factory=dict)
    declared: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, found: Taking) -> None:
        if found.refused or found.documentation or found.part_of:
            self.entries.append(found.entry())
            return
        if self.home.own.get("empty_includes_blank") and found.kind != "custom":
            # To a contract, only NULL is missing.
            found.fields.setdefault("empty_includes_blank", False)
            if "empty_includes_blank" not in _fields_of(found.fields):
                del found.fields["empty_includes_blank"]
        rule = self._rule(found, found.fields)
        if rule is None:
            self.entries.append(found.entry())
            return
        twin = self.rules.get(rule.check_name)
        if twin is not None:
            rule = self._beside(found, rule, twin[0])
        if rule is not None:
            place = found.place if twin is None else twin[1]
            known = self.rules.get(rule.check_name)
            self.rules[rule.check_name] = (rule, known[1] if known else place)
            self.declared.setdefault(rule.check_name, found.fields)
        self._take(found, rule)

    def _take(self, found: Taking, rule: Rule | None) -> None:
        entry = found.entry()
        if rule is not None:
            text = str(found.fields.get("expectation", ""))
            entry = replace(entry, becomes=rule.type, name=rule.name, text=text)
        self.entries.append(entry)

    def _rule(self, found: Taking, fields: Mapping[str, Any]) -> Rule | None:
        """The rule; None, and the element is refused, if it is none."""
        reading = Reading(trusted=self.trusted)
        rule = reading.rule(Declaration(fields, found.place))
        if rule is None:
            found.refuse(" ".join(problem.message for problem in reading.problems))
        return rule

    def _beside(self, found: Taking, rule: Rule, twin: Rule) -> Rule | None:
        """What a rule becomes whose name another one has."""
        if rule == twin:
            found.note("Another element says the same.")
            return twin
        together = self._together(found, rule, twin)
        if together is not None:
            return together
        name = unused_name(rule.name, found.kind, self.rules)
        found.note("Another rule of the object has its name.")
        found.fields["name"] = name
        return self._rule(found, found.fields)

    def _together(self, found: Taking, rule: Rule, twin: Rule) -> Rule | None:
        """One rule on the columns of both, where they differ in nothing else."""
        kind = rule_types().get(rule.type)
        before = self.declared.get(twin.check_name, {})
        if kind is None or not issubclass(kind, ColumnRule) or rule.type != twin.type:
            return None
        rest = {key: one for key, one in found.fields.items() if key != "columns"}
        if {key: one for key, one in before.items() if key != "columns"} != rest:
            return None
        columns = list(dict.fromkeys([*before["columns"], *found.fields["columns"]]))
        joined = self._rule(found, {**rest, "columns": columns})
        if joined is not None:
            self.declared[joined.check_name] = {**rest, "columns": columns}
        return joined

    def rule_set(self, sensitive: list[str]) -> RuleSet | None:
        """The rules in the order that the contract notes, or that they stand in."""
        settings = {
            key: one for key, one in self.home.own.items() if key not in {JUDGE_TYPES, ORDER}
        }
        if sensitive and "sensitive" not in settings:
            settings["sensitive"] = sensitive
        order = [check_name(str(one)) for one in self.home.own.get(ORDER) or []]
        names = sorted(self.rules, key=lambda n: order.index(n) if n in order else len(order))
        place = self.home.declared.place
        fields = {"asset": self.asset, "rules": [], **settings}
        reading = Reading(trusted=self.trusted)
        empty = reading.rule_set(Declaration(fields, place))
        if empty is None:
            found = Taking(self.home.name, ENGINE, self.home.name, place)
            reasons = " ".join(problem.message for problem in reading.problems)
            self.entries.append(found.refuse(reasons).entry())
            return None
        try:
            rules = [self.rules[name][0] for name in names]
            known = RuleSet(asset=self.asset, rules=rules, **settings)
        except DeclarationError as error:
            found = Taking(self.home.name, "rules", self.home.name, place)
            reasons = " ".join(problem.message for problem in error.problems)
            self.entries.append(found.refuse(reasons).entry())
            return None
        return known.declared_at(Origin(place, {n: where for n, (_, where) in self.rules.items()}))


def _fields_of(fields: Mapping[str, Any]) -> Collection[str]:
    kind = rule_types().get(str(fields.get("type")))
    return () if kind is None else kind.model_fields


def _documentation(
    declared: Declaration,
    name: str,
    of: str,
    read: tuple[str, ...],
    documentation: tuple[str, ...],
) -> Iterator[MigrationEntry]:
    """One entry for all that is documentation at a place, and one for each unknown key."""
    idle = [
        key
        for key, value in declared.fields.items()
        if key in documentation and key not in _ALWAYS and value not in (None, [], "")
    ]
    if idle:
        found = Taking(name, "fields", of, declared.place, documentation=True)
        found.note(f"{', '.join(idle)}.")
        yield found.entry()
    for key, reason in unknown_keys(declared, read, documentation):
        found = Taking(f"{name}.{key}", key, of, declared.place_of(key))
        yield found.refuse(reason).entry()
