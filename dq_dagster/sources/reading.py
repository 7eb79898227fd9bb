"""The one way from declared fields to rules, whatever they are written in.

A source (YAML, a table of rules, the files of another tool) says which fields there are and where
each of them stands: those are declarations. From there on all of them go the same way: fields are
those of the models, every problem is kept with its place, and what would run code of its author is
refused where the source is not trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dq_dagster.errors import DeclarationError, Problem, did_you_mean
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.catalogue import parse_rule, rule_types
from dq_dagster.rules.fields.metric_source import MetricSource
from dq_dagster.rules.fields.problems import label_of
from dq_dagster.rules.templates.library import LIBRARY
from dq_dagster.rules.templates.template import Template, parse_templates
from dq_dagster.ruleset import Origin, RuleSet, collisions, merged

_FIELDS = tuple(RuleSet.model_fields)
# What a declaration of a rule set gives by itself, and what its reader takes care of.
_APART = {"asset", "rules", "templates"}


@dataclass(frozen=True, slots=True)
class Declaration:
    """Fields as somebody wrote them, with where they stand all together and each by itself.

    A place is what people look up: ``rules.yaml:12``, or ``table 'dq.rules', row 3``. Values may be
    declarations themselves, at any depth.
    """

    fields: Mapping[str, Any]
    place: str
    places: Mapping[str, str] = field(default_factory=dict)

    def place_of(self, name: str | None) -> str:
        """Where that field stands, as far as it is known."""
        return self.places.get(name or "", self.place)


def plain(value: Any) -> Any:
    """The same data without places."""
    if isinstance(value, Declaration):
        return {key: plain(item) for key, item in value.fields.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


@dataclass(frozen=True, slots=True)
class Reading:
    """Declarations become rules and rule sets; what is wrong is kept, each with its place.

    A source that is not ``trusted`` declares no rules that run what their author wrote as it is.
    Of rule sets with problems, ``readable`` has the rules that have none.
    """

    trusted: bool = True
    problems: list[Problem] = field(default_factory=list)
    # Those of libraries, which rules may call by name wherever they stand.
    templates: dict[str, Template] = field(default_factory=dict)
    # Rule sets for assets that have a name, also those with problems.
    readable: list[RuleSet] = field(default_factory=list)

    def rule(self, declared: Declaration) -> Rule | None:
        """The rule that the fields declare; None if there is a problem with it."""
        found = self._rule(declared, declared, self.templates)
        if isinstance(found, Rule):
            return found
        self.problems.extend(found)
        return None

    def rule_set(self, declared: Declaration) -> RuleSet | None:
        """The rule set that the fields declare, whose ``rules`` are a list of declarations."""
        code = [] if self.trusted else _code_of_rule_set(declared)
        found = [*_unknown_fields(declared), *code]
        own = {} if code else read_templates(declared, found)
        rules, homes = self._rules(declared, found, self.templates | own)
        asset = declared.fields.get("asset")
        if not isinstance(asset, str) or not asset:
            found.append(_no_asset(declared))
        if isinstance(reader := declared.fields.get("reader"), str):
            message = f"field 'reader': write {{table: {reader}}} or {{files: {reader}}}."
            found.append(Problem(message, place=declared.place_of("reader")))
        found += collisions(rules, [home.place for home in homes])
        rule_set = None if code else _built(declared, rules, homes, own, found)
        if rule_set is not None and asset:
            self.readable.append(rule_set)
        named = asset if isinstance(asset, str) else None
        self.problems.extend(replace(problem, asset=named) for problem in found)
        return None if found else rule_set

    def library(self, declared: Declaration) -> None:
        """Takes over the templates that the fields declare, for all rules that are read later."""
        code = [] if self.trusted else _code_of_rule_set(declared)
        found = [] if code else list(_beside_templates(declared))
        own = {} if code else read_templates(declared, found)
        found += [
            Problem(f"template '{name}' is declared twice.", place=_placed(declared, name))
            for name in own
            if name in self.templates
        ]
        self.templates.update(own)
        self.problems.extend([*code, *found])

    def finished(self, rule_sets: Iterable[RuleSet]) -> list[RuleSet]:
        """One rule set an asset; raises DeclarationError with every problem that was found."""
        try:
            every = merged(list(rule_sets))
        except DeclarationError as error:
            raise DeclarationError([*self.problems, *error.problems]) from None
        if self.problems:
            raise DeclarationError(self.problems)
        return every

    def _rules(
        self,
        declared: Declaration,
        problems: list[Problem],
        templates: Mapping[str, Template],
    ) -> tuple[list[Rule], list[Declaration]]:
        """The rules that could be read, and where each of them stands."""
        entries = declared.fields.get("rules")
        if not isinstance(entries, list):
            message = "field 'rules' must be a list of rules."
            problems.append(Problem(message, place=declared.place_of("rules")))
            return [], []
        rules: list[Rule] = []
        homes: list[Declaration] = []
        for entry in entries:
            home = entry if isinstance(entry, Declaration) else declared
            found = self._rule(entry, home, templates)
            if isinstance(found, Rule):
                rules.append(found)
                homes.append(home)
            else:
                problems += found
        return rules, homes

    def _rule(
        self, entry: Any, home: Declaration, templates: Mapping[str, Template]
    ) -> Rule | list[Problem]:
        fields = plain(entry)
        if not self.trusted and isinstance(fields, Mapping):
            # Before anything is made of the fields: a function is imported to be checked.
            code = _code_of_rule(fields)
            if code is not None:
                return [Problem(code, rule=label_of(fields), place=home.place)]
        try:
            return parse_rule(fields).with_templates(templates)
        except DeclarationError as error:
            return [replace(p, place=home.place_of(p.field)) for p in error.problems]


def _built(
    declared: Declaration,
    rules: Sequence[Rule],
    homes: Sequence[Declaration],
    templates: Mapping[str, Template],
    problems: list[Problem],
) -> RuleSet | None:
    # Each check once: what else is wrong is to be found as well.
    first = {rule.check_name: rule for rule in reversed(rules)}
    settings = {
        key: plain(value)
        for key, value in declared.fields.items()
        if key in _FIELDS and key not in _APART
    }
    if templates:
        settings["templates"] = templates
    asset = declared.fields.get("asset") or "?"
    try:
        rule_set = RuleSet(asset=asset, rules=tuple(reversed(first.values())), **settings)
    except DeclarationError as error:
        by_name = {rule.name: home for rule, home in zip(rules, homes, strict=True)}
        problems += [
            replace(p, place=by_name.get(p.rule or "", declared).place_of(p.field))
            for p in error.problems
        ]
        return None
    stands = {rule.check_name: home.place for rule, home in zip(rules, homes, strict=True)}
    return rule_set.declared_at(Origin(declared.place, stands))


def read_templates(declared: Declaration, problems: list[Problem]) -> dict[str, Template]:
    """The templates of the field of that name; what is wrong is added to ``problems``."""
    written = declared.fields.get("templates", Declaration({}, declared.place))
    if not isinstance(written, Declaration):
        message = "field 'templates' must be templates by name, such as 'name: {sql: ...}'."
        problems.append(Problem(message, place=declared.place_of("templates")))
        return {}
    found: dict[str, Template] = {}
    for name, one in written.fields.items():
        home = one if isinstance(one, Declaration) else Declaration({}, written.place_of(name))
        wrong: list[Problem] = []
        if name in LIBRARY:
            wrong.append(Problem(f"template '{name}' is a built-in one: call yours otherwise."))
        found |= parse_templates({name: plain(one)}, wrong)
        problems += [replace(p, place=home.place_of(p.field), field=None) for p in wrong]
    return found


def _placed(declared: Declaration, name: str) -> str:
    written = declared.fields.get("templates")
    return written.place_of(name) if isinstance(written, Declaration) else declared.place


def _beside_templates(declared: Declaration) -> list[Problem]:
    return [
        Problem(
            f"field '{key}': beside 'templates' alone nothing can stand; rules need "
            "'asset: ...', too.",
            place=declared.place_of(key),
        )
        for key in declared.fields
        if key != "templates"
    ]


def _no_asset(declared: Declaration) -> Problem:
    needed = "must be the asset's key as text" if "asset" in declared.fields else "is missing"
    message = f"field 'asset' {needed}, such as 'asset: warehouse/orders'."
    return Problem(message, place=declared.place)


def _unknown_fields(declared: Declaration) -> list[Problem]:
    return [
        Problem(
            f"unknown field '{key}'.{did_you_mean(key, _FIELDS)}",
            place=declared.place_of(key),
            field=key,
        )
        for key in declared.fields
        if key not in _FIELDS
    ]


_UNTRUSTED = (
    "and this source is not trusted with that: declare it in Python or in a file, or load it with "
    "trusted=True."
)


def _code_of_rule(fields: Mapping[str, Any]) -> str | None:
    """Why a rule is refused where the source is not trusted; None if it runs no code."""
    model = rule_types().get(str(fields.get("type")))
    code = None if model is None else model.code_in(fields)
    return None if code is None else f"it has {code}, {_UNTRUSTED}"


def _code_of_rule_set(declared: Declaration) -> list[Problem]:
    metrics = plain(declared.fields.get("metrics"))
    sources = metrics.values() if isinstance(metrics, Mapping) else ()
    found = {"metrics": next(filter(None, map(MetricSource.code_in, sources)), None)}
    if declared.fields.get("reader") is not None:
        found["reader"] = "data of its author's choice"
    if declared.fields.get("templates") is not None:
        found["templates"] = "queries"
    return [
        Problem(f"field '{name}': it has {code}, {_UNTRUSTED}", place=declared.place_of(name))
        for name, code in found.items()
        if code is not None
    ]
