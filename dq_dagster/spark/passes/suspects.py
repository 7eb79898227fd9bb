"""Which aggregates of a query an error of Spark points to, and where to look if to none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.errors import PySparkException, QueryContextType

from dq_dagster.metrics.metric import RowMetric
from dq_dagster.spark.expressions.values import Aggregates

Needs = Mapping[RowMetric, Aggregates]


def quoted_texts(error: Exception, aggregates: Iterable[str]) -> list[str]:
    """The aggregates that hold the words Spark quotes, at the place it quotes them from."""
    contexts = error.getQueryContext() if isinstance(error, PySparkException) else []
    places = [
        (context.startIndex(), context.fragment())
        for context in contexts
        if context.contextType() == QueryContextType.SQL
    ]
    return [
        sql
        for sql in aggregates
        if any(sql.startswith(words, start) for start, words in places if words)
    ]


def halves(needs: Needs) -> tuple[Needs, Needs]:
    """What cannot raise by itself apart from text of users; within each, column by column."""
    safe = {metric: need for metric, need in needs.items() if not need.fallible}
    unsafe = {metric: need for metric, need in needs.items() if need.fallible}
    if safe and unsafe:
        return safe, unsafe
    ordered = sorted(needs.items(), key=lambda item: (item[0].columns or ("",))[:1])
    middle = len(ordered) // 2
    return dict(ordered[:middle]), dict(ordered[middle:])
