"""The rules that are measured."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import dq_dagster as dq
from examples.bench.data import (
    COLUMNS,
    COUNTRIES,
    CURRENCIES,
    NUMBERS,
    STATUSES,
    TEXTS,
)

# Suite A: thirty everyday rules, apart by what they take: one pass over the rows, or more.
NOT_EMPTY = "order_id customer_id payment country currency status email ordered_at".split()
IN_ONE_PASS: tuple[dq.Rule, ...] = (
    *(dq.ColumnNotEmpty(name=f"{column}_given", columns=column) for column in NOT_EMPTY),
    dq.ColumnMinInRange(name="quantity_min", columns="quantity", min=1),
    dq.ColumnMaxInRange(name="quantity_max", columns="quantity", max=50),
    dq.ColumnAvgInRange(name="amount_avg", columns="amount", min=20_000, max=30_000),
    dq.ColumnSumInRange(name="amount_sum", columns="amount", min=1),
    dq.ColumnAvgInRange(name="unit_price_avg", columns="unit_price", min=1, max=150),
    dq.ColumnStddevInRange(name="unit_price_stddev", columns="unit_price", min=1, max=150),
    dq.ColumnMaxInRange(name="weight_max", columns="weight", max=101),
    dq.ColumnValuesInSet(name="country_known", columns="country", values=COUNTRIES.split()),
    dq.ColumnValuesInSet(name="currency_known", columns="currency", values=CURRENCIES.split()),
    dq.ColumnValuesInSet(name="status_known", columns="status", values=STATUSES.split()),
    dq.ColumnValuesInRange(name="discount_range", columns="discount", min=0, max=0.5),
    dq.ColumnValuesInRange(name="quantity_range", columns="quantity", min=1, max=50),
    dq.ColumnValuesInRange(name="tax_rate_range", columns="tax_rate", min=0, max=0.25),
    dq.ColumnValuesMatch(name="currency_form", columns="currency", pattern="[A-Z]{3}"),
    dq.ColumnValuesMatch(name="phone_form", columns="phone", pattern=r"\+\d{2} \d{8}"),
    dq.RecordCountInRange(name="rows", min=1),
    dq.ColumnCountInRange(name="columns", min=len(COLUMNS) + 1, max=len(COLUMNS) + 1),
)
IN_SEVERAL_PASSES: tuple[dq.Rule, ...] = (
    dq.ColumnUnique(name="order_id_unique", columns="order_id"),
    dq.ColumnUnique(name="payment_unique", columns="payment"),
    dq.ColumnMedianInRange(name="weight_median", columns="weight", min=45, max=55),
    dq.ColumnMedianInRange(name="amount_median", columns="amount", min=20_000, max=30_000),
    dq.ColumnMostFrequentInSet(name="country_top", columns="country", values=["DE"]),
)
EVERYDAY = IN_ONE_PASS + IN_SEVERAL_PASSES
_ESTIMATED = (dq.ColumnUnique, dq.ColumnMedianInRange, dq.ColumnMostFrequentInSet)
APPROXIMATE = tuple(
    rule.model_copy(update={"approximate": True}) if isinstance(rule, _ESTIMATED) else rule
    for rule in EVERYDAY
)
# Suite I: those that states of partitions answer; the columns have to be read each time.
FROM_STATES = tuple(rule for rule in IN_ONE_PASS if rule.name != "columns")


def scoped(rules: Sequence[dq.Rule], scope: str) -> tuple[dq.Rule, ...]:
    """The same rules on partitions, on the whole dataset, or on both."""
    return tuple(rule.model_copy(update={"scope": scope}) for rule in rules)


def many_rules(count: int) -> list[dq.Rule]:
    """Suite W: that many different rules over all columns, of all kinds that take one pass."""
    columns = list(COLUMNS)
    return [_rule(n, columns[n % len(columns)], n // len(columns)) for n in range(count)]


def broken_rules(count: int) -> list[dq.Rule]:
    """As many, about the same columns, and most of them broken by some rows or by all."""
    return [_broken(rule, n // len(COLUMNS)) for n, rule in enumerate(many_rules(count))]


def _broken(rule: dq.Rule, turn: int) -> dq.Rule:
    if isinstance(rule, dq.ColumnValuesInRange) and rule.columns[0] in NUMBERS:
        return rule.model_copy(update={"min": turn})
    if isinstance(rule, dq.ColumnValueLengthsInRange):
        return rule.model_copy(update={"max": 4 + turn})
    return rule


def _rule(n: int, column: str, turn: int) -> dq.Rule:
    name = f"rule_{n}"
    if column in TEXTS:
        if turn % 2:
            return dq.ColumnValueLengthsInRange(name=name, columns=column, min=1, max=90 + turn)
        return dq.ColumnValuesNotInSet(name=name, columns=column, values=[f"none-{turn}"])
    if column in NUMBERS:
        return _rule_on_number(name, column, turn)
    if turn == 0:
        return dq.ColumnMaxInRange(name=name, columns=column, max=date(2024, 4, 1))
    return dq.ColumnValuesInRange(name=name, columns=column, min=date(2024 - turn, 1, 1))


def _rule_on_number(name: str, column: str, turn: int) -> dq.Rule:
    highest = (10**15 if column == "order_id" else 10**9) + turn
    match turn % 5:
        case 0:
            return dq.ColumnAvgInRange(name=name, columns=column, max=highest)
        case 1:
            text = f"{column} < {highest}"
            return dq.RowExpectation(name=name, expectation=text, null_is="pass")
        case _:
            return dq.ColumnValuesInRange(name=name, columns=column, min=-turn, max=highest)
