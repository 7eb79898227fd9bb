"""Numbers at the edges of their types: exact, or an Error that says why not."""

from __future__ import annotations

import decimal
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from tests.oracle.cases import UNSAID, Case, judge_all, labels, rule

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WIDE = decimal.Context(prec=80)
MOST, LEAST = 2**63 - 1, -(2**63)
NINES = WIDE.create_decimal(10**38 - 1)
NEARLY = WIDE.create_decimal(10**38 - 3)
FINE = NINES.scaleb(-18, WIDE)
INF, NAN = float("inf"), float("nan")


def total(**bounds: object) -> dict[str, object]:
    return rule("column_sum_in_range", **bounds)


def mean(**bounds: object) -> dict[str, object]:
    return rule("column_avg_in_range", **bounds)


def spread(**bounds: object) -> dict[str, object]:
    return rule("column_stddev_in_range", **bounds)


def each(**bounds: object) -> dict[str, object]:
    return rule("column_values_in_range", **bounds)


def least(**bounds: object) -> dict[str, object]:
    return rule("column_min_in_range", **bounds)


def most(**bounds: object) -> dict[str, object]:
    return rule("column_max_in_range", **bounds)


def one_of(*values: object) -> dict[str, object]:
    return rule("column_values_in_set", values=list(values))


def _far_bounds() -> list[Case]:
    """Bounds that no value of the type can reach, and those that the largest just reaches."""
    values = [Decimal("99.99"), Decimal("-99.99"), None]
    bounds: list[tuple[dict[str, Any], int]] = [
        ({"max": 100}, 0),
        ({"max": Decimal("99.999")}, 0),
        ({"max": Decimal("99.99")}, 0),
        ({"max": Decimal("99.985")}, 1),
        ({"max": -100}, 2),
        ({"max": 10**30}, 0),
        ({"min": -100}, 0),
        ({"min": Decimal("-99.999")}, 0),
        ({"min": Decimal("-99.985")}, 1),
        ({"min": 100}, 2),
        ({"min": 10**30}, 2),
        ({"max": 100, "exclusive": "max"}, 0),
        ({"min": 100, "exclusive": "min"}, 2),
        ({"max": Decimal("99.99"), "exclusive": "max"}, 1),
    ]
    return [
        Case(f"far bound {one}", "decimal(4,2)", values, each(**one), "Error" if bad else "Ok", bad)
        for one, bad in bounds
    ]


CASES = [
    # Sums that no 64 bits hold.
    Case("long sum", "bigint", [MOST] * 3, total(max=3 * MOST), "Ok", 3 * MOST),
    Case("long sum above", "bigint", [MOST] * 3, total(max=3 * MOST - 1), "Error", 3 * MOST),
    Case("long sum below", "bigint", [LEAST] * 3, total(min=3 * LEAST + 1), "Error", 3 * LEAST),
    Case("long sum mixed", "bigint", [MOST, LEAST, -1, 2], total(min=0, max=0), "Ok", 0),
    Case("int sum", "int", [2**31 - 1] * 4, total(max=4 * (2**31 - 1)), "Ok", 4 * (2**31 - 1)),
    Case("tinyint sum", "tinyint", [127] * 4, total(max=508), "Ok", 508),
    # Sums that no 38 digits hold.
    Case("decimal sum", "decimal(38,0)", [NINES] * 4, total(max=4 * int(NINES)), "Ok",
         4 * int(NINES)),
    Case("decimal sum above", "decimal(38,0)", [NINES] * 4, total(max=4 * int(NINES) - 1), "Error"),
    Case("decimal sum negative", "decimal(38,18)", [FINE.copy_negate()] * 2, total(soft_min=0),
         "Warning", WIDE.multiply(FINE, Decimal(-2))),
    Case("decimal sum of smallest", "decimal(38,18)", [Decimal("1E-18")] * 3 + [FINE],
         total(min=0), "Ok", WIDE.add(FINE, Decimal("3E-18"))),
    # Means.
    Case("decimal mean", "decimal(38,0)", [NINES] * 4, mean(min=NINES, max=NINES), "Ok", NINES),
    Case("decimal mean fine", "decimal(38,18)", [FINE, FINE], mean(min=FINE, max=FINE), "Ok", FINE),
    Case("decimal mean of halves", "decimal(10,2)", [Decimal("0.01"), Decimal("0.02")],
         mean(min=Decimal("0.015"), max=Decimal("0.015")), "Ok", Decimal("0.015")),
    Case("mean is no sum over 2^63", "bigint", [MOST, MOST], mean(max=2.0**62), "Error"),
    Case("long mean between longs", "bigint", [2**62, 2**62 + 1], mean(max=2**62), "Error"),
    Case("long mean exact", "bigint", [2**62, 2**62 + 1], mean(max=2**62 + 1, min=2**62), "Ok"),
    Case("mean of tenths", "int", [0] * 9 + [1], mean(min=0.1, max=0.1), "Ok", 0.1),
    # Doubles that overflow.
    Case("1e308 sum", "double", [1e308, 1e308], total(min=0), "Error", None, "too large"),
    Case("1e308 sum negative", "double", [-1e308, -1e308], total(max=0), "Error", None),
    Case("infinite sum", "double", [INF, 1.0], total(min=0), "Ok", INF),
    Case("infinite sum above", "double", [INF, 1.0], total(max=1e300), "Error", INF),
    Case("both infinities", "double", [INF, -INF], total(min=0), "Error", NAN),
    Case("float sum leaves 32 bits", "float", [3e38, 3e38], total(min=5e38), "Ok"),
    # Deviations that doubles can not tell.
    Case("long deviation", "bigint", [2**62, 2**62 + 2], spread(max=1), "Error"),
    Case("decimal deviation", "decimal(38,0)", [NINES, NEARLY], spread(max=1), "Error"),
    Case("large offset", "double", [1e9 + n for n in range(5)], spread(min=1.58, max=1.59), "Ok"),
    Case("equal values", "bigint", [7, 7, 7], spread(max=0), "Ok", 0.0),
    Case("one value", "int", [7], spread(max=0), "Empty", None),
    # Bounds between two values that the type can hold.
    Case("scale above", "decimal(10,2)", [Decimal("0.01")], each(max=0.005), "Error", 1),
    Case("scale above, kept", "decimal(10,2)", [Decimal("0.00")], each(max=0.005), "Ok", 0),
    Case("scale below", "decimal(10,2)", [Decimal("0.01")], each(min=Decimal("0.015")), "Error"),
    Case("scale negative", "decimal(10,2)", [Decimal("-0.01")], each(min=-0.005), "Error", 1),
    Case("scale maximum", "decimal(10,2)", [Decimal("0.01")], most(max=0.005), "Error"),
    *_far_bounds(),
    Case("not a member", "decimal(10,2)", [Decimal("0.01")], one_of(0.005, 0.015), "Error", 1),
    Case("member", "decimal(10,2)", [Decimal("0.10")], one_of(0.1), "Ok", 0),
    Case("int below 1.5", "int", [1], each(min=1.5), "Error", 1),
    Case("int from 1.5", "int", [2], each(min=1.5), "Ok", 0),
    Case("int above 1.5", "int", [2], each(max=1.5), "Error", 1),
    Case("int up to 1.5", "int", [1], each(max=1.5), "Ok", 0),
    Case("int negative", "int", [-1], each(max=-1.5), "Error", 1),
    Case("int extremes", "int", [1, 2], most(max=1.5, min=-1.5), "Error", 2),
    Case("int in set of floats", "int", [2], one_of(2.0, 1.5), "Ok", 0),
    Case("int not in set", "int", [2], one_of(2.5, 10**40), "Error", 1),
    # Floating-point columns with decimal bounds.
    Case("double, Decimal", "double", [0.1, 0.2], each(min=Decimal("0.1"), max=Decimal("0.2")),
         "Ok", 0),
    Case("double, long Decimal", "double", [0.1], each(max=Decimal("0.09999999999999")), "Error"),
    Case("double extremes", "double", [0.1, 0.3], most(max=Decimal("0.3")), "Ok", 0.3),
    Case("minus zero", "double", [-0.0], each(min=0, max=0), "Ok", 0),
    Case("minus zero in set", "double", [-0.0, 0.0], one_of(0), "Ok", 0),
    Case("minus zero in large set", "double", [-0.0, 0.0], one_of(*range(20)), "Ok", 0),
    Case("NaN in set", "double", [NAN], one_of(NAN), "Ok", 0),
    Case("NaN in large set", "double", [NAN, 3.0], one_of(NAN, *range(20)), "Ok", 0),
    Case("NaN not in set", "double", [NAN], one_of(*range(20)), "Error", 1),
    Case("infinity in set", "double", [INF], one_of(INF), "Ok", 0),
    # 32-bit numbers: 0.1 means the one that is written so.
    Case("float in set", "float", [0.1], one_of(0.1), "Ok", 0),
    Case("float up to", "float", [0.1], each(min=0.1, max=0.1), "Ok", 0),
    Case("float extremes", "float", [0.1], most(min=0.1, max=0.1), "Ok"),
    Case("float of 2^53", "float", [2.0**53], most(max=2**53), "Ok"),
    Case("float above a wide bound", "float", [INF], each(max=1e39), "Error", 1),
    Case("float maximum, wide bound", "float", [INF], most(max=1e39), "Error", INF),
    Case("float within a wide bound", "float", [3e38], each(min=-1e39, max=1e39), "Ok", 0),
    # Bounds beyond every value of the type.
    *[
        Case(f"{bound} on {kind}", kind, [value], make, status, UNSAID)
        for kind, value in (("int", 5), ("bigint", MOST), ("decimal(38,0)", NINES),
                            ("decimal(38,18)", FINE), ("double", 1e300))
        for bound, make, status in (
            ("up to 10^310", each(max=10**310), "Ok"),
            ("from 10^310", each(min=10**310), "Error"),
            ("from -10^310", each(min=-(10**310)), "Ok"),
            ("up to -10^310", each(max=-(10**310)), "Error"),
            ("maximum up to 10^310", most(max=10**310), "Ok"),
            ("minimum from 10^310", least(min=10**310), "Error"),
            ("sum up to 10^310", total(max=10**310), "Ok"),
            ("up to 1e200", each(max=1e200), "Ok" if value != 1e300 else "Error"),
            ("from Decimal 1e200", each(min=Decimal("1e200")),
             "Error" if value != 1e300 else "Ok"),
            ("in set of 1e200", one_of(1e200, 10**310), "Error"),
        )
    ],
    Case("infinity above 10^310", "double", [INF], each(max=10**310), "Error", 1),
    Case("largest infinity", "double", [INF], most(max=10**310), "Error", INF),
]  # fmt: skip


@pytest.fixture(scope="module")
def outcomes(spark: SparkSession) -> dict[str, dq.Outcome]:
    return judge_all(spark, CASES)


@pytest.mark.parametrize("case", CASES, ids=labels(CASES))
def test_edges(outcomes: dict[str, dq.Outcome], case: Case) -> None:
    case.check(outcomes[case.label])


SHAPES = [
    (precision, scale)
    for precision in (1, 5, 18, 19, 24, 25, 28, 37, 38)
    for scale in sorted({0, 1, precision // 2, min(18, precision), min(20, precision), precision})
]


def test_sums_of_decimals_of_every_shape_are_exact(spark: SparkSession) -> None:
    largest = [WIDE.create_decimal(10**p - 1).scaleb(-s, WIDE) for p, s in SHAPES]
    smallest = [Decimal(1).scaleb(-s) for _, s in SHAPES]
    names = [f"d{p}_{s}" for p, s in SHAPES]
    ddl = ", ".join(f"{name} decimal({p}, {s})" for name, (p, s) in zip(names, SHAPES, strict=True))
    rows = [largest, largest, smallest, [-number for number in smallest], largest, smallest]
    frame = spark.createDataFrame([tuple(row) for row in rows], ddl)
    sums, means = dq.evaluate(frame, [{**r, "columns": names} for r in (total(min=0), mean(min=0))])
    assert (sums.status, means.status) == ("Ok", "Ok")
    for name, large, small in zip(names, largest, smallest, strict=True):
        exact = WIDE.add(WIDE.multiply(large, Decimal(3)), small)
        assert sums.observed[name] == exact, name
        back = WIDE.multiply(means.observed[name], Decimal(6))
        assert abs(WIDE.subtract(back, exact)) < Decimal("1e-35"), name


@pytest.mark.parametrize(
    "fields",
    [
        each(max=10**5000),
        one_of(10**5000),
        most(max=Decimal("1e5000")),
        each(max=Decimal("1e5000")),
        one_of(Decimal("Infinity")),
        one_of(Decimal("NaN")),
    ],
)
def test_absurd_constants_are_refused_or_answered(
    spark: SparkSession, fields: dict[str, object]
) -> None:
    frame = spark.createDataFrame([(1, 1.0, Decimal(1))], "i int, d double, e decimal(38, 18)")
    try:
        (outcome,) = dq.evaluate(frame, [{**fields, "columns": ["i", "d", "e"]}])
    except dq.DeclarationError:
        return
    assert outcome.status == ("Error" if "values" in fields else "Ok")
