"""Evaluates the same rules on Spark Connect, in a process of its own, and prints the outcomes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal

import dq_dagster as dq
from dq_dagster.spark.passes.blocks.workers import has_blocks
from tests.connect_port import wait_for_port

SCHEMA = "id int, amount decimal(12,2), x double, name string, day date, ts timestamp"
ROWS = (
    "(1, 10.50, 1.5, 'ann', DATE'2024-01-01', TIMESTAMP'2024-01-01 10:00:00Z'), "
    "(2, NULL, double('NaN'), ' ', DATE'2024-02-01', TIMESTAMP'2024-02-01 10:00:00Z'), "
    "(0, 99.99, -2.5, NULL, NULL, NULL)"
)
TABLE = f"SELECT * FROM VALUES {ROWS} AS t(id, amount, x, name, day, ts)"
RULES: list[dq.Rule] = [
    dq.RecordCountInRange(min=1),
    dq.ColumnCountInRange(min=6, max=6),
    dq.ColumnNotEmpty(columns=["id", "name"], empty_includes_blank=True),
    dq.ColumnAvgInRange(columns="amount", max=50),
    dq.ColumnSumInRange(columns="id", max=3),
    dq.ColumnStddevInRange(columns="id", max=3),
    dq.ColumnMaxInRange(columns=["x", "day", "ts"], max="2024-01-31"),
    dq.ColumnValuesMatch(columns="name", pattern="[a-z]+"),
    dq.ColumnValuesMatch(name="bad pattern", columns="name", pattern=r"\p{IsNonsense}"),
    dq.ColumnValuesInSet(columns="name", values=["ann", "it's"]),
    dq.ColumnValidMeaning(name="json", columns="name", meaning="json_object"),
    dq.ColumnValidMeaning(name="iban", columns="name", meaning="iban", empty_is_valid=True),
    dq.ColumnValidMeaning(name="loose date", columns="name", meaning="date_to_parse"),
    dq.ColumnValidMeaning(name="country", columns="name", meaning="country", where="id = 1"),
    dq.ColumnValidMeaning(
        name="accents",
        columns="name",
        meaning=dq.Meaning(values=["Änn", " "], match="ignore_accents"),
        empty_is_valid=True,
    ),
    dq.ColumnValidMeaning(name="mail of dates", columns="day", meaning="email"),
    dq.ColumnValuesInReference(name="self", columns="id", reference=dq.Reference(asset="data")),
    dq.ColumnValuesInReference(
        name="both",
        columns=["id", "name"],
        reference=dq.Reference(asset="data"),
        reference_columns=["id", "name"],
        where="id > 0",
    ),
    dq.ColumnValuesInReference(name="table", columns="id", reference=dq.Reference(table="no_such")),
    dq.MetricInRange(
        name="query", metric=dq.MetricSource(query="select sum(id) from {table}"), max=1
    ),
    dq.MetricInRange(
        name="time", metric=dq.MetricSource(query="select max(ts) from {table}"), max="2024-01-01"
    ),
    dq.MetricInRange(
        name="missing", metric=dq.MetricSource(query="select missing from {table}"), max=1
    ),
    dq.ColumnUnique(name="unique", columns=["id", "name", "day", "amount", "ts"]),
    dq.UniqueKey(name="key", columns=["name", "amount"]),
    dq.ColumnMostFrequentInSet(name="frequent", columns="name", values=["ann"]),
    dq.ColumnMedianInRange(name="exact median", columns=["id", "amount"], max=1),
    dq.PythonRule(name="python", function="tests.rules.types.functions:fine"),
    dq.RowExpectation(name="division", expectation="10 / id > 1"),
    dq.RowExpectation(name="guarded", expectation="10 / id > 1", where="id <> 0"),
    dq.RowExpectation(name="no context", expectation="make_date(2024, id + 12, 1) IS NULL"),
    dq.RowExpectation(name="unknown", expectation="idd > 1"),
    dq.RowExpectation(name="number", expectation="id + 1"),
    dq.AggregateExpectation(name="sum", expectation="sum(amount) > 1 and max(ts) > min(ts)"),
    dq.AggregateExpectation(
        name="distinct", expectation="count(distinct name) filter (where id > 0) = 2"
    ),
    dq.AggregateExpectation(name="middle", expectation="median(id) = 1", where="id >= 0"),
    dq.AggregateExpectation(name="ratio", expectation="sum(id) / (count(*) - 3) > 1"),
    dq.AggregateExpectation(name="amount of rows", expectation="count(*)"),
    dq.QueryExpectation(
        name="in the pass",
        expectation="(select sum(amount) from {table} where id > :least) > 1",
        parameters={"least": 0},
    ),
    dq.QueryExpectation(
        name="own query",
        expectation="(select max(t.ts) from {table} t where t.name in :names and t.day <= :day "
        "and t.amount > :amount and t.ts > :at) > (select min(ts) from {here})",
        references={"here": dq.Reference(asset="data")},
        parameters={
            "names": ["ann", "it's"],
            "day": date(2024, 1, 31),
            "amount": Decimal("10.25"),
            "at": datetime(2023, 12, 31, 23),  # noqa: DTZ001 (meant in the session's zone)
        },
    ),
    dq.QueryExpectation(
        name="whole query", expectation="select count(*) = 3 from {table} where t is null"
    ),
    dq.QueryExpectation(name="rows", expectation="(select id from {table}) = 1"),
    dq.QueryExpectation(name="type", expectation="select id from {table} limit 1"),
]


def said(outcomes: Iterable[dq.Outcome]) -> list[list[str]]:
    return [[o.rule.name, o.status.value, repr(o.observed), o.message] for o in outcomes]


def main() -> None:
    dq.ensure_java()
    from pyspark.sql import SparkSession

    wait_for_port()
    builder = SparkSession.builder.remote("local[1]")
    session = builder.config("spark.sql.session.timeZone", sys.argv[1]).getOrCreate()
    found: dict[str, object] = {}
    for ansi in ("true", "false"):
        session.conf.set("spark.sql.ansi.enabled", ansi)
        found[ansi] = said(dq.evaluate(session.sql(TABLE), RULES))
    found["blocks"] = has_blocks(session)
    sys.stdout.write(json.dumps(found))
    session.stop()


if __name__ == "__main__":
    main()
