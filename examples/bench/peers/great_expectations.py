"""Great Expectations: a suite of expectations, run on each day after the other and on the table.

It answers whether each expectation holds and no more, which saves it further queries.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from functools import partial
from typing import Any

from pyspark.sql import DataFrame

from examples.bench.data import COLUMNS, COUNTRIES, CURRENCIES, STATUSES
from examples.bench.peers.peer import Answer, Answers, Peer, one_by_one
from examples.bench.suites import NOT_EMPTY


def _column(kind: str, column: str, **how: Any) -> tuple[str, dict[str, Any]]:
    return f"ExpectColumn{kind}", {"column": column, **how}


def _between(kind: str, column: str, low: float | None, high: float | None) -> Any:
    return _column(f"{kind}ToBeBetween", column, min_value=low, max_value=high)


_WIDTH = len(COLUMNS) + 1
# By rule: the class of its expectation, and the arguments.
SAYS: dict[str, tuple[str, dict[str, Any]]] = {
    **{f"{column}_given": _column("ValuesToNotBeNull", column) for column in NOT_EMPTY},
    "quantity_min": _between("Min", "quantity", 1, None),
    "quantity_max": _between("Max", "quantity", None, 50),
    "amount_avg": _between("Mean", "amount", 20_000, 30_000),
    "amount_sum": _between("Sum", "amount", 1, None),
    "unit_price_avg": _between("Mean", "unit_price", 1, 150),
    "unit_price_stddev": _between("Stdev", "unit_price", 1, 150),
    "weight_max": _between("Max", "weight", None, 101),
    "country_known": _column("ValuesToBeInSet", "country", value_set=COUNTRIES.split()),
    "currency_known": _column("ValuesToBeInSet", "currency", value_set=CURRENCIES.split()),
    "status_known": _column("ValuesToBeInSet", "status", value_set=STATUSES.split()),
    "discount_range": _between("Values", "discount", 0, 0.5),
    "quantity_range": _between("Values", "quantity", 1, 50),
    "tax_rate_range": _between("Values", "tax_rate", 0, 0.25),
    "currency_form": _column("ValuesToMatchRegex", "currency", regex="^[A-Z]{3}$"),
    "phone_form": _column("ValuesToMatchRegex", "phone", regex=r"^\+\d{2} \d{8}$"),
    "rows": ("ExpectTableRowCountToBeBetween", {"min_value": 1}),
    "columns": ("ExpectTableColumnCountToEqual", {"value": _WIDTH}),
    "order_id_unique": _column("ValuesToBeUnique", "order_id"),
    "payment_unique": _column("ValuesToBeUnique", "payment"),
    "weight_median": _between("Median", "weight", 45, 55),
    "amount_median": _between("Median", "amount", 20_000, 30_000),
    "country_top": _column("MostCommonValueToBeInSet", "country", value_set=["DE"]),
}


def _whole(frame: DataFrame) -> Callable[[], Answers]:
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    tool: Any = importlib.import_module("great_expectations")
    context = tool.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False, "metric_calculations": False}
    # By default it caches the rows, also for whoever comes after it; files are faster here anyway.
    source = context.data_sources.add_spark("spark", persist=False)
    batches = source.add_dataframe_asset("orders").add_batch_definition_whole_dataframe("all")
    suite = context.suites.add(tool.ExpectationSuite("everyday", expectations=_expectations(tool)))
    validation = tool.ValidationDefinition(name="everyday", data=batches, suite=suite)

    def run() -> Answers:
        found = validation.run(
            batch_parameters={"dataframe": frame}, result_format={"result_format": "BOOLEAN_ONLY"}
        )
        return {
            one.expectation_config.meta["rule"]: Answer(bool(one.success)) for one in found.results
        }

    return run


def _expectations(tool: Any) -> list[Any]:
    return [
        getattr(tool.expectations, kind)(meta={"rule": name}, **how)
        for name, (kind, how) in SAYS.items()
    ]


GREAT_EXPECTATIONS = Peer(
    "great-expectations", "great_expectations", SAYS, _whole, partial(one_by_one, _whole)
)
