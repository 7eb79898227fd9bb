"""The example of every rule type, evaluated on the table of orders that the page shows."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

import pandas as pd

import dq_dagster as dq
from dq_dagster.plan.plan import Plan
from dq_dagster.rules.base.documentation import Documentation
from dq_dagster.rules.base.rule import RuleFamily
from dq_dagster.rules.catalogue import RULE_TYPES, by_family

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ORDERS = Path(__file__).parents[1] / "orders.csv"
COLUMNS = {
    "order_id": "int",
    "customer": "string",
    "email": "string",
    "country": "string",
    "status": "string",
    "amount": "decimal(10,2)",
    "items": "int",
    "weight": "double",
    "ordered_at": "timestamp",
    "shipped_on": "date",
}
# Ages are counted from here, so that the page says the same every day.
NOW = datetime(2024, 3, 9, tzinfo=UTC)
# What the examples of change detection are compared with: a value a day, up to the day before.
PAST: Mapping[str, Sequence[float]] = {
    "record_count": [7, 9, 8, 8, 10, 7, 9, 8],
    "column_count": [10, 10, 10, 10],
    "column_min:amount": [9.9, 8, 7.5, 9.5, 8.9, 8.25, 9],
    "column_max:weight": [5.1, 4.9, 5.2, 5, 5.3, 4.9, 5.1, 5],
    "column_avg:amount": [40, 42.5, 39, 44, 41, 38.5, 43, 40.5],
    "column_sum:amount": [390, 405, 430, 372, 418, 401, 397, 410],
    "column_sum:items": [18, 21, 19, 22, 20, 17, 19, 21],
    "column_median:amount": [40, 40, 40, 40, 40, 40, 40],
    "column_stddev:weight": [1.7, 1.9, 1.6, 1.8, 1.75, 1.85, 1.65],
    "count_empty:email": [1, 0, 1, 1, 0, 1, 1, 0],
    "unique_count:customer": [6, 7, 6, 5, 6, 7, 6, 6],
}
WITH_PAST = {"history": PAST}
TYPICAL = by_family()[RuleFamily.CHANGE_DETECTION]
CUSTOMERS = {
    "references": {"customers": pd.DataFrame({"name": ["Ada", "Bo", "Cleo", "Dan", "Eva", "Finn"]})}
}
SHIPPED = {
    "references": {
        # Order 8 is missing, one amount is off by a little and one by more.
        "shipped_orders": pd.DataFrame(
            {
                "order_id": [1, 2, 3, 4, 5, 6, 7],
                "customer": ["Ada", "Bo", "Cleo", "Dan", "Eva", "Ada", "Finn"],
                "amount": [
                    Decimal(text)
                    for text in ("20.00", "35.50", "120.30", "15.90", "60.00", "48.25", "99.90")
                ],
            }
        )
    }
}
# What an example needs besides the table: further arguments of dq.evaluate, by rule type.
FURTHER_ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    **dict.fromkeys(("column_values_in_reference", "query_dq"), CUSTOMERS),
    "table_diff": SHIPPED,
    **dict.fromkeys(TYPICAL, WITH_PAST),
}


class NotJudged(Exception):
    """An example that says nothing about its rule: it could not be answered."""

    def __init__(self, outcome: dq.Outcome) -> None:
        super().__init__(f"The example of {outcome.rule.type} was not judged: {outcome.message}")


@dataclass(frozen=True, slots=True)
class Example:
    """An example, what it takes to answer it, and what came out."""

    plan: Plan
    outcome: dq.Outcome


def evaluated(session: SparkSession) -> dict[str, Example]:
    """The examples of all rule types by type; raises NotJudged where one has no verdict."""
    table = orders(session)
    rules = load()
    outcomes = [
        outcome
        for kinds, arguments in _evaluations(rules)
        for outcome in dq.evaluate(
            table, [rules[kind] for kind in kinds], now=NOW, samples=False, **arguments
        )
    ]
    by_type = {outcome.rule.type: _judged(outcome) for outcome in outcomes}
    return {kind: Example(dq.explain([rule]), by_type[kind]) for kind, rule in rules.items()}


def _evaluations(kinds: Iterable[str]) -> Iterator[tuple[list[str], Mapping[str, Any]]]:
    """All examples together, apart from those that need something of their own."""
    yield [kind for kind in kinds if kind not in FURTHER_ARGUMENTS], {}
    alike: dict[int, list[str]] = {}
    for kind, arguments in FURTHER_ARGUMENTS.items():
        alike.setdefault(id(arguments), []).append(kind)
    for some in alike.values():
        yield some, FURTHER_ARGUMENTS[some[0]]


def load() -> dict[str, dq.Rule]:
    """The rules that the examples declare, read from a file as users have it."""
    examples = [Documentation.of(rule).example for rule in RULE_TYPES.values()]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "examples.yaml"
        lines = indent("\n".join(filter(None, examples)), "  ")
        file.write_text(f"asset: orders\nrules:\n{lines}\n", encoding="utf-8")
        [rule_set] = dq.load_rules(file)
    return {rule.type: rule for rule in rule_set.rules}


def orders(session: SparkSession) -> DataFrame:
    """The table, read from its file: some rules ask for the files behind a table."""
    schema = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    return session.read.csv(str(ORDERS), header=True, schema=schema)


def rows() -> list[list[str]]:
    """The table as text, its header first."""
    with ORDERS.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def _judged(outcome: dq.Outcome) -> dq.Outcome:
    columns = outcome.columns.values()
    unanswered = [one for one in columns if one.status == "Error" and one.observed is None]
    if "error" in outcome.details or unanswered:
        raise NotJudged(outcome)
    return outcome
