"""The rules of one asset, checked together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.metrics.shape import column_meanings
from dq_dagster.rules.catalogue import parse_rule
from dq_dagster.rules.fields import OnEmpty, RowSql
from dq_dagster.rules.metric_source import MetricSource, parse_metrics
from dq_dagster.rules.problems import problems_of
from dq_dagster.rules.rule import Rule
from dq_dagster.rules.schema_columns import Columns, fields_of
from dq_dagster.rules.vocabulary import Vocabulary


class RuleSet(BaseModel):
    """The rules of one asset, with defaults that its rules take over."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, use_attribute_docstrings=True
    )

    asset: Any
    """The asset: its definition, its key, or its key as text (``warehouse/orders``)."""
    rules: Sequence[Any] = ()
    """What must hold: rule objects, or the same as dicts."""
    metrics: Mapping[str, Any] = {}
    """Metrics that rules call by name: measures such as ``column_avg:amount``, functions, or
    sources such as ``{query: ...}``."""
    on_empty: OnEmpty = "pass"
    """What a rule with nothing to judge counts as, unless it says otherwise itself."""
    empty_includes_blank: bool = False
    """Whether blank strings count as empty, unless a rule says otherwise itself."""
    declared_schema: Columns | None = None
    """The columns that the asset is meant to have, with their types and meanings; by default
    those of the asset's ``dagster/column_schema``."""
    meanings: Mapping[str, Any] = Field(default_factory=dict)
    """Meanings that rules of this set can use by name; each is a ``Meaning`` or the same as a
    dict."""
    column_meanings: Mapping[str, str] = Field(default_factory=dict)
    """By column, the name of the meaning that the asset's schema gives it: what ``from_schema``
    stands for."""
    reader: Any = None
    """Where the checks get the data from; by default the asset's own IO manager."""
    partition_expr: RowSql | Mapping[str, RowSql] | None = None
    """The column or SQL expression that gives a row's partition, by dimension where there are two;
    by default the ``partition_expr`` of the asset's metadata."""
    incremental: bool = False
    """Whether answers on the whole of a partitioned asset are put together from what is on record
    for the partitions that have not been built anew since, so that only the others are read. Data
    that changes without a materialization in Dagster is not noticed."""

    # Hidden from type checkers, so that they see the fields as arguments.
    if not TYPE_CHECKING:

        def __init__(self, **data: Any) -> None:
            try:
                super().__init__(**data)
            except ValidationError as error:
                problems = problems_of(error, type(self), {})
                raise DeclarationError([replace(p, rule=None) for p in problems]) from None

    def model_post_init(self, context: Any, /) -> None:
        name = self.asset_name
        problems: list[Problem] = []
        vocabulary = Vocabulary.read(self.meanings, self.column_meanings, problems)
        vocabulary = vocabulary.beside(self.declared_meanings)
        declared = parse_metrics(self.metrics, problems)
        parsed = in_terms_of(vocabulary, parse_all(self.rules, problems), problems)
        parsed = _each(parsed, declared, problems)
        problems += collisions(parsed)
        if problems:
            raise DeclarationError([replace(p, asset=name) for p in problems])
        self.__dict__["metrics"] = declared
        self.__dict__["rules"] = tuple(
            rule.with_defaults(
                on_empty=self.on_empty,
                empty_includes_blank=self.empty_includes_blank,
                declared_schema=self.declared_schema,
            )
            for rule in parsed
        )

    @property
    def asset_path(self) -> tuple[str, ...]:
        """The parts of the asset's key."""
        return asset_path(self.asset)

    @property
    def asset_name(self) -> str:
        return "/".join(self.asset_path)

    def declaring(self, columns: Columns) -> Self:
        """The same rules for an asset that is meant to have these columns."""
        return type(self)(**{**dict(self), "declared_schema": columns})

    def only(self, check_names: Collection[str]) -> Self:
        """The same with some of the rules, by the names of their checks."""
        kept = tuple(rule for rule in self.rules if rule.check_name in check_names)
        return self.model_copy(update={"rules": kept})

    @property
    def declared_meanings(self) -> dict[str, str]:
        """The meaning of each column that the declared schema gives one."""
        return column_meanings(fields_of(self.declared_schema or ()))

    @property
    def enabled_rules(self) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if rule.enabled)


def _each(
    rules: Iterable[Rule], metrics: Mapping[str, MetricSource], problems: list[Problem]
) -> list[Rule]:
    """The rules with the metrics they name; what can not be found is added to ``problems``."""
    found = []
    for rule in rules:
        try:
            found.append(rule.with_metrics(metrics))
        except DeclarationError as error:
            problems += error.problems
    return found


def parse_all(rules: Iterable[Rule | Mapping[str, Any]], problems: list[Problem]) -> list[Rule]:
    """The rules that could be read; what is wrong with the others is added to ``problems``."""
    parsed = []
    for data in rules:
        try:
            parsed.append(parse_rule(data))
        except DeclarationError as error:
            problems += error.problems
    return parsed


def in_terms_of(
    vocabulary: Vocabulary, rules: Iterable[Rule], problems: list[Problem]
) -> list[Rule]:
    """The rules whose words are known; what is wrong with the others is added to ``problems``."""
    known = []
    for rule in rules:
        try:
            known.append(rule.in_terms_of(vocabulary))
        except DeclarationError as error:
            problems += error.problems
    return known


def collisions(rules: Sequence[Rule]) -> list[Problem]:
    """Rules whose names become the same check."""
    by_name: dict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        for name in check_names(rule):
            by_name[name].append(rule)
    return [
        Problem(
            f"{len(same)} rules become the same check '{name}' "
            f"({', '.join(rule.type for rule in same)}). Give each a 'name' of its own.",
            rule=same[1].name,
        )
        for name, same in by_name.items()
        if len(same) > 1
    ]


def check_names(rule: Rule) -> tuple[str, ...]:
    """The names of the checks a rule can become: for scope both there are two."""
    name = rule.check_name
    return (name, dataset_check_name(rule)) if rule.scope == "both" else (name,)


def dataset_check_name(rule: Rule) -> str:
    """The name of the check of a partitioned asset that judges the whole dataset."""
    return f"{rule.check_name}__dataset" if rule.scope == "both" else rule.check_name


def asset_path(asset: Any) -> tuple[str, ...]:
    """The parts of an asset's key, from anything Dagster people call an asset.

    Duck-typed: this layer knows nothing of Dagster.
    """
    parts: Any = getattr(getattr(asset, "key", asset), "path", None)
    if isinstance(asset, str):
        parts = asset.split("/")
    elif parts is None and isinstance(asset, list | tuple):
        parts = asset
    if not parts or not all(isinstance(part, str) and part for part in parts):
        raise DeclarationError.of(
            f"{asset!r} is not an asset: give its definition, its key, or its key as text."
        )
    return tuple(parts)
