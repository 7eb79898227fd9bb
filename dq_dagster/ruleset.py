"""The rules of one asset, checked together."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.metrics.schema import column_meanings
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.catalogue import parse_rule
from dq_dagster.rules.fields.constraints import OnEmpty, RowSql, Words
from dq_dagster.rules.fields.declared import AnyReader
from dq_dagster.rules.fields.meaning import Vocabulary
from dq_dagster.rules.fields.metric_source import parse_metrics
from dq_dagster.rules.fields.problems import problems_of
from dq_dagster.rules.fields.ranges import Window
from dq_dagster.rules.fields.schema_columns import Columns, fields_of
from dq_dagster.rules.templates.template import parse_templates


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where a rule set and its rules, by their checks' names, were declared.

    It makes no difference: rule sets that say the same are equal wherever they stand.
    """

    place: str = "Python"
    rules: Mapping[str, str] = field(default_factory=dict)

    def of(self, rule: Rule) -> str:
        return self.rules.get(rule.check_name, self.place)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origin)

    def __hash__(self) -> int:
        return 0


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
    templates: Mapping[str, Any] = {}
    """Templates that rules call by name, beside the built-in ones; each is a ``Template`` or the
    same as a dict."""
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
    reader: AnyReader = None
    """Where the checks get the data from; by default the asset's own IO manager. In YAML
    ``{table: ...}`` or ``{files: ..., format: ...}``."""
    partition_expr: RowSql | Mapping[str, RowSql] | None = None
    """The column or SQL expression that gives a row's partition, by dimension where there are two;
    by default the ``partition_expr`` of the asset's metadata."""
    incremental: bool = False
    """Whether answers on the whole of a partitioned asset are put together from what is on record
    for the partitions that have not been built anew since, so that only the others are read. Data
    that changes without a materialization in Dagster is not noticed."""
    timeout: Window | None = None
    """How long an evaluation of all the rules may take: ``10 min``, ``PT10M``, or a number of
    seconds. What has no answer by then is an Error; the answers that are there stay."""
    samples: Words = ()
    """Columns whose values Dagster's results may show: of a rule that fails and is about these
    columns alone, up to five of the values that broke it."""
    sensitive: Words = ()
    """Columns whose values are masked wherever values are shown; so are those that the asset's
    ``dagster/column_schema`` tags with ``dq/sensitive``."""

    _origin: Origin = PrivateAttr(default=Origin())

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
        templates = parse_templates(self.templates, problems)
        parsed = in_terms_of(vocabulary, parse_all(self.rules, problems), problems)
        parsed = _each(parsed, lambda rule: rule.with_metrics(declared), problems)
        parsed = _each(parsed, lambda rule: rule.with_templates(templates), problems)
        problems += collisions(parsed)
        if problems:
            raise DeclarationError([replace(p, asset=name) for p in problems])
        self.__dict__["metrics"] = declared
        self.__dict__["templates"] = templates
        self.__dict__["rules"] = tuple(
            rule.with_defaults(
                on_empty=self.on_empty,
                empty_includes_blank=self.empty_includes_blank,
                declared_schema=self.declared_schema,
            )
            for rule in parsed
        )

    @property
    def origin(self) -> Origin:
        return self._origin

    def declared_at(self, origin: Origin) -> Self:
        """The same, known to stand there."""
        placed = self.model_copy()
        placed._origin = origin  # noqa: SLF001 (a copy of itself)
        return placed

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

    @property
    def declared_meanings(self) -> dict[str, str]:
        """The meaning of each column that the declared schema gives one."""
        return column_meanings(fields_of(self.declared_schema or ()))

    @property
    def enabled_rules(self) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if rule.enabled)


def bind(rules: Iterable[Any], *, assets: Iterable[Any], **settings: Any) -> list[RuleSet]:
    """The same rules for several assets: one rule set an asset.

    All other arguments are those of ``dq.RuleSet``.
    """
    if isinstance(assets, str) or not isinstance(assets, Iterable):
        raise DeclarationError.of(f"assets= takes a list of assets, not {assets!r}.")
    shared = tuple(rules.rules if isinstance(rules, RuleSet) else rules)
    return [RuleSet(asset=asset, rules=shared, **settings) for asset in assets]


_NO_ASSET = "data"


def fingerprint(rule_set: RuleSet) -> str:
    """A short text that is another one as soon as any rule says something else."""
    rules = [rule.model_dump() for rule in rule_set.rules]
    text = json.dumps(rules, sort_keys=True, default=_named)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _named(value: Any) -> str:
    """A function by its name: where it lies in memory does not matter."""
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return str(value)


def as_rule_set(rules: Any) -> RuleSet:
    """The rule set that was given, or one of the given rules; refuses what is neither."""
    if isinstance(rules, RuleSet):
        return rules
    if isinstance(rules, Rule | Mapping):
        # As a sequence it would fall into its fields, each of which is no rule.
        raise DeclarationError.of("a list of rules is needed: put the rule between [ and ].")
    if isinstance(rules, str | PurePath):
        raise DeclarationError.of(
            "a list of rules is needed, not the name of a file: take one of the rule sets that "
            "dq.load_rules(...) reads."
        )
    if not isinstance(rules, Iterable) or hasattr(rules, "columns"):
        kind = type(rules).__name__
        raise DeclarationError.of(f"the data comes first, then a list of rules, not a {kind}.")
    return RuleSet(asset=_NO_ASSET, rules=tuple(rules))


def _each(
    rules: Iterable[Rule], filled: Callable[[Rule], Rule], problems: list[Problem]
) -> list[Rule]:
    """The rules with what they call by name; what cannot be found is added to ``problems``."""
    found = []
    for rule in rules:
        try:
            found.append(filled(rule))
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


def collisions(rules: Sequence[Rule], places: Sequence[str] = ()) -> list[Problem]:
    """Rules whose names become the same check; ``places`` are where they stand, if known."""
    by_name: dict[str, list[tuple[Rule, str]]] = defaultdict(list)
    for rule, place in zip(rules, places or [""] * len(rules), strict=True):
        for name in check_names(rule):
            by_name[name].append((rule, place))
    return [
        Problem(
            f"{len(same)} rules become the same check '{name}' "
            f"({', '.join(_placed(rule, place) for rule, place in same)}). Give each a 'name' of "
            "its own.",
            rule=same[1][0].name,
            place=None if same[1][1] in {"", Origin().place} else same[1][1],
        )
        for name, same in by_name.items()
        if len(same) > 1
    ]


def _placed(rule: Rule, place: str) -> str:
    return (
        f"{rule.type} {'in' if place == Origin().place else 'at'} {place}" if place else rule.type
    )


def check_names(rule: Rule) -> tuple[str, ...]:
    """The names of the checks a rule can become: for scope both there are two."""
    name = rule.check_name
    return (name, dataset_check_name(rule)) if rule.scope == "both" else (name,)


#: What the name of a check of the whole dataset ends in, where there is one of partitions too.
DATASET_CHECK = "__dataset"


def dataset_check_name(rule: Rule) -> str:
    """The name of the check of a partitioned asset that judges the whole dataset."""
    return f"{rule.check_name}{DATASET_CHECK}" if rule.scope == "both" else rule.check_name


# What a rule set says for its own rules only, which have it already.
_DEFAULTS_OF_RULES = {"on_empty", "empty_includes_blank"}
# What a rule set names; several may each name some.
_NAMES = {
    "metrics": "metric",
    "templates": "template",
    "meanings": "meaning",
    "column_meanings": "the meaning of column",
}


def merged(rule_sets: Sequence[RuleSet]) -> list[RuleSet]:
    """One rule set an asset, in the order of their assets.

    Rules keep the defaults of the set they stand in. What holds for the whole asset must be said
    once, or alike; only rules of the same name clash.
    """
    by_asset: dict[tuple[str, ...], list[RuleSet]] = defaultdict(list)
    for rule_set in rule_sets:
        by_asset[rule_set.asset_path].append(rule_set)
    problems: list[Problem] = []
    found = [_merged(sets, problems) for sets in by_asset.values()]
    if problems:
        raise DeclarationError(problems)
    return found


def _merged(sets: Sequence[RuleSet], problems: list[Problem]) -> RuleSet:
    """The sets of one asset as one; what does not go together is added to ``problems``."""
    if len(sets) == 1:
        return sets[0]
    placed = [(rule, one.origin.of(rule)) for one in sets for rule in one.rules]
    found = collisions([rule for rule, _ in placed], [place for _, place in placed])
    fields: dict[str, Any] = {"asset": _definition_among([one.asset for one in sets])}
    for name in RuleSet.model_fields:
        given = [one for one in sets if name in one.model_fields_set]
        if given and name not in {"asset", "rules", *_DEFAULTS_OF_RULES}:
            fields[name] = (_united if name in _NAMES else _agreed)(name, given, found)
    problems += [replace(problem, asset=sets[0].asset_name) for problem in found]
    if found:
        return sets[0]
    origin = Origin(
        " and ".join(dict.fromkeys(one.origin.place for one in sets)),
        {rule.check_name: place for rule, place in placed},
    )
    return RuleSet(**fields, rules=tuple(rule for rule, _ in placed)).declared_at(origin)


def _definition_among(assets: Sequence[Any]) -> Any:
    """The asset's definition where one of the sets has it, rather than its mere key."""
    return next((asset for asset in assets if hasattr(asset, "key")), assets[0])


def _agreed(name: str, sets: Sequence[RuleSet], problems: list[Problem]) -> Any:
    first, *others = sets
    agreed = getattr(first, name)
    problems += [
        _disagreement(f"field '{name}'", first, other)
        for other in others
        if getattr(other, name) != agreed
    ]
    return agreed


def _united(name: str, sets: Sequence[RuleSet], problems: list[Problem]) -> dict[str, Any]:
    united: dict[str, Any] = {}
    homes: dict[str, RuleSet] = {}
    for one in sets:
        for key, value in getattr(one, name).items():
            if key in united and united[key] != value:
                problems.append(_disagreement(f"{_NAMES[name]} '{key}'", homes[key], one))
            united.setdefault(key, value)
            homes.setdefault(key, one)
    return united


def _disagreement(what: str, first: RuleSet, other: RuleSet) -> Problem:
    places = " and ".join(f"({one.origin.place})" for one in (first, other))
    message = f"two rule sets of the asset {places} say different things of {what}: say it once."
    place = None if other.origin.place == Origin().place else other.origin.place
    return Problem(message, place=place)


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
