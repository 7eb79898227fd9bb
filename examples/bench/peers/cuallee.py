"""cuallee: checks of a frame in two queries; days one by one, since it knows frames only.

It compares aggregates with one exact value, so ranges of averages, sums and medians are not among
what it can say. Its ranges count NULL as a fault; ``satisfies`` says that it is none.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from pyspark.sql import DataFrame

from examples.bench.data import COUNTRIES, CURRENCIES, STATUSES
from examples.bench.peers.peer import Answer, Answers, Peer, one_by_one
from examples.bench.suites import NOT_EMPTY


def _or_null(column: str, holds: str) -> tuple[str, str, str]:
    return "satisfies", column, f"{column} IS NULL OR {column} {holds}"


# By rule: the name of its check, and what that is given.
SAYS: dict[str, tuple[Any, ...]] = {
    **{f"{column}_given": ("is_complete", column) for column in NOT_EMPTY},
    "quantity_min": ("is_greater_or_equal_than", "quantity", 1),
    "quantity_max": ("is_less_or_equal_than", "quantity", 50),
    "weight_max": _or_null("weight", "<= 101"),
    "country_known": _or_null("country", f"IN {tuple(COUNTRIES.split())}"),
    "currency_known": _or_null("currency", f"IN {tuple(CURRENCIES.split())}"),
    "status_known": _or_null("status", f"IN {tuple(STATUSES.split())}"),
    "discount_range": _or_null("discount", "BETWEEN 0 AND 0.5"),
    "quantity_range": ("is_between", "quantity", (1, 50)),
    "tax_rate_range": ("is_between", "tax_rate", (0.0, 0.25)),
    "currency_form": _or_null("currency", "RLIKE '^[A-Z]{3}$'"),
    "phone_form": ("has_pattern", "phone", r"^\+\d{2} \d{8}$"),
    "order_id_unique": ("is_unique", "order_id"),
    "payment_unique": ("is_unique", "payment"),
}
# What it counts is not what ours counts: rows beyond the first of each value, and rows where ours
# has an extreme.
_NOT_COUNTED_ALIKE = {"quantity_min", "quantity_max", "weight_max"}


def _whole(frame: DataFrame) -> Callable[[], Answers]:
    tool: Any = importlib.import_module("cuallee")

    def run() -> Answers:
        check = tool.Check(tool.CheckLevel.WARNING, "bench")
        for method, *arguments in SAYS.values():
            getattr(check, method)(*arguments)
        check.validate(frame)
        return {name: _answer(name, rule) for name, rule in zip(SAYS, check.rules, strict=True)}

    return run


def _answer(name: str, rule: Any) -> Answer:
    alike = name not in _NOT_COUNTED_ALIKE and not name.endswith("_unique")
    return Answer(rule.status == "PASS", rule.violations if alike else None)


CUALLEE = Peer("cuallee", "cuallee", SAYS, _whole, partial(one_by_one, _whole))
