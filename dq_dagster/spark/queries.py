"""Queries of users over the data: each is a job of its own and must give one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from pyspark.errors import AnalysisException

from dq_dagster.errors import Misfit, RuleFailure, Unmeasurable
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.sources import QueryMetric, entry_of
from dq_dagster.spark.aggregates import transport
from dq_dagster.spark.ansi import beside_its_views, home_of
from dq_dagster.spark.columns import ColumnRef, Table
from dq_dagster.spark.failures import told
from dq_dagster.spark.python_calls import States, filtered, one_by_one
from dq_dagster.spark.session import is_case_sensitive
from dq_dagster.spark.slicing import Parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TABLE = "{table}"

Row = Mapping[str, Any]


def run_queries(metrics: Sequence[Metric], parts: Parts, table: Table) -> States:
    """The value of each metric in each part, or why it has none."""
    return one_by_one(metrics, parts, table, _answers)


def _answers(metrics: Sequence[Metric], frame: DataFrame, table: Table) -> dict[Metric, Any]:
    """Metrics of one query share its run."""
    answers: dict[tuple[str, str | None], Row | RuleFailure] = {}
    values: dict[Metric, Any] = {}
    for metric in cast("Sequence[QueryMetric]", metrics):
        asked = (metric.query, metric.where)
        if asked not in answers:
            answers[asked] = _answer(metric, frame, table)
        values[metric] = _entry(answers[asked], metric)
    return values


def _answer(metric: QueryMetric, frame: DataFrame, table: Table) -> Row | RuleFailure:
    try:
        table.require_ansi()
        return _only_row(metric, filtered(frame, metric.where, table))
    except RuleFailure as failure:
        return failure
    except AnalysisException as error:
        moved = home_of(frame.sparkSession) is not frame.sparkSession
        if moved and error.getCondition() == "UNRESOLVED_ROUTINE":
            # It may be a function that only the home session knows.
            return Unmeasurable.not_ansi()
        return told(error)
    except Exception as error:  # noqa: BLE001 (the isolation boundary)
        return told(error)


def _only_row(metric: QueryMetric, data: DataFrame) -> Row:
    # As a subquery, nothing but a query is accepted, and no more than two rows are ever fetched.
    text = f"SELECT * FROM (\n{_bound(metric.query)}\n) LIMIT 2"  # noqa: S608 (the author's own SQL)
    rows = beside_its_views(data)
    found = rows.sparkSession.sql(text, table=rows)
    names = found.columns
    exact = is_case_sensitive(data.sparkSession)
    if len({name if exact else name.lower() for name in names}) < len(names):
        raise Misfit.query_shape(metric.label, f"columns of one name among {', '.join(names)}")
    columns = [
        ColumnRef(name, f"c{n}", field.dataType)
        for n, (name, field) in enumerate(zip(names, found.schema.fields, strict=True))
    ]
    plain = [f"{transport(column)[0].format(column.sql)} AS {column.sql}" for column in columns]
    aliased = found.toDF(*(column.sql for column in columns))
    answer = aliased.selectExpr(*plain).collect()
    if len(answer) != 1:
        raise Misfit.query_shape(metric.label, "no row" if not answer else "more than one row")
    return {column.name: transport(column)[1](answer[0][column.sql]) for column in columns}


def _bound(query: str) -> str:
    """The query for PySpark, which replaces what is in braces: only the table is to be."""
    parts = [part.replace("{", "{{").replace("}", "}}") for part in query.split(_TABLE)]
    return _TABLE.join(parts)


def _entry(found: Row | RuleFailure, metric: QueryMetric) -> Any:
    if isinstance(found, RuleFailure):
        return found
    try:
        return entry_of(found, metric)
    except RuleFailure as failure:
        return failure
