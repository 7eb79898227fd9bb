"""Options of logical types as rules: lengths, patterns, bounds, items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from dq_dagster.errors import did_you_mean
from dq_dagster.sources.contracts.document import ContractProperty
from dq_dagster.sources.contracts.patterns import pattern_fields
from dq_dagster.sources.contracts.taking import (
    Taking,
    as_number,
    column_sql,
    exactly,
    flag,
    number_text,
)
from dq_dagster.sources.migration import Untranslatable
from dq_dagster.sources.reading import Declaration, plain

# Formats of texts that values can be checked by.
_MEANINGS = {
    "email": "email", "uuid": "uuid", "uri": "url", "url": "url", "ipv4": "ipv4", "ipv6": "ipv6",
    "date": "date", "date-time": "datetime_with_zone",
}  # fmt: skip
_DATES = {"date", "timestamp", "time"}
_NUMBERS = {"integer", "number"}
_TYPE_OPTIONS = ("format", "timezone", "defaultTimezone")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    **dict.fromkeys(_DATES, (*_BOUNDS, "format", "timezone", "defaultTimezone")),
    **dict.fromkeys(_NUMBERS, (*_BOUNDS, "multipleOf", "format")),
    "array": ("minItems", "maxItems", "uniqueItems"),
    "object": ("minProperties", "maxProperties", "required"),
}


def option_rules(one: ContractProperty, of: str, name: str) -> Iterator[Taking]:
    """What becomes of each option, or of each two that are one range; ``name`` is the element's."""
    options = one.given("logicalTypeOptions")
    kind = "logicalTypeOptions"
    if not isinstance(options, Declaration):
        found = Taking(f"{name}.{kind}", kind, of, one.declared.place_of(kind))
        yield found.refuse("'logicalTypeOptions' must be a set of fields.")
        return
    logical = str(one.given("logicalType") or "")
    known = _OPTIONS.get(logical, ())
    given = [key for key, value in options.fields.items() if value is not None]

    def taking(key: str) -> Taking:
        return Taking(f"{name}.{kind}.{key}", f"{kind}.{key}", of, options.place_of(key))

    for key in given:
        if key not in known:
            yield taking(key).refuse(_unknown(key, logical, known))
    for keys, fill in _groups(logical):
        there = [key for key in keys if key in given]
        if not there:
            continue
        found = taking(there[0])
        try:
            fill(found, one, plain(options))
        except Untranslatable as reason:
            found.refuse(reason)
        yield found


def _unknown(key: str, logical: str, known: tuple[str, ...]) -> str:
    if not logical:
        return "options need a 'logicalType' to say what they mean."
    return f"'{logical}' has no option '{key}'.{did_you_mean(key, known)}"


def refuse_nested(one: ContractProperty) -> None:
    """Raises Untranslatable if it is a field within a column."""
    if one.is_nested:
        raise Untranslatable("it is about a field within a column, which rules on columns are not.")


def _lengths(found: Taking, one: ContractProperty, options: Mapping[str, Any]) -> None:
    refuse_nested(one)
    bounds = {
        side: as_number(exactly(options[key]))
        for key, side in (("minLength", "min"), ("maxLength", "max"))
        if options.get(key) is not None
    }
    found.fields |= {"type": "column_value_lengths_in_range", "columns": [one.column], **bounds}


def _pattern(found: Taking, one: ContractProperty, options: Mapping[str, Any]) -> None:
    refuse_nested(one)
    fields = pattern_fields(options["pattern"])
    found.fields |= {"type": "column_values_match", "columns": [one.column], **fields}


def _format(found: Taking, one: ContractProperty, options: Mapping[str, Any]) -> None:
    word = str(options["format"]).lower()
    if word in {"password", "byte", "binary"}:
        found.documentation = True
        found.note(f"'{word}' says nothing of the values.")
        return
    refuse_nested(one)
    if word not in _MEANINGS:
        raise Untranslatable(f"there is no meaning for the format '{word}': give a 'pattern'.")
    found.fields |= {
        "type": "column_valid_meaning",
        "columns": [one.column],
        "meaning": _MEANINGS[word],
        "empty_is_valid": True,
    }
    found.differ("To the standard a format is further context; here values are checked by it.")


def _range(found: Taking, one: ContractProperty, options: Mapping[str, Any]) -> None:
    refuse_nested(one)
    if one.given("logicalType") == "time":
        raise Untranslatable("rules have no bounds for times of day: write a condition in SQL.")
    bounds: dict[str, Any] = {}
    exclusive = []
    for side, key, strict in (
        ("min", "minimum", "exclusiveMinimum"), ("max", "maximum", "exclusiveMaximum"),
    ):  # fmt: skip
        given = [options[name] for name in (key, strict) if options.get(name) is not None]
        if len(given) == 2:
            raise Untranslatable(f"'{key}' and '{strict}' cannot stand together.")
        if given:
            bounds[side] = given[0]
            exclusive += [side] if options.get(strict) is not None else []
    if exclusive:
        bounds["exclusive"] = "both" if len(exclusive) == 2 else exclusive[0]
    found.fields |= {"type": "column_values_in_range", "columns": [one.column], **bounds}


def _multiple(found: Taking, one: ContractProperty, options: Mapping[str, Any]) -> None:
    divisor = number_text(options["multipleOf"])
    if exactly(options["multipleOf"]) <= 0:
        raise Untranslatable("'multipleOf' must be more than 0.")
    found.fields |= {
        "type": "row_dq",
        "name": f"{'_'.join(one.path)}_multiple_of",
        "expectation": f"{column_sql(*one.path)} % {divisor} = 0",
        "null_is": "pass",
    }
    found.note("Of a column of doubles, the rest of a division is that of doubles.")


def _of_type(found: Taking, one: ContractProperty, options: Mapping[str, Any]) -> None:
    found.documentation = True
    found.note("It says how values are stored: of numbers, it chooses the type.")


def _items(found: Taking, one: ContractProperty, options: Mapping[str, Any]) -> None:
    size = f"size({column_sql(*one.path)})"
    limits = [
        f"{size} {sign} {number_text(options[key])}"
        for key, sign in (("minItems", ">="), ("maxItems", "<="))
        if options.get(key) is not None
    ]
    found.fields |= {
        "type": "row_dq",
        "name": f"{'_'.join(one.path)}_items",
        "expectation": f"{column_sql(*one.path)} IS NULL OR ({' AND '.join(limits)})",
    }


def _unique_items(found: Taking, one: ContractProperty, options: Mapping[str, Any]) -> None:
    column = column_sql(*one.path)
    if not flag(options, "uniqueItems"):
        found.documentation = True
        return
    found.fields |= {
        "type": "row_dq",
        "name": f"{'_'.join(one.path)}_unique_items",
        "expectation": f"size(array_distinct({column})) = size({column})",
        "null_is": "pass",
    }


def _of_struct(found: Taking, one: ContractProperty, options: Mapping[str, Any]) -> None:
    raise Untranslatable(
        "a struct has the same fields in every row: say which by its 'properties'."
    )


_Fill: TypeAlias = Callable[[Taking, ContractProperty, Mapping[str, Any]], None]


def _groups(logical: str) -> Iterator[tuple[tuple[str, ...], _Fill]]:
    """The options that are read together, and what reads them."""
    if logical == "string":
        yield ("minLength", "maxLength"), _lengths
        yield ("pattern",), _pattern
        yield ("format",), _format
    elif logical in _NUMBERS | _DATES:
        yield _BOUNDS, _range
        if logical in _NUMBERS:
            yield ("multipleOf",), _multiple
        yield _TYPE_OPTIONS, _of_type
    elif logical == "array":
        yield ("minItems", "maxItems"), _items
        yield ("uniqueItems",), _unique_items
    elif logical == "object":
        yield ("minProperties", "maxProperties", "required"), _of_struct
