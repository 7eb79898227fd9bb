"""Whether a column's value is one of a set, exactly or leniently."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from functools import cache

from pyspark.sql import types as T

from dq_dagster.metrics.constant import Constant, Scalar
from dq_dagster.metrics.meanings.meaning import Match
from dq_dagster.spark import literals, quoting
from dq_dagster.spark.columns import COMPARABLE, ColumnRef


def member_of(column: ColumnRef, values: Sequence[Constant], match: Match = "exact") -> str:
    """True for the values of the column that are in the set; only texts are matched leniently."""
    column.require(COMPARABLE, what="A set of values", wanted="a type with simple values")
    members = [literal for value in values if (literal := literals.member(value, column))]
    operand = column.sql
    if match == "ignore_accents" and isinstance(column.kind, T.StringType):
        texts = [without_accents(str(value.value)) for value in values]
        operand = _without_accents_sql(column.plain_text, among=texts)
        members = [quoting.text(text) for text in texts]
    if match != "exact" and isinstance(column.kind, T.StringType):
        operand = f"lower({operand})"
        members = [f"lower({literal})" for literal in members]
    return f"{operand} IN ({', '.join(members)})" if members else "false"


def in_column_type(constant: Constant, column: ColumnRef) -> Constant:
    """A value that was written as text, as the column's own type would have it."""
    value = constant.value
    if not isinstance(value, str):
        return constant
    if isinstance(column.kind, T.NumericType):
        return Constant.of(_number(value))
    if isinstance(column.kind, T.BooleanType) and value.lower() in {"true", "false"}:
        return Constant.of(value.lower() == "true")
    return constant


def _number(text: str) -> Scalar:
    """The number the text writes, else the text, which the column then refuses."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    return number if number.is_finite() else text


def without_accents(text: str) -> str:
    """The text without marks: é becomes e, however it is composed; ø, ß and 한 stay."""
    letters = (_accented().get(char, char) for char in text)
    return "".join(char for char in letters if unicodedata.category(char) != "Mn")


def _without_accents_sql(value: str, *, among: Sequence[str]) -> str:
    """The same in SQL, as far as it matters for being one of the given texts.

    Spark's own collations that ignore accents are no help: to them a text with a zero byte in it
    is the one without, and ① is 1.
    """
    wanted = set("".join(among).lower())
    accented = {char: base for char, base in _accented().items() if base.lower() in wanted}
    if accented:
        old, new = quoting.text("".join(accented)), quoting.text("".join(accented.values()))
        value = f"translate({value}, {old}, {new})"
    return f"regexp_replace({value}, {quoting.text(_MARKS)}, '')"


# Marks that take no space of their own.
_MARKS = r"\p{Mn}+"


@cache
def _accented() -> dict[str, str]:
    """Each character that Unicode decomposes (NFD) into one base character and marks, with that."""
    bases = {char: _base(char) for char in map(chr, range(sys.maxunicode + 1))}
    return {char: base for char, base in bases.items() if len(base) == 1 and base != char}


def _base(char: str) -> str:
    if not unicodedata.decomposition(char):
        return char
    decomposed = unicodedata.normalize("NFD", char)
    return "".join(part for part in decomposed if unicodedata.category(part) != "Mn")
