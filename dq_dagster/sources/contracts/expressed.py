"""Rules in the words of the standard, where it has some; what it lacks stays as it is.

An expression is only a proposal: whether it means the rule is found by reading it back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dq_dagster.rules.base.rule import Rule, derived_name
from dq_dagster.rules.fields.threshold import ALL
from dq_dagster.sources.contracts.demands import operators_of
from dq_dagster.sources.contracts.document import ENGINE
from dq_dagster.sources.contracts.patterns import pattern_text
from dq_dagster.sources.contracts.service_levels import written_length
from dq_dagster.sources.contracts.taking import as_number, exactly
from dq_dagster.sources.contracts.types import LOGICAL_OF

# Fields that say who is asked and what becomes of a failure, but not what must hold: they go
# along as a custom property, which others may ignore.
_ALONGSIDE = (
    "run", "blocking", "scope", "action_if_failed", "on", "dimensions", "top_dimensions",
    "on_empty", "owners",
)  # fmt: skip
_SHARED = {"type", "name", "description", "quality_dimension", "tags", *_ALONGSIDE}
_DIMENSIONS = {"validity": "conformity"}
# What these say has no name in a contract.
_NAMELESS = {"freshness", "row_inserted_count_in_range", "schema_contains"}


@dataclass(slots=True)
class Expressed:
    """What a rule says in a contract: at columns, at the table, or as a service level."""

    at_columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    at_table: dict[str, Any] | None = None
    service_levels: list[dict[str, Any]] = field(default_factory=list)
    # The columns with their types, as the schema has them.
    schema: list[dict[str, Any]] = field(default_factory=list)


def expressed(rule: Rule, written: Mapping[str, Any], table: str) -> Expressed | None:
    """A proposal for a rule; None if the standard has no words for it.

    ``written`` are the fields that declare it, ``table`` is what the contract calls its table.
    """
    own = {key: one for key, one in written.items() if key not in _SHARED}
    express = _EXPRESSIONS.get(rule.type)
    if express is None or not rule.enabled:
        return None
    if rule.type in _NAMELESS and rule.name != derived_name(rule.type, *columns_of(rule)):
        return None
    return express(rule, own, _shared(rule, written), table)


def custom(rule: Rule, written: Mapping[str, Any]) -> dict[str, Any]:
    """The rule as it is, for this library alone."""
    shown = {"description": rule.description or rule.demand()}
    return {
        "name": rule.name,
        "type": "custom",
        **shown,
        "dimension": _DIMENSIONS.get(rule.quality_dimension, rule.quality_dimension),
        "engine": ENGINE,
        "implementation": dict(written),
    }


def _shared(rule: Rule, written: Mapping[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": rule.name}
    if rule.description:
        entry["description"] = rule.description
    entry["dimension"] = _DIMENSIONS.get(rule.quality_dimension, rule.quality_dimension)
    if rule.tags:
        entry["tags"] = list(rule.tags)
    alongside = {key: written[key] for key in _ALONGSIDE if key in written}
    if alongside:
        entry["customProperties"] = [{"property": ENGINE, "value": alongside}]
    return entry


_Express = Callable[[Any, Mapping[str, Any], dict[str, Any], str], Expressed | None]


def _limit(threshold: Any) -> dict[str, Any] | None:
    """The operator that a threshold on bad rows means; None if it is another one."""
    if threshold in (None, ALL):
        return {"mustBe": 0}
    if not isinstance(threshold, Mapping) or not set(threshold) <= {"type", "max", "soft_max"}:
        return None
    given = [threshold[key] for key in ("max", "soft_max") if threshold.get(key) is not None]
    if len(given) != 1:
        return None
    percent = threshold.get("type") == "proportion"
    bound = as_number(exactly(given[0]) * 100) if percent else given[0]
    limit = {"mustBeLessOrEqualTo": bound, **({"unit": "percent"} if percent else {})}
    return limit if "max" in threshold else {**limit, "severity": "warning"}


def _counting(metric: str, *known: str) -> Callable[..., Expressed | None]:
    """A rule on values of columns that the library counts."""

    def express(
        rule: Any, own: Mapping[str, Any], shared: dict[str, Any], table: str
    ) -> Expressed | None:
        limit = _limit(own.get("threshold"))
        if limit is None or not set(own) <= {"columns", "threshold", *known}:
            return None
        arguments = _ARGUMENTS[rule.type](own) if rule.type in _ARGUMENTS else {}
        entry = {**shared, "metric": metric, **arguments, **limit}
        return Expressed(dict.fromkeys(rule.columns, entry))

    return express


def _set_arguments(own: Mapping[str, Any]) -> dict[str, Any]:
    return {"arguments": {"validValues": list(own["values"])}}


def _pattern_arguments(own: Mapping[str, Any]) -> dict[str, Any]:
    whole = own.get("match", "full") == "full"
    return {"arguments": {"pattern": pattern_text(own["pattern"], whole=whole)}}


_ARGUMENTS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "column_values_in_set": _set_arguments,
    "column_values_match": _pattern_arguments,
}


def _unique_key(
    rule: Any, own: Mapping[str, Any], shared: dict[str, Any], table: str
) -> Expressed | None:
    limit = _limit(own.get("threshold"))
    if limit is None or not set(own) <= {"columns", "threshold"}:
        return None
    arguments = {"arguments": {"properties": list(rule.columns)}}
    entry = {**shared, "metric": "duplicateValues", **arguments, **limit}
    return Expressed(at_table=entry)


def _row_count(
    rule: Any, own: Mapping[str, Any], shared: dict[str, Any], table: str
) -> Expressed | None:
    operators = _of_bounds(own, whole=True)
    if operators is None:
        return None
    return Expressed(at_table={**shared, "metric": "rowCount", **operators})


def _of_bounds(own: Mapping[str, Any], *, whole: bool) -> dict[str, Any] | None:
    names = set(own)
    if names <= {"min", "max", "exclusive"}:
        return operators_of(own, whole=whole)
    if names <= {"soft_min", "soft_max"}:
        hard = {key.removeprefix("soft_"): one for key, one in own.items()}
        operators = operators_of(hard, whole=whole)
        return None if operators is None else {**operators, "severity": "warning"}
    return None


def _freshness(
    rule: Any, own: Mapping[str, Any], shared: dict[str, Any], table: str
) -> Expressed | None:
    if set(own) != {"columns", "max"} or len(rule.columns) != 1:
        return None
    value, unit = written_length(own["max"])
    return _service_level("latency", value, unit, shared, f"{table}.{rule.columns[0]}")


def _inserted(
    rule: Any, own: Mapping[str, Any], shared: dict[str, Any], table: str
) -> Expressed | None:
    if set(own) != {"columns", "window", "min"} or len(rule.columns) != 1 or own["min"] != 1:
        return None
    value, unit = written_length(own["window"])
    return _service_level("frequency", value, unit, shared, f"{table}.{rule.columns[0]}")


def _service_level(
    name: str, value: Any, unit: str, shared: dict[str, Any], element: str
) -> Expressed:
    level = {"property": name, "value": value, "unit": unit, "element": element}
    if "description" in shared:
        level["description"] = shared["description"]
    return Expressed(service_levels=[level])


def _schema(
    rule: Any, own: Mapping[str, Any], shared: dict[str, Any], table: str
) -> Expressed | None:
    columns = own.get("expected")
    if set(own) != {"expected"} or not isinstance(columns, list):
        return None
    return Expressed(schema=[typed_property(one) for one in columns])


_EXPRESSIONS: Mapping[str, _Express] = {
    "column_not_empty": _counting("nullValues"),
    "column_unique": _counting("duplicateValues"),
    "column_values_in_set": _counting("invalidValues", "values"),
    "column_values_match": _counting("invalidValues", "pattern", "match"),
    "unique_key": _unique_key,
    "record_count_in_range": _row_count,
    "freshness": _freshness,
    "row_inserted_count_in_range": _inserted,
    "schema_contains": _schema,
}


def typed_property(column: Mapping[str, Any]) -> dict[str, Any]:
    """A column of a schema as a property of a contract."""
    found: dict[str, Any] = {"name": column["name"]} if "name" in column else {}
    kind = str(column["type"])
    word = kind.lower().partition("(")[0].partition("<")[0].strip()
    logical = LOGICAL_OF.get(_STRINGS.get(word, word))
    if logical is not None:
        found["logicalType"] = logical
    if not {"fields", "items"} & set(column):
        found["physicalType"] = kind
    if "fields" in column:
        found["properties"] = [typed_property(one) for one in column["fields"]]
    items = column.get("items")
    if items is not None:
        found["items"] = typed_property({"type": items} if isinstance(items, str) else items)
    return found


_STRINGS = {
    "varchar": "string", "char": "string", "character": "string", "integer": "int",
    "long": "bigint", "short": "smallint", "byte": "tinyint", "real": "float", "dec": "decimal",
    "numeric": "decimal", "timestamp_ltz": "timestamp",
}  # fmt: skip


def columns_of(rule: Rule) -> Iterator[str]:
    """The columns that a rule names."""
    columns = getattr(rule, "columns", ())
    yield from columns if isinstance(columns, tuple) else ()
