"""By how much two values differ, and whether that is within a tolerance. None of it raises."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal

from pyspark.sql import types as T

from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.diffs import Figure, Leeway
from dq_dagster.metrics.queries import ValueParameter
from dq_dagster.spark.frames.columns import FLOATS, text_literal

_TIMES = (T.TimestampType, T.TimestampNTZType)
_MICROS = 1_000_000
_MOST_DIGITS = 38
_SECONDS = "DECIMAL(20, 6)"


def difference(one: str, other: str, first: T.DataType, second: T.DataType) -> str | None:
    """The first minus the second; None if they are no numbers."""
    if not isinstance(first, T.NumericType) or not isinstance(second, T.NumericType):
        return None
    if _are(FLOATS, first, second):
        return f"(CAST({one} AS DOUBLE) - CAST({other} AS DOUBLE))"
    if _are((T.DecimalType,), first, second):
        # NULL where even the widest decimal does not hold it.
        return f"try_subtract({one}, {other})"
    # Always wide enough.
    kind = "DECIMAL(20, 0)" if _are((T.LongType,), first, second) else "BIGINT"
    return f"(CAST({one} AS {kind}) - CAST({other} AS {kind}))"


def figure(tolerance: Figure, first: T.DataType, second: T.DataType) -> str:
    """The tolerance as SQL: exact beside exact numbers."""
    exact = ValueParameter(Constant.of(Decimal(str(tolerance))))
    if not _are(FLOATS, first, second):
        with suppress(ValueError):
            exact.refuse_misfit()
            return exact.literal
    return _double(tolerance)


def distance(one: str, other: str, first: T.DataType, second: T.DataType) -> str | None:
    """How far apart two values are: of times in microseconds, of dates in days.

    None if they are neither numbers nor times of one type. Infinite where one of them is, or is not
    a number at all.
    """
    apart = difference(one, other, first, second)
    if apart is not None:
        absolute = f"abs({apart})"
        if _are((T.DecimalType,), first, second) and not _are(FLOATS, first, second):
            # Not abs: of a decimal with 35 digits or more, Spark rounds it, and may raise then.
            absolute = f"greatest({apart}, {difference(other, one, second, first)})"
        return f"nanvl({absolute}, double('Infinity'))" if _are(FLOATS, first, second) else absolute
    if isinstance(first, T.DateType) and isinstance(second, T.DateType):
        return f"abs(CAST(unix_date({one}) AS BIGINT) - unix_date({other}))"
    if isinstance(first, T.TimestampType) and isinstance(second, T.TimestampType):
        return f"abs(try_subtract(unix_micros({one}), unix_micros({other})))"
    if isinstance(first, T.TimestampNTZType) and isinstance(second, T.TimestampNTZType):
        seconds = f"CAST(CAST(abs(try_subtract({one}, {other})) AS INTERVAL SECOND) AS {_SECONDS})"
        return f"CAST({seconds} * {_MICROS} AS BIGINT)"
    return None


def largest_distance(one: str, other: str, first: T.DataType, second: T.DataType) -> str | None:
    """The largest of all distances; as a double where those may be too large for a decimal."""
    apart = distance(one, other, first, second)
    if (
        apart is not None
        and _are((T.DecimalType,), first, second)
        and not _are(FLOATS, first, second)
    ):
        digits = [kind.precision for kind in (first, second) if isinstance(kind, T.DecimalType)]
        exact = _exact_distance(one, other, first, second)
        if max(digits) >= _MOST_DIGITS or exact is not None:
            rough = f"abs(CAST({one} AS DOUBLE) - CAST({other} AS DOUBLE))"
            finest = [] if exact is None else [f"CAST({exact} AS DOUBLE)"]
            apart = f"coalesce({', '.join([*finest, f'CAST({apart} AS DOUBLE)', rough])})"
    return apart


def _exact_distance(one: str, other: str, first: T.DataType, second: T.DataType) -> str | None:
    """The distance of decimals that Spark would round; NULL where it has too many digits.

    None where Spark does not round. Of decimal(38,18), say, a difference has 17 places only: what
    is apart by less would be no distance at all.
    """
    if _are(FLOATS, first, second) or not _are((T.DecimalType,), first, second):
        return None
    (digits, places), (others, other_places) = _size(first), _size(second)
    scale = max(places, other_places)
    if max(digits - places, others - other_places) + scale < _MOST_DIGITS or scale in {0, 38}:
        return None
    # One digit less than the most leaves one for the difference.
    kind = f"DECIMAL({_MOST_DIGITS - 1}, {scale})"
    sides = f"try_cast({one} AS {kind})", f"try_cast({other} AS {kind})"
    ways = (f"try_subtract({this}, {that})" for this, that in (sides, sides[::-1]))
    return f"greatest({', '.join(ways)})"


def _size(kind: T.DataType) -> tuple[int, int]:
    """How many digits a number has, and how many of them after the point."""
    if isinstance(kind, T.DecimalType):
        return kind.precision, kind.scale
    return (20 if isinstance(kind, T.LongType) else 10), 0


def within(
    leeway: Leeway, one: str, other: str, first: T.DataType, second: T.DataType
) -> str | None:
    """Whether two values differ by no more than that, never NULL; None where it means nothing."""
    apart = distance(one, other, first, second)
    if apart is None or not leeway:
        return None
    exact = _exact_distance(one, other, first, second)
    ways = []
    if leeway.absolute is not None:
        limit = _limit(leeway.absolute, first, second)
        rough = f"{apart} <= {limit}"
        ways.append(rough if exact is None else f"coalesce({exact} <= {limit}, {rough})")
    if leeway.relative is not None and isinstance(first, T.NumericType):
        larger = f"greatest(abs(CAST({one} AS DOUBLE)), abs(CAST({other} AS DOUBLE)))"
        # An infinite value is close to nothing but itself.
        finite = f"{larger} < double('Infinity')"
        share = f"CAST({apart} AS DOUBLE)"
        if exact is not None:
            share = f"coalesce(CAST({exact} AS DOUBLE), {share})"
        ways.append(f"({finite} AND {share} <= {larger} * {_double(leeway.relative)})")
    return f"coalesce({' OR '.join(ways)}, false)" if ways else None


def _limit(absolute: Figure, first: T.DataType, second: T.DataType) -> str:
    if isinstance(first, _TIMES):
        return figure(Decimal(str(absolute)) * _MICROS, first, second)
    if isinstance(first, T.DateType):
        return figure(Decimal(str(absolute)) / 86_400, first, second)
    return figure(absolute, first, second)


def _double(number: Figure) -> str:
    return f"CAST({text_literal(repr(float(number)))} AS DOUBLE)"


def _are(kinds: tuple[type[T.DataType], ...], first: T.DataType, second: T.DataType) -> bool:
    """Whether one of them is of such a type."""
    return isinstance(first, kinds) or isinstance(second, kinds)
