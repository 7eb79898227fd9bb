"""Constants of rules as SQL literals in a column's own type: never a silent cast of data.

Spark holds a literal such as ``0.25BD`` as a BigDecimal, and makes one of every value that it is
compared with, which costs more than reading the value. Values of at most 18 digits are held as
longs otherwise, and so is a literal that is cast from a long or from an interval of seconds. The
cast is done once, when the query is planned.
"""

from __future__ import annotations

import math
import sys
import unicodedata
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, InvalidOperation
from functools import cache
from typing import Literal, TypeAlias

from pyspark.sql import types as T

from dq_dagster.errors import Misfit
from dq_dagster.judging.ranges import parse_day, parse_moment
from dq_dagster.metrics.constant import Constant, Scalar, nearest_float, rounded
from dq_dagster.metrics.meanings.meaning import Match
from dq_dagster.metrics.states import EXACT
from dq_dagster.spark.frames.columns import COMPARABLE, FLOATS, ColumnRef, text_literal

_MOST_DIGITS = 18
# Intervals count microseconds in a long.
_INTERVAL_SCALE = 6
_INTERVAL_LIMIT = 10**12


def compact(value: Decimal, kind: T.DataType) -> str | None:
    """The value as SQL of exactly that decimal type; None if it has no such form."""
    if not isinstance(kind, T.DecimalType) or kind.precision > _MOST_DIGITS:
        return None
    if _exceeds(value, kind):
        return None
    target = f"DECIMAL({kind.precision}, {kind.scale})"
    if value == value.to_integral_value():
        return f"CAST({int(value)}L AS {target})"
    digits = -int(value.normalize().as_tuple().exponent)
    if digits > min(kind.scale, _INTERVAL_SCALE) or abs(value) >= _INTERVAL_LIMIT:
        return None
    return f"CAST(INTERVAL '{value.normalize():f}' SECOND AS {target})"


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_INTEGRAL_DIGITS = 38
_Sign: TypeAlias = Literal["<", "<=", ">=", ">"]


def member(constant: Constant, column: ColumnRef) -> str | None:
    """A set's member as a literal of the column's type; None if no such value can occur there."""
    value = constant.value
    if isinstance(column.kind, T.NullType):
        return None
    if isinstance(column.kind, FLOATS) and _is_number(value):
        return _float_member(column, value)
    if isinstance(column.kind, T.NumericType) and _is_number(value):
        return _exact_member(value, column.kind)
    return _other(value, constant, column)


def below(column: ColumnRef, operand: str, bound: Constant, *, or_at: bool = False) -> str:
    """The predicate "operand < bound", or "<=", exact in the column's type."""
    return _compare(column, operand, bound, "<=" if or_at else "<")


def above(column: ColumnRef, operand: str, bound: Constant, *, or_at: bool = False) -> str:
    """The predicate "operand > bound", or ">=", exact in the column's type."""
    return _compare(column, operand, bound, ">=" if or_at else ">")


def _compare(column: ColumnRef, operand: str, bound: Constant, sign: _Sign) -> str:
    value = bound.value
    if isinstance(column.kind, T.NullType):
        return "false"
    if isinstance(column.kind, FLOATS) and _is_number(value):
        return f"{operand} {sign} {_float_literal(column, _as_float(value, sign))}"
    if isinstance(column.kind, T.NumericType) and _is_number(value):
        return _compare_exact(column.kind, operand, _exact(value), sign)
    return f"{operand} {sign} {_other(value, bound, column)}"


def _compare_exact(kind: T.NumericType, operand: str, bound: Decimal, sign: _Sign) -> str:
    """Moves the bound to the next value the type can hold, so that Spark rounds nothing.

    With whole numbers, x < 1.5 is x < 2 and x > 1.5 is x > 1, while x <= 1.5 is x <= 1; likewise
    at a decimal's scale.
    """
    scale = kind.scale if isinstance(kind, T.DecimalType) else 0
    rounding = ROUND_CEILING if sign in {"<", ">="} else ROUND_FLOOR
    snapped = _snapped(bound, scale, rounding)
    if snapped is None or _exceeds(snapped, kind):
        # Beyond anything the type can hold: true or false for every value.
        always = (bound > 0) == sign.startswith("<")
        return f"{operand} IS NOT NULL" if always else "false"
    return f"{operand} {sign} {_decimal(snapped, kind)}"


def _snapped(value: Decimal, scale: int, rounding: str) -> Decimal | None:
    """The nearest decimal of that scale; None if it has more digits than Spark can hold."""
    if value and value.adjusted() > _INTEGRAL_DIGITS:
        return None
    snapped = value.quantize(Decimal(1).scaleb(-scale), rounding=rounding, context=EXACT)
    return snapped if snapped.adjusted() + 1 <= _INTEGRAL_DIGITS - scale else None


def _exceeds(value: Decimal, kind: T.NumericType) -> bool:
    """Whether no value of a decimal type is as far from zero; Spark sees it of the other types."""
    if not isinstance(kind, T.DecimalType):
        return False
    return bool(value) and value.adjusted() >= kind.precision - kind.scale


def _float_member(column: ColumnRef, value: Scalar) -> str | None:
    nearest = nearest_float(value)  # type: ignore[arg-type]
    return None if nearest is None else _float_literal(column, nearest)


def _exact_member(value: Scalar, kind: T.NumericType) -> str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    exact = _exact(value)
    scale = kind.scale if isinstance(kind, T.DecimalType) else 0
    snapped = _snapped(exact, scale, ROUND_HALF_EVEN)
    return _decimal(snapped, kind) if snapped is not None and snapped == exact else None


def _other(value: Scalar, constant: Constant, column: ColumnRef) -> str:
    match column.kind:
        case T.StringType() if isinstance(value, str):
            return text_literal(value)
        case T.BooleanType() if isinstance(value, bool):
            return str(value).lower()
        case T.DateType() if (day := _day(value)) is not None:
            return f"DATE'{day.isoformat()}'"
        case T.TimestampType() if (moment := _moment(value)) is not None:
            return _instant(moment)
        case T.TimestampNTZType() if (moment := _moment(value)) is not None and not moment.tzinfo:
            return f"TIMESTAMP_NTZ'{moment.isoformat(' ')}'"
    raise Misfit.wrong_value(str(constant), column.name, column.type_name)


def _instant(moment: datetime) -> str:
    if moment.tzinfo is None:
        # A time without a zone is meant in the session's zone, which Spark knows.
        return f"TIMESTAMP_LTZ'{moment.isoformat(' ')}'"
    return f"timestamp_micros({(moment - _EPOCH) // _MICROSECOND}L)"


def _day(value: Scalar) -> date | None:
    if isinstance(value, str):
        return parse_day(value)
    return value if isinstance(value, date) and not isinstance(value, datetime) else None


def _moment(value: Scalar) -> datetime | None:
    if isinstance(value, str):
        return parse_moment(value)
    if isinstance(value, datetime):
        return value
    return datetime(value.year, value.month, value.day) if isinstance(value, date) else None  # noqa: DTZ001 (meant in the session's zone)


def _is_number(value: Scalar) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _exact(value: Scalar) -> Decimal:
    # 0.1 means the decimal 0.1 to the person who wrote it.
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)  # type: ignore[arg-type]


def _as_float(value: Scalar, sign: _Sign) -> float:
    """The nearest double. A number beyond all doubles keeps its place in a comparison."""
    nearest = nearest_float(value)  # type: ignore[arg-type]
    if nearest is not None:
        return nearest
    positive = value > 0  # type: ignore[operator]
    # Between the largest double and infinity: which of them takes its place depends on the sign.
    beyond_largest = math.inf if (sign in {"<", ">="}) == positive else sys.float_info.max
    return beyond_largest if positive else -beyond_largest


def _decimal(value: Decimal, kind: T.NumericType) -> str:
    short = compact(value, kind)
    if short is not None:
        return short
    literal = f"{value:f}"
    return f"{literal}BD" if not literal.startswith("-") else f"(-{literal[1:]}BD)"


def _float_literal(column: ColumnRef, value: float) -> str:
    # A 32-bit column holds the 32-bit number nearest to what was written.
    return _double(rounded(value) if isinstance(column.kind, T.FloatType) else value)


def _double(value: float) -> str:
    if math.isnan(value):
        return "double('NaN')"
    if math.isinf(value):
        return f"double('{'-' if value < 0 else ''}Infinity')"
    return f"{value!r}D" if value >= 0 else f"(-{-value!r}D)"


def member_of(column: ColumnRef, values: Sequence[Constant], match: Match = "exact") -> str:
    """True for the values of the column that are in the set; only texts are matched leniently."""
    column.require(COMPARABLE, what="A set of values", wanted="a type with simple values")
    members = [literal for value in values if (literal := member(value, column))]
    operand = column.sql
    if match == "ignore_accents" and isinstance(column.kind, T.StringType):
        texts = [without_accents(str(value.value)) for value in values]
        operand = _without_accents_sql(column.plain_text, among=texts)
        members = [text_literal(text) for text in texts]
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
        old, new = text_literal("".join(accented)), text_literal("".join(accented.values()))
        value = f"translate({value}, {old}, {new})"
    return f"regexp_replace({value}, {text_literal(_MARKS)}, '')"


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
