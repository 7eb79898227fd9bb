"""Faults said in fewer are those of the rules, row by row, whatever rules come together."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import dq_dagster as dq
from dq_dagster.metrics.conditions import Fault
from dq_dagster.plan.unions import united
from dq_dagster.spark.expressions.predicates import fault_sql
from dq_dagster.spark.frames.columns import JudgedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXTS = [
    None,
    "",
    " ",
    "a",
    "ab",
    "abc",
    "abcd",
    "abcdefgh",
    "ABC",
    "a1",
    "ä",
    "äöü",
    "12",
    "-",
    "😀",
]
NUMBERS = [None, -5, -1, 0, 1, 2, 5, 9, 10, 11, 10**12]
DOUBLES = [None, float("nan"), float("-inf"), float("inf"), -0.0, 0.1, 0.5, 1.25, 5.0, 1e300]
DAYS = [None, date(2023, 12, 31), date(2024, 1, 1), date(2024, 2, 29), date(1, 1, 1)]
SETS = 150

Chance = random.Random


def _range(chance: Chance) -> dict[str, Any]:
    column = chance.choice(["n", "d", "money"])
    low, high = sorted(chance.sample([-1, 0, 1, 2, 5, 10, 0.5, 1.25], 2))
    bounds: dict[str, Any] = {"min": low, "max": high}
    bounds.pop(chance.choice(["min", "max", "neither"]), None)
    exclusive = chance.choice(["min", "max", "both", None])
    if exclusive is not None and (exclusive == "both" or exclusive in bounds) and len(bounds) == 2:
        bounds["exclusive"] = exclusive
    return {"type": "column_values_in_range", "columns": column, **bounds}


def _lengths(chance: Chance) -> dict[str, Any]:
    low, high = sorted(chance.sample(range(9), 2))
    return {"type": "column_value_lengths_in_range", "columns": "t", "min": low, "max": high}


def _pattern(chance: Chance) -> dict[str, Any]:
    least = chance.randrange(4)
    counted = chance.choice([f"{{{least},{least + chance.randrange(1, 6)}}}", f"{{{least},}}", "+"])
    kind = chance.choice(["column_values_match", "column_values_not_match"])
    match = chance.choice(["full", "full", "full", "full", "search"])
    return {"type": kind, "columns": "t", "pattern": f"[a-z]{counted}", "match": match}


def _set(chance: Chance) -> dict[str, Any]:
    kind = chance.choice(["column_values_not_in_set", "column_values_in_set"])
    values = chance.sample(["a", "ab", "abc", "ABC", "-", "12"], 2)
    return {"type": kind, "columns": "t", "values": values, "ignore_case": chance.random() < 0.3}


def _condition(chance: Chance) -> dict[str, Any]:
    column, constants = chance.choice(
        [
            ("n", ["1", "5", "-1", "3000000000", "0.5", "1.25"]),
            ("d", ["1", "5", "0.1", "1.25", "0.50"]),
            ("money", ["1", "5", "-1", "0.5", "1.25", "9999999999"]),
            ("day", ["DATE'2024-01-01'", "DATE'2024-02-29'", "DATE'0001-01-02'"]),
        ]
    )
    operator, constant = chance.choice(["<", "<=", ">", ">="]), chance.choice(constants)
    sides = (column, constant) if chance.random() < 0.7 else (constant, column)
    null_is = chance.choice(["fail", "pass"])
    return {"type": "row_dq", "expectation": f" {operator} ".join(sides), "null_is": null_is}


KINDS: list[Callable[[Chance], dict[str, Any]]] = [
    _range,
    _lengths,
    _pattern,
    _pattern,
    _set,
    _condition,
]


def _faults(chance: Chance) -> list[Fault]:
    """Of rules that are alike, so that many of them can be said in one."""
    some = [
        one(chance) for one in chance.sample(KINDS, chance.choice([1, 1, 2])) for _ in range(40)
    ]
    kind = chance.choice([some[0]["type"], None])
    alike = [declared for declared in some if kind in {declared["type"], None}]
    found: list[Fault] = []
    for n, declared in enumerate(chance.sample(alike, chance.randrange(2, 8))):
        if chance.random() < 0.1:
            declared["where"] = "n > 0"
        [rule] = dq.RuleSet(asset="a", rules=[{"name": f"r{n}", **declared}]).rules
        found.extend(rule.faults())
    return found


def test_a_row_has_any_of_these_if_it_has_any_of_those(spark: SparkSession) -> None:
    chance = random.Random(7)
    rows = [
        (
            chance.choice(TEXTS),
            chance.choice(NUMBERS),
            chance.choice(DOUBLES),
            chance.choice([None, Decimal("-1.00"), Decimal("0.50"), Decimal("1.25"), Decimal(7)]),
            chance.choice(DAYS),
        )
        for _ in range(300)
    ]
    schema = "t STRING, n BIGINT, d DOUBLE, money DECIMAL(12, 2), day DATE"
    frame = spark.createDataFrame(rows, schema).coalesce(1)
    table = JudgedTable.of(frame)
    every = [_faults(chance) for _ in range(SETS)]
    columns = []
    for n, faults in enumerate(every):
        plain, fewer = (
            " OR ".join(fault_sql(fault, table) for fault in some)
            for some in (faults, united(faults))
        )
        columns.append(f"count_if(({plain}) <> ({fewer})) AS differ_{n}")
        columns.append(f"count_if({plain}) AS bad_{n}")
    [found] = frame.selectExpr(*columns).collect()
    assert {
        name: count for name, count in found.asDict().items() if "differ" in name and count
    } == {}
    bad = [found[f"bad_{n}"] for n in range(SETS)]
    assert sum(0 < count < len(rows) for count in bad) > SETS / 2
    assert sum(len(united(faults)) < len(faults) for faults in every) > SETS / 3
