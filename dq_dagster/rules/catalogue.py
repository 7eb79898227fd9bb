"""All rule types, by the name they have in YAML and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dq_dagster.errors import DeclarationError, Problem, did_you_mean
from dq_dagster.rules import types
from dq_dagster.rules.base.rule import Rule, RuleFamily
from dq_dagster.rules.fields.problems import label_of
from dq_dagster.rules.plugins import plugins, type_name

_FAMILIES = list(RuleFamily)
BUILT_IN: tuple[type[Rule], ...] = tuple(
    sorted(
        (one for one in vars(types).values() if isinstance(one, type) and issubclass(one, Rule)),
        # As they are registered, within their families.
        key=lambda rule: _FAMILIES.index(rule.family),
    )
)
RULE_TYPES: Mapping[str, type[Rule]] = {type_name(rule): rule for rule in BUILT_IN}


def rule_types() -> Mapping[str, type[Rule]]:
    """The built-in types and those of plugins, but for plugins that cannot be used."""
    found = plugins(frozenset(RULE_TYPES))
    return {
        kind: rule
        for kind, rule in {**RULE_TYPES, **found.types}.items()
        if kind not in found.problems
    }


def by_family(known: Mapping[str, type[Rule]] = RULE_TYPES) -> dict[str, list[str]]:
    """The names of types by what they are about, in the order of pages and lists."""
    found: dict[str, list[str]] = {family.value: [] for family in RuleFamily}
    for kind, rule in known.items():
        found[rule.family.value].append(kind)
    return {family: kinds for family, kinds in found.items() if kinds}


def plugin_problems() -> tuple[str, ...]:
    """What is wrong with plugins that are installed here; each is said once."""
    return tuple(dict.fromkeys(plugins(frozenset(RULE_TYPES)).problems.values()))


def parse_rule(data: Rule | Mapping[str, Any]) -> Rule:
    """A rule from its declaration as data; raises DeclarationError with every problem in it."""
    if isinstance(data, Rule):
        return data
    if isinstance(data, type) and issubclass(data, Rule):
        name = data.__name__
        raise DeclarationError.of(f"{name} is a class: write dq.{name}(...) with its fields.")
    if not isinstance(data, Mapping):
        raise DeclarationError.of(f"a rule is fields such as 'type: row_dq', not {data!r}.")
    kind = data.get("type")
    if not isinstance(kind, str):
        # Some write the type as the key of its fields.
        meant = next(
            (f" Write 'type: {key}' beside its fields." for key in data if key in rule_types()), ""
        )
        raise DeclarationError([Problem(f"field 'type' is missing.{meant}", rule=label_of(data))])
    model = rule_types().get(kind)
    if model is None:
        raise DeclarationError([Problem(_unknown(kind), rule=label_of(data))])
    return model(**{str(key): value for key, value in data.items()})


def _unknown(kind: str) -> str:
    """Why there is no such type: its plugin is broken, or nobody has it."""
    problems = plugins(frozenset(RULE_TYPES)).problems
    if kind in problems:
        return problems[kind]
    known = rule_types()
    hint = did_you_mean(kind, known) or f" Known types: {', '.join(known)}."
    return " ".join([f"unknown type '{kind}'.{hint}", *plugin_problems()])
