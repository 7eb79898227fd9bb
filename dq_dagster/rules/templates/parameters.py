"""The parameters of templates: what they are declared to be, and values that fit.

A value never becomes SQL. Columns are quoted, other values are bound or written as literals, other
datasets are frames, and a condition is an expression that the grammar of rows has accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from dq_dagster.errors import DeclarationError
from dq_dagster.metrics.queries import (
    ColumnParameter,
    ColumnsParameter,
    ConditionParameter,
    Parameter,
)
from dq_dagster.rules.fields.constraints import ColumnNames, Number, row_sql
from dq_dagster.rules.fields.declared import Declared
from dq_dagster.rules.fields.problems import in_plain_words
from dq_dagster.rules.fields.reference import Reference
from dq_dagster.rules.fields.regex import require_java_syntax, whole
from dq_dagster.rules.fields.sql_parameters import parameter

ParameterKind: TypeAlias = Literal[
    "column", "columns", "condition", "dataset", "boolean", "date", "number", "pattern", "text",
    "time", "values",
]  # fmt: skip
# These stand in the text as {name}; all others are values, and stand there as :name.
_IN_BRACES = frozenset({"column", "columns", "condition", "dataset"})
_LONGEST_NAME, _LONGEST_TEXT = 1_000, 10_000
_LONGEST_SHOWN = 40
_NAMES: TypeAdapter[Any] = TypeAdapter(ColumnNames)
_NUMBER: TypeAdapter[Any] = TypeAdapter(Number)


def _column(written: Any) -> Parameter:
    if not isinstance(written, str) or not written:
        raise ValueError(f"the name of a column is needed, not {shown(written)}")
    if len(written) > _LONGEST_NAME:
        raise ValueError(f"a name of {len(written):,} characters is a mistake")
    return parameter({"column": written})


def _columns(written: Any) -> Parameter:
    found = map(_column, _NAMES.validate_python(written))
    return ColumnsParameter(tuple(one.name for one in found if isinstance(one, ColumnParameter)))


def _condition(written: Any) -> Parameter:
    return ConditionParameter(row_sql(_text_of(written), across_rows=False))


def _dataset(written: Any) -> Reference:
    if isinstance(written, Reference):
        return written
    fields = written if isinstance(written, Mapping) else {"asset": written}
    try:
        return Reference(**{str(key): value for key, value in fields.items()})
    except DeclarationError as error:
        raise ValueError(" ".join(one.message for one in error.problems)) from None


def _number(written: Any) -> Parameter:
    return parameter(_NUMBER.validate_python(written))


def _text(written: Any) -> Parameter:
    return parameter(_text_of(written))


def _pattern(written: Any) -> Parameter:
    return parameter(whole(require_java_syntax(_text_of(written))))


def _text_of(written: Any) -> str:
    if not isinstance(written, str):
        raise ValueError(f"a text is needed, not {shown(written)}")  # noqa: TRY004 (pydantic's way)
    if len(written) > _LONGEST_TEXT:
        raise ValueError(f"a text has at most {_LONGEST_TEXT:,} characters, not {len(written):,}")
    return written


def _boolean(written: Any) -> Parameter:
    if not isinstance(written, bool):
        raise ValueError(f"true or false is needed, not {shown(written)}")  # noqa: TRY004 (as above)
    return parameter(written)


def _date(written: Any) -> Parameter:
    meant = _moment(written, date.fromisoformat, "a date such as 2024-03-01")
    if isinstance(meant, datetime):
        raise ValueError(f"a date such as 2024-03-01 is needed, not {shown(written)}")  # noqa: TRY004
    return parameter(meant)


def _time(written: Any) -> Parameter:
    meant = _moment(written, datetime.fromisoformat, "a time such as 2024-03-01 12:30:00")
    whole_day = datetime.combine(meant, datetime.min.time())
    return parameter(meant if isinstance(meant, datetime) else whole_day)


def _moment(written: Any, read: Callable[[str], date], needed: str) -> date:
    if isinstance(written, date):
        return written
    try:
        return read(written)
    except (TypeError, ValueError):
        raise ValueError(f"{needed} is needed, not {shown(written)}") from None


def _values(written: Any) -> Parameter:
    if not isinstance(written, list | tuple):
        raise ValueError(f"a list of values is needed, not {shown(written)}")  # noqa: TRY004 (as above)
    for one in written:
        if isinstance(one, str):
            _text_of(one)
    return parameter(written)


_READ: Mapping[str, Callable[[Any], Parameter | Reference]] = {
    "column": _column,
    "columns": _columns,
    "condition": _condition,
    "dataset": _dataset,
    "boolean": _boolean,
    "date": _date,
    "number": _number,
    "pattern": _pattern,
    "text": _text,
    "time": _time,
    "values": _values,
}


def shown(written: Any) -> str:
    """What somebody wrote, as far as it fits into a sentence."""
    text = repr(written)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


class TemplateParameter(Declared):
    """What a template is to be given by that name; in short, ``name: column``."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    type: ParameterKind
    """What it is: a ``column``, ``columns``, a ``condition`` on a row, another ``dataset``, or a
    value: ``boolean``, ``date``, ``number``, ``pattern`` (that whole values match), ``text``,
    ``time``, or ``values``, a list of them."""
    description: str = ""
    """What it is for."""
    default: Annotated[Any, Field()] = None
    """What it is where a rule gives none; without a default it must be given."""

    @model_validator(mode="after")
    def _default_fits(self) -> Self:
        if self.default is not None:
            try:
                self.read(self.default)
            except ValueError as error:
                raise ValueError(f"the default does not fit: {error}") from None
        return self

    def read(self, written: Any) -> Parameter | Reference:
        """A value of this kind from what its author wrote; raises ValueError if it is none."""
        try:
            return _READ[self.type](written)
        except ValidationError as error:
            raise ValueError(in_plain_words(error.errors()[0])) from None

    def slot(self, name: str) -> str:
        """How the text of a template calls it."""
        return f"{{{name}}}" if self.type in _IN_BRACES else f":{name}"
