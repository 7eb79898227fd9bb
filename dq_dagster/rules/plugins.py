"""Rule types from other packages.

A package adds types by entry points of the group ``dq_dagster.rules``. Each names a subclass of
``dq.Rule``, best under the type's own name, or a function that returns several::

    [project.entry-points."dq_dagster.rules"]
    column_dates_on_weekdays = "dq_weekday_rule:ColumnDatesOnWeekdays"

They are looked for when the first rule is read from data, not on import.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from dq_dagster.judging.wording import presentable
from dq_dagster.rules.base.rule import Rule

GROUP = "dq_dagster.rules"
_OURS = "dq_dagster"


@dataclass(frozen=True, slots=True)
class Plugins:
    """Rule types by name, and what is wrong, by the type or the entry point concerned."""

    types: Mapping[str, type[Rule]]
    problems: Mapping[str, str]


@cache
def plugins(built_in: frozenset[str]) -> Plugins:
    """What the installed packages offer; one that is broken does not harm the others."""
    offers: dict[str, dict[type[Rule], str]] = defaultdict(dict)
    problems: dict[str, str] = {}
    for entry in entry_points(group=GROUP):
        try:
            for rule in _rules(entry):
                offers[type_name(rule)][rule] = _package(entry)
        except Exception as error:  # noqa: BLE001 (a plugin may raise anything while it is loaded)
            reason = presentable(f"{type(error).__name__}: {error}")
            problems[entry.name] = (
                f"The plugin '{entry.value}' of package '{_package(entry)}' cannot be used "
                f"({reason.removesuffix('.')})."
            )
    for kind, rules in offers.items():
        packages = [_OURS] * (kind in built_in) + sorted(rules.values())
        if len(packages) > 1:
            problems[kind] = _clash(kind, packages)
    return Plugins({kind: next(iter(rules)) for kind, rules in offers.items()}, problems)


def type_name(rule: type[Rule]) -> str:
    """The rule's name in YAML and tables."""
    name = rule.model_fields["type"].default
    if not isinstance(name, str):
        raise TypeError(f"{rule.__name__} has no default for its field 'type'")
    return name


def _rules(entry: EntryPoint) -> Iterable[type[Rule]]:
    loaded = entry.load()
    found = [loaded] if isinstance(loaded, type) else list(loaded())
    for rule in found:
        if not isinstance(rule, type) or not issubclass(rule, Rule):
            raise TypeError(f"{rule!r} is not a subclass of dq_dagster.Rule")
    return found


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.module


def _clash(kind: str, packages: list[str]) -> str:
    named = " and ".join(f"'{package}'" for package in packages)
    return f"The type '{kind}' comes from {named}; rename it in one of them, or uninstall that."
