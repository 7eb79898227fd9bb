"""The columns of a schema as people declare them, and the way back: a schema as a declaration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import ErrorDetails

from dq_dagster.errors import did_you_mean
from dq_dagster.metrics import schema as shape
from dq_dagster.metrics.schema import ARRAY, ITEMS, KEYS, MAP, STRUCT, VALUES, Shape
from dq_dagster.rules.fields.type_names import Typed, parse_type

ANY_MEANING = "any"
NO_LIMIT = -1
DECLARED: Literal["declared"] = "declared"
_PARTS = {STRUCT: ("fields",), ARRAY: (ITEMS,), MAP: (KEYS, VALUES)}


def _from_name(part: Any) -> Any:
    """A type's name alone stands for a part that is only a type."""
    return {"type": part} if isinstance(part, str) else part


_PartOrName: TypeAlias = Annotated[
    "SchemaPart", BeforeValidator(_from_name, json_schema_input_type="SchemaPart | str")
]


class SchemaPart(BaseModel):
    """A type, and what is demanded of its values."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    type: str
    """A type as Spark writes it, such as ``decimal(10,2)`` or ``array<struct<a:int>>``; or
    ``struct``, ``array`` or ``map`` with its parts beside it."""
    meaning: str | None = None
    """What the values mean; ``any`` or omitted: not checked."""
    max_length: Annotated[int, Field(ge=NO_LIMIT, strict=True)] = NO_LIMIT
    """The most characters that a string may have; -1: no limit."""
    fields: tuple[SchemaColumn, ...] | None = None
    """The fields of a struct."""
    items: _PartOrName | None = None
    """What an array holds."""
    keys: _PartOrName | None = None
    """The keys of a map."""
    values: _PartOrName | None = None
    """The values of a map."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        typed = self.typed()
        if self.max_length != NO_LIMIT and not typed.shape.is_text:
            raise ValueError(f"max_length is for strings, not for {typed.shape}")
        return self

    def typed(self) -> Typed:
        """The type, from its name or from the parts beside it."""
        kind = self.type.strip().lower()
        own = _PARTS.get(kind, ())
        given = [name for names in _PARTS.values() for name in names if self._has(name)]
        strange = [name for name in given if name not in own]
        if strange:
            raise ValueError(f"'{strange[0]}' does not belong to the type '{self.type}'")
        missing = [name for name in own if name not in given]
        if missing:
            raise ValueError(f"the type '{kind}' needs '{missing[0]}', or write {kind}<...>")
        if not own:
            return parse_type(self.type)
        if self.fields is not None:
            _refuse_twins(self.fields)
            return Typed(Shape(kind, tuple(field.field for field in self.fields)))
        return Typed(Shape(kind, tuple(getattr(self, name).named(name) for name in own)))

    def _has(self, part: str) -> bool:
        return getattr(self, part) is not None

    def named(self, name: str) -> shape.Field:
        """The part as plain data, under that name."""
        typed = self.typed()
        meaning = (self.meaning or ANY_MEANING).strip()
        longest = typed.max_length if self.max_length == NO_LIMIT else self.max_length
        known = None if meaning.lower() == ANY_MEANING else meaning
        return shape.Field(name, typed.shape, known, longest)


class SchemaColumn(SchemaPart):
    """A column, or a field of a struct."""

    name: Annotated[str, Field(min_length=1)]
    """The name, in upper and lower case as it is."""

    @property
    def field(self) -> shape.Field:
        return self.named(self.name)


class ForeignColumn(SchemaColumn):
    """A column whose type is of another system, and so the same as no type of Spark."""

    def typed(self) -> Typed:
        return Typed(Shape(self.type))


def _read_columns(value: Any) -> Any:
    """Every column is read, and all that is wrong with them is reported together."""
    if not isinstance(value, list | tuple) or not value:
        raise ValueError("a list of columns is needed, each with a name and a type")
    columns: list[SchemaColumn] = []
    problems: list[str] = []
    for number, data in enumerate(value, 1):
        try:
            columns.append(SchemaColumn.model_validate(data))
        except ValidationError as error:
            problems += _sentences(error, data, number)
    try:
        _refuse_twins(columns)
    except ValueError as error:
        problems.append(str(error))
    if problems:
        raise ValueError("; ".join(problems))
    return tuple(columns)


def _read_expected(value: Any) -> Any:
    if isinstance(value, str):
        if value != DECLARED:
            raise ValueError(f"a list of columns or '{DECLARED}' is needed, not '{value}'")
        return value
    return _read_columns(value)


_Columns: TypeAlias = Sequence[SchemaColumn] | SkipJsonSchema[Sequence[Mapping[str, Any]]]
Columns: TypeAlias = Annotated[_Columns, BeforeValidator(_read_columns)]
ExpectedColumns: TypeAlias = Annotated[
    Literal["declared"] | _Columns, BeforeValidator(_read_expected)
]


def fields_of(columns: Any) -> tuple[shape.Field, ...]:
    """Declared columns as plain data."""
    return tuple(column.field for column in columns)


def declaration(fields: Sequence[shape.Field]) -> list[dict[str, Any]]:
    """A schema as the columns that declare it."""
    return [{"name": field.name, **_part(field)} for field in fields]


def _part(field: shape.Field) -> dict[str, Any]:
    demands: dict[str, Any] = {}
    if field.meaning is not None:
        demands["meaning"] = field.meaning
    if field.max_length is not None:
        demands["max_length"] = field.max_length
    inner = field.shape
    if inner.is_whole:
        return {"type": str(inner), **demands}
    if inner.kind == STRUCT:
        return {"type": STRUCT, **demands, "fields": declaration(inner.parts)}
    return {"type": inner.kind, **demands, **{part.name: _part(part) for part in inner.parts}}


def _refuse_twins(columns: Sequence[SchemaColumn]) -> None:
    names = [column.name for column in columns]
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise ValueError(f"'{twins[0]}' is named twice")


def _sentences(error: ValidationError, data: Any, number: int) -> list[str]:
    """What is wrong with one column, with the dotted name of the part that is wrong."""
    return [
        f"column {_path(data, detail['loc'], number)}: {_sentence(detail)}"
        for detail in error.errors()
    ]


def _sentence(detail: ErrorDetails) -> str:
    field = str(detail["loc"][-1]) if detail["loc"] else ""
    match detail["type"]:
        case "value_error":
            return detail["msg"].removeprefix("Value error, ").removesuffix(".")
        case "missing":
            return f"field '{field}' is missing"
        case "extra_forbidden":
            hint = did_you_mean(field, SchemaColumn.model_fields)
            return f"unknown field '{field}'{hint and f'.{hint}'}"
        case "model_type":
            return "fields such as {name: id, type: int} are needed"
        case _:
            return f"field '{field}': {detail['msg'][:1].lower()}{detail['msg'][1:]}"


def _path(data: Any, location: Sequence[str | int], number: int) -> str:
    names = [_name(data, number)]
    for step in location:
        if isinstance(step, str) and not isinstance(data, Mapping):
            break
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            break
        if isinstance(step, int):
            names.append(_name(data, step + 1))
        elif step in {ITEMS, KEYS, VALUES}:
            names.append(step)
    return f"'{'.'.join(names)}'"


def _name(data: Any, number: int) -> str:
    name = data.get("name") if isinstance(data, Mapping) else None
    return name if isinstance(name, str) and name else f"number {number}"
