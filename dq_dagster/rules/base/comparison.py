"""How rows are compared by their keys, as people write it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    WithJsonSchema,
    model_validator,
)

from dq_dagster.metrics.diffs import Figure, Leeway, RowComparison
from dq_dagster.rules.fields.constraints import ColumnName, ColumnNames, refuse_vast
from dq_dagster.rules.fields.declared import Declared
from dq_dagster.rules.fields.ranges import some_seconds

_NUMBER = {"type": "number", "minimum": 0}


def _figure(value: Any) -> Figure:
    if isinstance(value, timedelta | str):
        try:
            return Decimal(str(some_seconds(value)))
        except ValueError:
            raise ValueError(
                f"a number, or a time such as '5 min', is needed, not {value!r}"
            ) from None
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError(f"a number is needed, not {value!r}")  # noqa: TRY004 (pydantic's way)
    refuse_vast(value)
    if not Decimal(str(value)).is_finite() or value < 0:
        raise ValueError(f"a tolerance is a finite number that is not negative, not {value}")
    return value


def _figures(value: Any) -> Any:
    """One number for all columns of numbers, or one for each column that is named."""
    if isinstance(value, Mapping):
        return {str(name): _figure(one) for name, one in value.items()}
    if isinstance(value, timedelta | str):
        raise ValueError(f"a time is the tolerance of a column: write {{column: {str(value)!r}}}")  # noqa: TRY004
    return _figure(value)


Tolerances: TypeAlias = Annotated[
    Any,
    AfterValidator(_figures),
    WithJsonSchema(
        {
            "anyOf": [
                _NUMBER,
                {
                    "type": "object",
                    "additionalProperties": {"anyOf": [_NUMBER, {"type": "string"}]},
                },
            ]
        }
    ),
]
NameMapping: TypeAlias = Mapping[ColumnName, ColumnName]


def _names(value: Any) -> Any:
    """One name stands for a list of one, true and false for all and none."""
    return (value,) if isinstance(value, str) else value


SomeColumns: TypeAlias = Annotated[bool | tuple[ColumnName, ...], BeforeValidator(_names)]
NoneOrNames: TypeAlias = Annotated[tuple[ColumnName, ...], BeforeValidator(_names)]


class ComparisonFields(BaseModel):
    """The fields of whatever compares rows by their keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    keys: ColumnNames
    """The columns that tell rows apart. If they do not, on either side, that is an Error."""
    columns: ColumnNames | None = None
    """The columns to compare; all that both sides have where omitted."""
    ignore: NoneOrNames = ()
    """Columns that are not compared; only where ``columns`` is omitted."""
    renamed: NameMapping = {}
    """What columns are called on the other side, where that is another name."""
    tolerance: Tolerances = 0
    """By how much numbers may differ: one number for all of them, or one for each column that is
    named. Of columns of times it is a text such as ``5 min``, or a number of seconds."""
    relative_tolerance: Tolerances = 0
    """The same as a share of the larger of the two numbers: ``0.01`` is one in a hundred. Numbers
    are equal if either tolerance says so."""
    ignore_case: SomeColumns = False
    """Whether upper and lower case are the same in texts, also in keys; or the columns where they
    are."""
    ignore_whitespace: SomeColumns = False
    """Whether white space around texts does not matter, and any between words is as good as a
    single blank; or the columns where that is so."""

    @model_validator(mode="after")
    def _says_what_is_compared(self) -> Self:
        if self.columns is not None and self.ignore:
            raise ValueError("'ignore' goes without 'columns': leave out there what is ignored")
        there = [self.renamed.get(key, key) for key in self.keys]
        if len(set(there)) < len(there):
            raise ValueError("'renamed' gives two keys one column of the other side")
        return self

    @property
    def comparison(self) -> RowComparison:
        absolute, relative = _by_column(self.tolerance), _by_column(self.relative_tolerance)
        named = dict.fromkeys([*absolute, *relative])
        return RowComparison(
            tuple(self.keys),
            None if self.columns is None else tuple(self.columns),
            tuple(self.ignore),
            tuple(self.renamed.items()),
            Leeway(_of_all(self.tolerance), _of_all(self.relative_tolerance)),
            tuple((name, Leeway(absolute.get(name), relative.get(name))) for name in named),
            self.ignore_case,
            self.ignore_whitespace,
        )


class DeclaredComparison(ComparisonFields, Declared):
    """How two tables are compared."""


def _by_column(tolerance: Any) -> dict[str, Figure]:
    return dict(tolerance) if isinstance(tolerance, Mapping) else {}


def _of_all(tolerance: Any) -> Figure | None:
    return None if isinstance(tolerance, Mapping) or not tolerance else tolerance
