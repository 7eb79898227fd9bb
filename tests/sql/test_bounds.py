"""Conditions that only bound a column, and which of two is the tighter one."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from dq_dagster.sql.bounds import ColumnBound, column_bound


@pytest.mark.parametrize(
    ("sql", "bound"),
    [
        ("amount < 100", ColumnBound("amount", "<", "int", Decimal(100))),
        ("amount>=-5", ColumnBound("amount", ">=", "int", Decimal(-5))),
        ("100 >= amount", ColumnBound("amount", "<=", "int", Decimal(100))),
        ("-1 < amount", ColumnBound("amount", ">", "int", Decimal(-1))),
        ("`a b` <= 2147483648", ColumnBound("`a b`", "<=", "bigint", Decimal(2**31))),
        ("amount < 0.50", ColumnBound("amount", "<", "decimal(2, 2)", Decimal("0.50"))),
        ("amount < 10.5", ColumnBound("amount", "<", "decimal(3, 1)", Decimal("10.5"))),
        ("day < DATE'2024-02-29'", ColumnBound("day", "<", "date", date(2024, 2, 29))),
    ],
)
def test_a_column_and_a_constant_are_a_bound(sql: str, bound: ColumnBound) -> None:
    assert column_bound(sql) == bound


@pytest.mark.parametrize(
    "sql",
    [
        "amount = 100",
        "amount <> 100",
        "amount <=> 100",
        "amount < 100 AND amount > 3",
        "amount < 100 OR true",
        "NOT amount < 100",
        "amount + 1 < 100",
        "amount < price",
        "1 < 2",
        "a.b < 100",
        "(amount) < 100",
        "amount < (100)",
        "amount < 10 + 1",
        "amount < - - 1",
        "amount < 1e3",
        "amount < 1.5D",
        "amount < 100L",
        "amount < 9223372036854775808",
        "amount < '100'",
        "amount < NULL",
        "day < DATE'2024-02-30'",
        "day < DATE'2024'",
        "day < TIMESTAMP'2024-02-01'",
        "day < X'00'",
        "abs(amount) < 100",
        "amount < 100 -- more",
        "1 < amount < 3",
        "< 3",
        "",
    ],
)
def test_whatever_else_there_is_makes_it_none(sql: str) -> None:
    assert column_bound(sql) is None


@pytest.mark.parametrize(
    ("tight", "loose"),
    [
        ("x < 5", "x < 6"),
        ("x <= 5", "x <= 5"),
        ("x > 6", "x > 5"),
        ("5 <= x", "-5 <= x"),
        ("x < 0.10", "x < 0.11"),
        ("x >= DATE'2024-02-01'", "x >= DATE'2023-12-31'"),
    ],
)
def test_the_tighter_bound_implies_the_other(tight: str, loose: str) -> None:
    one, other = column_bound(tight), column_bound(loose)
    assert one is not None
    assert other is not None
    assert one.is_as_tight_as(other)
    assert other.is_as_tight_as(one) is (one == other)
