"""The rules that are measured."""

from __future__ import annotations

import dq_dagster as dq
from examples.bench.data import COLUMNS


def mixed_rules(count: int) -> list[dq.Rule]:
    """That many different rules over all columns: ranges, sets, lengths, statistics, SQL."""
    return [_rule(n) for n in range(count)]


def _rule(n: int) -> dq.Rule:
    column = f"c{n % COLUMNS}"
    bound = n // COLUMNS
    name = f"rule_{n}"
    if column in {"c3", "c7", "c11", "c15", "c19"}:
        if bound % 2:
            return dq.ColumnValueLengthsInRange(name=name, columns=column, min=1, max=90 + bound)
        return dq.ColumnValuesNotInSet(name=name, columns=column, values=[f"none-{bound}"])
    if bound % 5 == 0:
        return dq.ColumnAvgInRange(name=name, columns=column, max=10_000 + bound)
    if bound % 5 == 1:
        return dq.RowExpectation(
            name=name, expectation=f"{column} < {2_000 + bound}", null_is="pass"
        )
    return dq.ColumnValuesInRange(name=name, columns=column, min=-bound, max=2_000 + bound)
