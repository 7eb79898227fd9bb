"""The types of a contract's columns: as a schema where they are Spark's, else by their kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dq_dagster.errors import did_you_mean
from dq_dagster.rules.fields.type_names import parse_type
from dq_dagster.sources.contracts.document import ContractObject, ContractProperty
from dq_dagster.sources.contracts.taking import Taking, column_sql
from dq_dagster.sources.migration import Untranslatable
from dq_dagster.sources.reading import Declaration, plain

_WHOLE = "'tinyint', 'smallint', 'int', 'bigint'"
# What 'typeof' says of a column of that logical type, as a condition that is false for others.
_KINDS: Mapping[str, str] = {
    "integer": f"NOT IN ({_WHOLE})",
    "number": f"NOT IN ({_WHOLE}, 'float', 'double') AND {{kind}} NOT LIKE 'decimal(%'",
    "timestamp": "NOT IN ('timestamp', 'timestamp_ntz')",
    "time": "NOT LIKE 'time(%'",
    "array": "NOT LIKE 'array<%'",
    "object": "NOT LIKE 'struct<%'",
    "map": "NOT LIKE 'map<%'",
}
_EXACT = {"string": "string", "boolean": "boolean", "date": "date"}
# Of numbers, by their 'format'.
_FORMATS = {
    "i8": "tinyint", "i16": "smallint", "i32": "int", "i64": "bigint", "f32": "float",
    "f64": "double",
}  # fmt: skip
LOGICAL = (*_EXACT, *_KINDS)
#: The logical type of a Spark type, by its first word.
LOGICAL_OF = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "integer"),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), "timestamp"),
    "string": "string", "boolean": "boolean", "date": "date", "time": "time", "array": "array",
    "struct": "object",
}  # fmt: skip


@dataclass(slots=True)
class ColumnTypes:
    """The types of an object's columns, gathered into one schema and one condition a kind."""

    home: ContractObject
    entries: list[Taking] = field(default_factory=list)
    schema: list[dict[str, Any]] = field(default_factory=list)
    kinds: dict[str, list[str]] = field(default_factory=dict)

    def takings(self) -> Iterator[Taking]:
        """The rules first, then an entry for each column, which is part of one of them."""
        for one in self.home.properties:
            if one.given("physicalType") is not None or one.given("logicalType") is not None:
                self._take(one)
        if self.schema:
            yield self._rule("schema", {"type": "schema_contains", "expected": self.schema})
        for logical, columns in self.kinds.items():
            wrong = [_of_other_kind(column, _KINDS[logical]) for column in columns]
            yield self._rule(
                f"types.{logical}",
                {
                    "type": "agg_dq",
                    "name": f"{logical}_columns",
                    "expectation": " AND ".join(f"count_if({one}) = 0" for one in wrong),
                    "quality_dimension": "consistency",
                },
            )
        yield from self.entries

    def _rule(self, kind: str, fields: dict[str, Any]) -> Taking:
        place = self.home.declared.place_of("properties")
        return Taking(f"{self.home.name}.{kind}", kind, self.home.name, place, fields)

    def _take(self, one: ContractProperty) -> None:
        key = "physicalType" if one.given("physicalType") is not None else "logicalType"
        name = f"{self.home.name}.{one.column}.{key}"
        found = Taking(name, key, self.home.name, one.declared.place_of(key))
        try:
            self._typed(one, found)
        except Untranslatable as reason:
            found.refuse(reason)
        self.entries.append(found)

    def _typed(self, one: ContractProperty, found: Taking) -> None:
        part, problem = _part(one.declared, one.parts), ""
        if part is None:
            physical = one.given("physicalType")
            if physical is not None:
                problem = f"'{physical}' is no type of Spark's"
            part = _logical_part(one)
        if part is not None:
            self.schema.append({"name": one.column, **part})
            found.part_of = "schema_contains"
        else:
            logical = str(one.given("logicalType") or "")
            if logical not in _KINDS:
                reason = problem or f"there is no logicalType '{logical}'"
                raise Untranslatable(f"{reason}.{did_you_mean(logical, LOGICAL)}")
            self.kinds.setdefault(logical, []).append(one.column)
            found.part_of = "agg_dq"
        if problem:
            found.differ(f"{problem}: the logicalType is checked instead.")


def _part(declared: Declaration, parts: tuple[ContractProperty, ...]) -> dict[str, Any] | None:
    """The type and its parts, where all of it is Spark's; None if not."""
    physical = declared.fields.get("physicalType")
    text = str(physical).strip().lower() if physical is not None else ""
    logical = declared.fields.get("logicalType")
    if parts and (text in {"", "struct", "object", "record"}) and logical in {None, "object"}:
        fields = [(one.path[-1], _known(one.declared, one.parts)) for one in parts]
        if any(known is None for _, known in fields):
            return None
        return {
            "type": "struct",
            "fields": [{"name": name, **(known or {})} for name, known in fields],
        }
    items = declared.fields.get("items")
    if isinstance(items, Declaration) and text in {"", "array"}:
        inner = _known(items, ())
        return None if inner is None else {"type": "array", "items": inner}
    return {"type": str(physical)} if text and _is_type(text) else None


def _known(declared: Declaration, parts: tuple[ContractProperty, ...]) -> dict[str, Any] | None:
    return _part(declared, parts) or _by_logical(plain(declared))


def _logical_part(one: ContractProperty) -> dict[str, Any] | None:
    return _by_logical(plain(one.declared))


def _by_logical(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    logical = fields.get("logicalType")
    if logical in _EXACT:
        return {"type": _EXACT[str(logical)]}
    options = fields.get("logicalTypeOptions")
    form = options.get("format") if isinstance(options, Mapping) else None
    if logical in {"integer", "number"} and form in _FORMATS:
        return {"type": _FORMATS[form]}
    return None


def _is_type(text: str) -> bool:
    try:
        parse_type(text)
    except ValueError:
        return False
    return True


def _of_other_kind(column: str, condition: str) -> str:
    kind = f"typeof({column_sql(column)})"
    return f"{kind} {condition.format(kind=kind)}"
