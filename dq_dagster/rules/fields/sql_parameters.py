"""What SQL of authors calls by name: other datasets, columns and typed values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, WithJsonSchema

from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.queries import (
    ColumnParameter,
    Inserted,
    ListParameter,
    Parameter,
    ValueParameter,
)
from dq_dagster.rules.fields.constraints import refuse_vast
from dq_dagster.rules.fields.reference import Reference
from dq_dagster.sql.queries import TABLE, QueryText
from dq_dagster.sql.refusal import Refusal

_SCALARS = (bool, int, float, Decimal, str, date)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOST_VALUES = 1_000


def parameter(written: Any) -> Parameter:
    """A parameter from what its author wrote; raises ValueError if it cannot be one."""
    if isinstance(written, Mapping):
        column = written.get("column")
        if set(written) != {"column"} or not isinstance(column, str) or not column:
            raise ValueError("a value, a list of values, or {column: ...} is needed")
        if "${" in column:
            raise ValueError("Spark replaces '${...}' in names: rename the column")
        return ColumnParameter(column)
    if isinstance(written, Sequence) and not isinstance(written, str | bytes):
        if not 0 < len(written) <= _MOST_VALUES:
            raise ValueError(f"a list has 1 to {_MOST_VALUES:,} values")
        return ListParameter(tuple(map(_value, written)))
    return _value(written)


def _value(written: Any) -> ValueParameter:
    if not isinstance(written, _SCALARS):
        kind = type(written).__name__
        raise ValueError(f"a number, a text, a boolean, a date or a time is needed, not {kind}")  # noqa: TRY004 (pydantic's way)
    if isinstance(written, float | Decimal) and not math.isfinite(written):
        raise ValueError("a finite number is needed")
    refuse_vast(written)
    found = ValueParameter(Constant.of(written))
    found.refuse_misfit()
    return found


def _typed(written: Mapping[str, Any]) -> Mapping[str, Any]:
    _require_names(written)
    for name, one in written.items():
        try:
            parameter(one)
        except ValueError as error:
            raise ValueError(f"parameter '{name}': {error}") from None
    return written


def _named(written: Mapping[str, Reference]) -> Mapping[str, Reference]:
    _require_names(written)
    if "table" in written:
        raise ValueError(f"{TABLE} stands for the rows that are judged: call it otherwise")
    return written


def _require_names(names: Iterable[str]) -> None:
    for name in names:
        if not _NAME.fullmatch(name):
            raise ValueError(f"'{name}' is no name: letters, digits and underscores make one")


_SCALAR_SCHEMA = {"type": ["string", "number", "boolean"]}
Parameters: TypeAlias = Annotated[
    Mapping[str, Any],
    AfterValidator(_typed),
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {
                "anyOf": [
                    _SCALAR_SCHEMA,
                    {"type": "array", "minItems": 1, "items": _SCALAR_SCHEMA},
                    {
                        "type": "object",
                        "properties": {"column": {"type": "string", "minLength": 1}},
                        "required": ["column"],
                        "additionalProperties": False,
                    },
                ]
            },
        }
    ),
]
References: TypeAlias = Annotated[Mapping[str, Reference], AfterValidator(_named)]


def refuse_unknown_names(
    query: QueryText, references: Mapping[str, Any], parameters: Mapping[str, Parameter]
) -> None:
    """Raises ValueError unless the query calls all of these by their names, and nothing else."""
    columns = [n for n, one in parameters.items() if isinstance(one, Inserted)]
    if both := [name for name in columns if name in references]:
        raise ValueError(f"'{both[0]}' is the name of a reference and of a parameter")
    tables = {f"{{{name}}}": "references" for name in references}
    declared = tables | {
        f"{{{name}}}" if name in columns else f":{name}": "parameters" for name in parameters
    }
    reasons = [
        Refusal.unknown_slot(slot, [TABLE, *declared]).reason
        for slot in query.slots
        if slot != TABLE and slot not in declared
    ]
    reasons += [
        f"{slot} of {place} is not used in the expectation."
        for slot, place in declared.items()
        if slot not in query.slots
    ]
    reasons += [
        f":{name} is a list of values, which stands behind IN only: write 'x in :{name}'."
        for name, one in parameters.items()
        if isinstance(one, ListParameter) and not query.is_listed(f":{name}")
    ]
    if reasons:
        raise ValueError(" ".join(reasons))
