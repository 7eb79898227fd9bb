"""The SQL that is true for the values of a column that are valid for a meaning."""

from __future__ import annotations

from functools import singledispatch

from pyspark.sql import types as T

from dq_dagster.errors import Misfit
from dq_dagster.metrics.meanings.definitions import DEFINITIONS
from dq_dagster.metrics.meanings.meaning import Anything, BuiltIn, Meaning, OneOf, Shaped
from dq_dagster.rules.regex import whole
from dq_dagster.spark import quoting
from dq_dagster.spark.columns import ColumnRef
from dq_dagster.spark.meanings.texts import VALID_TEXTS
from dq_dagster.spark.meanings.typed import VALID_TYPED
from dq_dagster.spark.membership import in_column_type, member_of

_TEXT = (T.StringType, T.NullType)


@singledispatch
def validity(meaning: Meaning, column: ColumnRef) -> str:
    """True for valid values; anything for NULL. Raises Misfit where the column does not fit."""
    raise TypeError(f"No SQL for {type(meaning).__name__}.")


@validity.register
def _(meaning: BuiltIn, column: ColumnRef) -> str:
    if isinstance(column.kind, T.NullType):
        return "true"
    if isinstance(column.kind, T.StringType):
        return VALID_TEXTS[meaning.name](column.plain_text)
    typed = VALID_TYPED.get(meaning.name)
    found = typed(column) if typed else None
    if found is None:
        fits = DEFINITIONS[meaning.name].fits
        wanted = f"a string or a column of {fits}" if fits else "a string"
        what = f"The meaning '{meaning.name}'"
        raise Misfit.wrong_type(what, column.name, column.type_name, wanted)
    return found


@validity.register
def _(meaning: OneOf, column: ColumnRef) -> str:
    values = meaning.values
    if meaning.as_text:
        values = tuple(in_column_type(value, column) for value in values)
    return member_of(column, values, meaning.match)


@validity.register
def _(meaning: Shaped, column: ColumnRef) -> str:
    column.require(_TEXT, what="A meaning with a pattern", wanted="a string")
    return f"{column.plain_text} RLIKE {quoting.text(whole(meaning.pattern))}"


@validity.register
def _(meaning: Anything, column: ColumnRef) -> str:
    return "true"
