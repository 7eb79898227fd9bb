"""Each built-in meaning as the SQL that is true for the texts that are valid for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import singledispatch
from typing import Literal

from pyspark.sql import types as T

from dq_dagster.errors import Misfit
from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.meanings import codes
from dq_dagster.metrics.meanings.codes import IBAN_LENGTHS
from dq_dagster.metrics.meanings.meaning import (
    DEFINITIONS,
    Anything,
    BuiltIn,
    OneOf,
    Shaped,
    Validity,
)
from dq_dagster.rules.fields.regex import whole
from dq_dagster.spark.expressions import literals
from dq_dagster.spark.expressions.literals import in_column_type, member_of
from dq_dagster.spark.expressions.meanings import patterns
from dq_dagster.spark.expressions.meanings.patterns import (
    GEOMETRY,
    is_date,
    is_date_to_parse,
    starts_with_date,
)
from dq_dagster.spark.frames.columns import FLOATS, ColumnRef, text_literal

_HEAD = "[A-Z]{2}(?:0[2-9]|[1-8][0-9]|9[0-8])"
_TOGETHER = "[A-Z0-9]{11,30}"
_IN_GROUPS = "(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,4})?"
_SHAPE = whole(f"{_HEAD}(?:{_TOGETHER}|{_IN_GROUPS})")


def is_iban(value: str) -> str:
    together = f"replace({value}, ' ', '')"
    lengths = ", ".join(f"'{country}{length}'" for country, length in IBAN_LENGTHS.items())
    fits = f"concat(left({value}, 2), length({together})) IN ({lengths})"
    return f"{value} RLIKE {text_literal(_SHAPE)} AND {fits} AND {_remainder(together)} = 1"


def _remainder(account: str) -> str:
    """The number modulo 97, letters counted as 10 to 35, the first four characters put last.

    Digit by digit, since the whole number has too many for any of Spark's types.
    """
    turned = f"concat(substr({account}, 5), left({account}, 4))"
    code = "ascii(c)"
    step = f"if({code} < 65, m * 10 + {code} - 48, m * 100 + {code} - 55) % 97"
    return f"aggregate(split({turned}, ''), 0, (m, c) -> {step})"


def is_json(value: str, opening: Literal["{", "["]) -> str:
    r"""True for a JSON text that is an object, or an array.

    The parser stops where a value ends and does not mind what follows. So the text is read as the
    first element of an array, with its own checksum as the second: whatever else it holds, it
    cannot hold that. Names that stand twice are refused unless the session is set to allow them
    (``spark.sql.variant.allowDuplicateKeys``).
    """
    array = f"concat('[', {value}, ',\"', md5({value}), '\"]')"
    second = f"try_variant_get(try_parse_json({array}), {text_literal('$[1]')}, 'string')"
    starts = text_literal(rf"\A[ \t\r\n]*+\{opening}")
    return f"{value} RLIKE {starts} AND {second} = md5({value})"


def _matching(pattern: str) -> Callable[[str], str]:
    regex = text_literal(whole(pattern))
    return lambda value: f"{value} RLIKE {regex}"


def _one_of(*sets: Iterable[str]) -> Callable[[str], str]:
    words = sorted({word.lower() for words in sets for word in words})
    listed = ", ".join(map(text_literal, words))
    return lambda value: f"lower({value}) IN ({listed})"


VALID_TEXTS: Mapping[str, Callable[[str], str]] = {
    "text": lambda value: f"is_valid_utf8({value})",
    "decimal": _matching(patterns.DECIMAL),
    "integer": _matching(patterns.INTEGER),
    "boolean": _matching(patterns.BOOLEAN),
    "date": is_date,
    "datetime_with_zone": lambda value: starts_with_date(value, patterns.DATETIME_WITH_ZONE),
    "datetime_without_zone": lambda value: starts_with_date(value, patterns.DATETIME_WITHOUT_ZONE),
    "date_to_parse": is_date_to_parse,
    "json_object": lambda value: is_json(value, "{"),
    "json_array": lambda value: is_json(value, "["),
    "natural_language": _matching(patterns.NATURAL_LANGUAGE),
    "latitude": _matching(patterns.LATITUDE),
    "longitude": _matching(patterns.LONGITUDE),
    "geopoint": _matching(patterns.GEOPOINT),
    "geometry": _matching(GEOMETRY),
    "country": _one_of(codes.COUNTRY_ALPHA_2, codes.COUNTRY_ALPHA_3, codes.COUNTRY_NAMES),
    "us_state": _one_of(codes.US_STATE_CODES, codes.US_STATE_NAMES),
    "ip_address": _matching(patterns.IP_ADDRESS),
    "ipv4": _matching(patterns.IPV4),
    "ipv6": _matching(patterns.IPV6),
    "url": _matching(patterns.URL),
    "http_query": _matching(patterns.HTTP_QUERY),
    "user_agent": _matching(patterns.USER_AGENT),
    "email": _matching(patterns.EMAIL),
    "uuid": _matching(patterns.UUID),
    "currency": _one_of(codes.CURRENCY_CODES),
    "language": _one_of(codes.LANGUAGE_ALPHA_2, codes.LANGUAGE_ALPHA_3),
    "phone": _matching(patterns.PHONE),
    "iban": is_iban,
}


def _every(*kinds: type[T.DataType]) -> Callable[[ColumnRef], str | None]:
    return lambda column: "true" if isinstance(column.kind, kinds) else None


def _decimal(column: ColumnRef) -> str | None:
    if isinstance(column.kind, FLOATS):
        return f"abs({column.sql}) < double('Infinity')"
    return "true" if isinstance(column.kind, T.NumericType) else None


def _integer(column: ColumnRef) -> str | None:
    if isinstance(column.kind, FLOATS):
        # Of NaN and infinities the remainder is NaN.
        return f"{column.sql} % 1D = 0D"
    if isinstance(column.kind, T.DecimalType):
        return _is_whole(column.sql, column.kind)
    return "true" if isinstance(column.kind, T.NumericType) else None


def _is_whole(value: str, kind: T.DecimalType) -> str:
    # Both sides in the column's own type, so that nothing is rounded.
    own = f"DECIMAL({kind.precision}, {kind.scale})"
    if kind.precision == kind.scale:
        # All values lie between -1 and 1, and 1 itself has no place in the type.
        return f"{value} = CAST(0 AS {own})"
    return f"{value} % CAST(1 AS {own}) = CAST(0 AS {own})"


def _within(limit: int) -> Callable[[ColumnRef], str | None]:
    low, high = Constant.of(-limit), Constant.of(limit)

    def valid(column: ColumnRef) -> str | None:
        if not isinstance(column.kind, T.NumericType):
            return None
        below = literals.below(column, column.sql, low)
        above = literals.above(column, column.sql, high)
        # NaN is the greatest value to Spark, and so above.
        return f"NOT ({below} OR {above})"

    return valid


VALID_TYPED: Mapping[str, Callable[[ColumnRef], str | None]] = {
    "decimal": _decimal,
    "integer": _integer,
    "boolean": _every(T.BooleanType),
    "date": _every(T.DateType),
    "datetime_with_zone": _every(T.TimestampType),
    "datetime_without_zone": _every(T.TimestampNTZType),
    "latitude": _within(90),
    "longitude": _within(180),
}


_TEXT = (T.StringType, T.NullType)


@singledispatch
def validity(meaning: Validity, column: ColumnRef) -> str:
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
    return f"{column.plain_text} RLIKE {text_literal(whole(meaning.pattern))}"


@validity.register
def _(meaning: Anything, column: ColumnRef) -> str:
    return "true"
