"""Change detection against NumPy, on 200 generated days, each of which is a table.

What a rule observes of a day is computed by the measures that the other oracles use; what is
typical of the days before, by NumPy.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import dq_dagster as dq
from tests.oracle import measures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DAYS = [str(date(2023, 9, 1) + timedelta(days=n)) for n in range(200)]
SCHEMA = "day string, whole bigint, real double, exact decimal(10,2), word string"
Row = tuple[str, int | None, float | None, Decimal | None, str | None]
COLUMNS = {"whole": (1, "bigint"), "real": (2, "double"), "exact": (3, "decimal(10,2)")}
# Every set of parameters is asked of every type.
PARAMETERS: list[dict[str, Any]] = [
    {},
    {"learning_period": 3, "lookback_window": 12, "iqr_factor": 1, "soft_iqr_factor": 0.5},
    {"learning_period": 20, "lookback_window": 5, "min_iqr": 1.5, "exclude_errors": True},
    {"period_unit": "days", "lookback_window": 14, "soft_iqr_factor": 1},
    {"period_unit": "days", "learning_period": 30, "lookback_window": 4, "exclude_errors": True},
]
STATISTICS: dict[str, measures.Measure] = {
    "column_min_typical": measures.minimum,
    "column_max_typical": measures.maximum,
    "column_avg_typical": measures.mean,
    "column_sum_typical": measures.total,
    "column_median_typical": measures.median,
    "column_stddev_typical": measures.deviation,
}
NOTHING, REFUSED = object(), object()


def day_rows(random: Random, day: str) -> list[Row]:
    """Mostly quiet, now and then odd: no rows, only empties, NaN, infinities, another level."""
    mood = random.choices(("quiet", "none", "empty", "odd", "loud"), (80, 4, 4, 6, 6))[0]
    size = 0 if mood == "none" else random.randint(10, 14) * (3 if mood == "loud" else 1)
    level = 40 if mood == "loud" else 1
    odd = random.choice((math.nan, math.inf, -math.inf))
    rows = []
    for number in range(size):
        real = odd if mood == "odd" and number == 3 else level * random.randint(0, 64) / 4
        values = (level * random.randint(1, 9), real, Decimal(level * random.randint(0, 500)) / 100)
        gone = mood == "empty" or random.random() < 0.1
        whole, kept, exact = (None, None, None) if gone else values
        word = None if gone else f"w{random.randint(0, 20)}"
        rows.append((day, whole, kept, exact, word))
    return rows


@dataclass(frozen=True, slots=True)
class Shop:
    days: dict[str, list[Row]]
    frame: DataFrame


@pytest.fixture(scope="module")
def shop(spark: SparkSession) -> Shop:
    random = Random(20240301)
    days = {day: day_rows(random, day) for day in DAYS}
    rows = [row for some in days.values() for row in some]
    return Shop(days, spark.createDataFrame(rows, SCHEMA).repartition(2).cache())


# --- what is observed of a day -------------------------------------------------------------------


def statistic(kind: str, column: str) -> Callable[[Sequence[Row]], Any]:
    place, spark_type = COLUMNS[column]

    def observe(rows: Sequence[Row]) -> Any:
        found = STATISTICS[kind]([row[place] for row in rows if row[place] is not None], spark_type)
        if found is None:
            return NOTHING
        if found.infinite:
            return REFUSED
        return float(found.value)

    return observe


def empties(rows: Sequence[Row]) -> Any:
    return sum(row[4] is None for row in rows) if rows else NOTHING


def uniques(rows: Sequence[Row]) -> Any:
    counts = Counter(row[4] for row in rows if row[4] is not None)
    return sum(count == 1 for count in counts.values()) if counts else NOTHING


def cases() -> list[tuple[dict[str, Any], Callable[[Sequence[Row]], Any]]]:
    plain: list[tuple[dict[str, Any], Callable[[Sequence[Row]], Any]]] = [
        ({"type": kind, "columns": [column]}, statistic(kind, column))
        for kind in STATISTICS
        for column in COLUMNS
    ]
    plain += [
        ({"type": "record_count_typical"}, len),
        ({"type": "column_count_typical"}, lambda rows: 5),
        ({"type": "column_empty_count_typical", "columns": ["word"]}, empties),
        ({"type": "column_unique_count_typical", "columns": ["word"]}, uniques),
        (
            {"type": "metric_typical", "metric": "column_sum:real"},
            statistic("column_sum_typical", "real"),
        ),
    ]
    return [
        ({**rule, **parameters, "name": f"r{number}_{which}"}, observe)
        for number, (rule, observe) in enumerate(plain)
        for which, parameters in enumerate(PARAMETERS)
    ]


# --- what is typical -----------------------------------------------------------------------------


def expected(rule: dict[str, Any], observed: Sequence[Any]) -> list[str]:
    """Day by day, each by those before it."""
    found: list[str] = []
    past: list[tuple[int, float, str]] = []
    for day, value in enumerate(observed):
        found.append(verdict(rule, value, day, past))
        if value not in (NOTHING, REFUSED) and math.isfinite(value):
            past.append((day, value, found[-1]))
    return found


def verdict(rule: dict[str, Any], value: Any, day: int, past: list[tuple[int, float, str]]) -> str:
    if value is NOTHING:
        return "Empty"
    if value is REFUSED or math.isnan(value):
        return "Error"
    errors_count = not rule.get("exclude_errors")
    points = [(at, old) for at, old, status in past if errors_count or status != "Error"]
    learning, window = rule.get("learning_period", 7), rule.get("lookback_window", 30)
    if rule.get("period_unit") == "days":
        if not points or day - points[0][0] < learning:
            return "Empty"
        values = [old for at, old in points if day - at < window]
        if len(values) < 3:
            return "Warning"
    else:
        if len(points) < learning:
            return "Empty"
        values = [old for _, old in points[-window:]]
    return place(rule, value, values)


def place(rule: dict[str, Any], value: float, values: Sequence[float]) -> str:
    q1, q3 = np.percentile(values, [25, 75])
    iqr = max(q3 - q1, rule.get("min_iqr", 0))
    beyond = max(q1 - value, value - q3)
    # Rounding of doubles is nobody's fault.
    slack = 1e-9 * max(1.0, abs(q1), abs(q3))
    if beyond > rule.get("iqr_factor", 1.5) * iqr + slack:
        return "Error"
    soft = rule.get("soft_iqr_factor")
    return "Warning" if soft is not None and beyond > soft * iqr + slack else "Ok"


# --- comparing -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def outcomes(shop: Shop) -> dict[str, list[dq.Outcome]]:
    rules = [rule for rule, _ in cases()]
    evaluation = dq.evaluate(shop.frame, rules, partition_by="day", partitions=DAYS)
    found: dict[str, list[dq.Outcome]] = {}
    for outcome in evaluation:
        found.setdefault(outcome.rule.name, []).append(outcome)
    return found


def test_every_type_says_what_numpy_says(shop: Shop, outcomes: dict[str, list[dq.Outcome]]) -> None:
    wrong = []
    for rule, observe in cases():
        observed = [observe(shop.days[day]) for day in DAYS]
        for outcome, value, status in zip(
            outcomes[rule["name"]], observed, expected(rule, observed), strict=True
        ):
            if str(outcome.status) != status or not same(outcome.observed, value):
                wrong.append(f"{rule} {outcome.partition}: not {status} {value}: {outcome.message}")
    assert not wrong, f"{len(wrong)} outcomes differ:\n" + "\n".join(wrong[:5])


def same(observed: Any, right: Any) -> bool:
    if right in (NOTHING, REFUSED) or observed is None:
        return observed is None and right in (NOTHING, REFUSED)
    return float(observed) == pytest.approx(right, rel=1e-9, abs=1e-9, nan_ok=True)


def test_the_days_lead_to_every_verdict(shop: Shop) -> None:
    seen: dict[str, set[str]] = {}
    for rule, observe in cases():
        observed = [observe(shop.days[day]) for day in DAYS]
        seen.setdefault(rule["type"], set()).update(expected(rule, observed))
    assert seen.pop("column_count_typical") == {"Empty", "Ok"}
    assert all(found == {"Empty", "Ok", "Warning", "Error"} for found in seen.values()), seen
