"""SQL over aggregates as users write it, made ready to run beside other metrics."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from typing import Any

from dq_dagster.metrics.constant import Single, rounded
from dq_dagster.metrics.sql_aggregate import SqlAggregate
from dq_dagster.metrics.states import Opaque
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.sql.expressions import aggregate_calls, aggregate_columns_used, restricted

_FORMATS = (
    "map('timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSSXXXXX', "
    "'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
)


def answer_sql(metric: SqlAggregate, table: JudgedTable) -> str:
    """The expression as one SQL text whose result says its type and its value.

    As JSON, because the type is not known before, and because Python could not fetch each value
    as it is (years beyond 9999, intervals). It is NULL where there are no rows, so that a part
    without any, in which something is divided by their number, does not raise for the others.
    """
    counted = "1" if metric.where is None else f"if(({metric.where}), 1, NULL)"
    return f"if(count({counted}) > 0, {answer_over_nothing_sql(metric, table)}, NULL)"


def answer_over_nothing_sql(metric: SqlAggregate, table: JudgedTable) -> str:
    """The same text, which also has an answer where there are no rows: ``count(*)`` is 0 there."""
    table.require_columns(aggregate_columns_used(metric.sql))
    answer = f"({restricted(metric.sql, metric.where)})"
    fields = f"'kind', typeof({answer}), 'value', {answer}"
    return f"to_json(named_struct({fields}), {_FORMATS})"


def calls_sql(metric: SqlAggregate) -> tuple[str, ...]:
    """The aggregates that Spark computes for the expression."""
    return tuple(call.sql(metric.where) for call in aggregate_calls(metric.sql))


def answered(results: Mapping[str, Any]) -> Opaque | None:
    """The state that the text's result stands for; None where there were no rows."""
    if results["answer"] is None:
        return None
    found = json.loads(results["answer"], parse_float=Decimal)
    kind: str = found["kind"]
    value = found.get("value")
    read: Callable[[Any], Any] = _READERS.get(kind.partition("(")[0], _as_text)
    return Opaque(kind, None if value is None else read(value))


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _instant(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return moment


def _time_or_text(read: Callable[[str], Any], text: str) -> Any:
    try:
        return read(text)
    except ValueError:
        # Before year 1 or after 9999, where Python has no times.
        return text


_READERS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), int),
    "decimal": Decimal,
    "float": lambda value: Single(rounded(float(value))),
    "double": float,
    "boolean": bool,
    "date": partial(_time_or_text, date.fromisoformat),
    "timestamp": partial(_time_or_text, _instant),
    "timestamp_ntz": partial(_time_or_text, datetime.fromisoformat),
}
