"""Bounds that are not within the range themselves, on every rule with an expected range."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.judging.ranges import AgeRange, Range, SizeRange
from dq_dagster.rules.catalogue import BUILT_IN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RANGED = [rule for rule in BUILT_IN if {"min", "max"} <= set(rule.model_fields)]


def test_every_expected_range_takes_it() -> None:
    definitions = dq.json_schema()["$defs"]
    assert len(RANGED) == 14
    for rule in RANGED:
        kind = rule.model_fields["type"].default
        assert "exclusive" in rule.model_fields, kind
        forms = definitions[kind]["properties"]["exclusive"]["anyOf"]
        assert forms[0]["enum"] == ["min", "max", "both"]


JUDGED: list[tuple[Range, Any, str, str]] = [
    (Range(min=0, exclusive="min"), 0, "Error", "It is 0, which is not more than 0."),
    (Range(min=0, exclusive="min"), -1, "Error", "It is -1, below the minimum of 0."),
    (Range(min=0, exclusive="min"), 1, "Ok", "It is 1, as expected (more than 0)."),
    (Range(min=0, max=9, exclusive="max"), 0, "Ok",
     "It is 0, as expected (at least 0 and less than 9)."),
    (Range(min=0, max=9, exclusive="max"), 9.0, "Error", "It is 9, which is not less than 9."),
    (Range(min=0, max=9, exclusive="both"), Decimal("0.00"), "Error",
     "It is 0.00, which is not more than 0."),
    (Range(min=0, soft_min=2, exclusive="min"), 2, "Ok",
     "It is 2, as expected (more than 0, ideally at least 2)."),
    (Range(min=0, soft_min=2, exclusive="min"), 1, "Warning",
     "It is 1, below the soft minimum of 2."),
    (Range(max=0.1, exclusive="max"), Decimal("0.1"), "Error",
     "It is 0.1, which is not less than 0.1."),
    (Range(max="2024-01-31", exclusive="max"), datetime(2024, 1, 31, tzinfo=UTC), "Error",
     "It is 2024-01-31 00:00:00+00:00, which is not less than 2024-01-31."),
    (AgeRange(max=3600, exclusive="max"), Decimal(3600), "Error",
     "It is 1 hour old, which is not less than 1 hour."),
    (AgeRange(max=3600, exclusive="max"), Decimal("3599.5"), "Ok",
     "It is 59 minutes 59 seconds old, as expected (less than 1 hour)."),
    (SizeRange(min=0, exclusive="min"), 0, "Error",
     "It is 0 bytes, which is not more than 0 bytes."),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "value", "status", "message"), JUDGED)
def test_a_value_at_the_bound(expected: Range, value: Any, status: str, message: str) -> None:
    judgement = expected.judge(value, what="It")
    assert (judgement.status, judgement.message) == (status, message)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"max": 3, "exclusive": "min"}, "'exclusive: min' needs 'min'"),
        ({"max": 3, "exclusive": "both"}, "'exclusive: both' needs 'min'"),
        ({"soft_min": 3, "exclusive": "both"}, "'exclusive: both' needs 'min' and 'max'"),
        ({"min": 3, "max": 3.0, "exclusive": "max"}, "no value is between 3 and 3.0"),
        ({"min": 3, "exclusive": True}, "'min', 'max' or 'both' is needed, not True"),
    ],
)
def test_what_cannot_be_exclusive(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(dq.DeclarationError) as caught:
        dq.RecordCountInRange(**fields)
    assert why in str(caught.value)


def test_values_are_counted_exactly_in_every_type(spark: SparkSession) -> None:
    data = spark.sql(
        "SELECT CAST(id AS INT) AS i, CAST(id AS DECIMAL(20, 2)) / 10 AS d, id / 10D AS f, "
        "CAST(id / 10D AS FLOAT) AS g, double(if(id = 3, 'Infinity', '1')) AS inf, "
        "DATE'2024-01-01' + CAST(id AS INT) AS day, repeat('x', CAST(id AS INT)) AS s "
        "FROM range(4)"
    )
    cases: list[tuple[dict[str, Any], int]] = [
        ({"columns": "i", "min": 0, "exclusive": "min"}, 1),
        ({"columns": "i", "min": 0, "max": 3, "exclusive": "both"}, 2),
        ({"columns": "i", "max": 2.5, "exclusive": "max"}, 1),
        ({"columns": "i", "min": 0.5, "exclusive": "min"}, 1),
        ({"columns": "d", "max": 0.3, "exclusive": "max"}, 1),
        ({"columns": "d", "min": 0.05, "exclusive": "min"}, 1),
        ({"columns": "d", "min": Decimal("0.001"), "exclusive": "min"}, 1),
        ({"columns": "f", "max": 0.3, "exclusive": "max"}, 1),
        ({"columns": "g", "max": 0.3, "exclusive": "max"}, 1),
        ({"columns": "inf", "max": 10**400, "exclusive": "max"}, 1),
        ({"columns": "inf", "min": -(10**400), "exclusive": "min"}, 0),
        ({"columns": "inf", "max": -(10**400), "exclusive": "max"}, 4),
        ({"columns": "day", "max": "2024-01-04", "exclusive": "max"}, 1),
        ({"columns": "s", "min": "", "exclusive": "min"}, 1),
    ]  # fmt: skip
    rules: list[Any] = [
        {"type": "column_values_in_range", "name": f"r{n}", **fields}
        for n, (fields, _) in enumerate(cases)
    ]
    rules.append(dq.ColumnValueLengthsInRange(name="length", columns="s", max=3, exclusive="max"))
    outcomes = list(dq.evaluate(data, rules))
    assert [o.failed_rows for o in outcomes] == [*(bad for _, bad in cases), 1]
    assert outcomes[-1].message == (
        "1 of 4 values (25 %) of 's' has a length outside the range (less than 3)."
    )
    # Two rules that differ only in this are two metrics.
    plan = dq.explain([{**rules[0], "exclusive": None, "name": "also"}, rules[0]])
    assert [m.key for m in plan.metrics if "outside" in m.key] == [
        "count_outside:i [0..]", "count_outside:i (0..]",
    ]  # fmt: skip


DIGITS: list[tuple[Range, Any, str]] = [
    (Range(max=1000), 1000.0000001, "It is 1,000.0000001, above the maximum of 1,000."),
    (Range(max=1000), Decimal("1000.00000000000000000000001"),
     "It is 1,000.00000000000000000000001, above the maximum of 1,000."),
    (Range(min=1000.0000001), 1000, "It is 1,000, below the minimum of 1,000.0000001."),
    (Range(min=Decimal("12345678901234567890.5")), 12345678901234567890,
     "It is 12,345,678,901,234,567,890, below the minimum of 12,345,678,901,234,567,890.5."),
    (Range(soft_max=0.1), 0.10000001, "It is 0.10000001, above the soft maximum of 0.1."),
    (Range(max=2_000_000), 2000000.001, "It is 2,000,000.001, above the maximum of 2,000,000."),
    (Range(min=1_000_000), 999999.6, "It is 999,999.6, below the minimum of 1,000,000."),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "value", "message"), DIGITS)
def test_value_and_bound_can_be_told_apart(expected: Range, value: Any, message: str) -> None:
    assert expected.judge(value, what="It").message == message
