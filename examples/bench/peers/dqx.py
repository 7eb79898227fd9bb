"""DQX: checks that mark rows, and counts of marks by check, which its observer takes on the way.

Days one by one: its aggregates know groups, but then each of them sorts all rows by day. It has no
check on the number of columns.
"""

from __future__ import annotations

import importlib
import json
import logging
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import MagicMock

from pyspark.sql import DataFrame

from examples.bench.data import COUNTRIES, CURRENCIES, STATUSES
from examples.bench.peers.peer import Answer, Answers, Peer, one_by_one
from examples.bench.suites import NOT_EMPTY

_Checks = list[tuple[str, dict[str, Any]]]
_TOP = (
    "SELECT count_if(country <> 'DE') > 0 AS condition FROM (SELECT country, count(*) AS n "
    "FROM {{ input_view }} WHERE country IS NOT NULL GROUP BY country ORDER BY n DESC LIMIT 1)"
)


def _rows(function: str, column: str, **how: Any) -> _Checks:
    return [(function, {"column": column, **how})]


def _in_list(column: str, words: str) -> _Checks:
    # Without quotes a word is the name of a column.
    return _rows("is_in_list", column, allowed=[f"'{word}'" for word in words.split()])


def _aggregate(
    kind: str, column: str, low: float | None, high: float | None = None, **how: Any
) -> _Checks:
    """It compares with one limit at a time."""
    limits = {"is_aggr_not_less_than": low, "is_aggr_not_greater_than": high}
    return [
        (function, {"column": column, "aggr_type": kind, "limit": limit, **how})
        for function, limit in limits.items()
        if limit is not None
    ]


_MIDDLE: dict[str, Any] = {"aggr_params": {"percentile": 0.5}}
# By rule: functions of checks, with their arguments; none of them may find anything.
SAYS: dict[str, _Checks] = {
    **{f"{column}_given": _rows("is_not_null", column) for column in NOT_EMPTY},
    "quantity_min": _aggregate("min", "quantity", 1),
    "quantity_max": _aggregate("max", "quantity", None, 50),
    "amount_avg": _aggregate("avg", "amount", 20_000, 30_000),
    "amount_sum": _aggregate("sum", "amount", 1),
    "unit_price_avg": _aggregate("avg", "unit_price", 1, 150),
    "unit_price_stddev": _aggregate("stddev", "unit_price", 1, 150),
    "weight_max": _aggregate("max", "weight", None, 101),
    "country_known": _in_list("country", COUNTRIES),
    "currency_known": _in_list("currency", CURRENCIES),
    "status_known": _in_list("status", STATUSES),
    "discount_range": _rows("is_in_range", "discount", min_limit=0, max_limit=0.5),
    "quantity_range": _rows("is_in_range", "quantity", min_limit=1, max_limit=50),
    "tax_rate_range": _rows("is_in_range", "tax_rate", min_limit=0, max_limit=0.25),
    "currency_form": _rows("regex_match", "currency", regex="^[A-Z]{3}$"),
    "phone_form": _rows("regex_match", "phone", regex=r"^\+\d{2} \d{8}$"),
    "rows": _aggregate("count", "*", 1),
    "order_id_unique": [("is_unique", {"columns": ["order_id"]})],
    "payment_unique": [("is_unique", {"columns": ["payment"]})],
    "weight_median": _aggregate("percentile", "weight", 45, 55, **_MIDDLE),
    "amount_median": _aggregate("percentile", "amount", 20_000, 30_000, **_MIDDLE),
    "country_top": [("sql_query", {"query": _TOP})],
}
# Of all others it marks every row, or none.
_COUNTED_ALIKE = {"is_not_null", "is_in_list", "is_in_range", "regex_match", "is_unique"}


def _metadata() -> list[dict[str, Any]]:
    return [
        {
            "name": f"{name} {n}",
            "criticality": "error",
            "check": {"function": function, "arguments": arguments},
        }
        for name, checks in SAYS.items()
        for n, (function, arguments) in enumerate(checks)
    ]


def _whole(frame: DataFrame) -> Callable[[], Answers]:
    engines: Any = importlib.import_module("databricks.labs.dqx.engine")
    observers: Any = importlib.import_module("databricks.labs.dqx.metrics_observer")
    client: Any = importlib.import_module("databricks.sdk").WorkspaceClient
    logging.getLogger("databricks").setLevel(logging.ERROR)
    # Without a workspace, as its documentation has it for local runs.
    workspace = MagicMock(spec=client, **{"catalogs.list.return_value": []})

    def run() -> Answers:
        engine = engines.DQEngine(
            workspace, frame.sparkSession, observer=observers.DQMetricsObserver()
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            marked, seen = engine.apply_checks_by_metadata(frame, _metadata())
        marked.count()
        metrics = json.loads(seen.get["check_metrics"])
        return _answers({one["check_name"]: one["error_count"] for one in metrics})

    return run


def _answers(marked: dict[str, int]) -> Answers:
    return {
        name: _answer([(function, marked[f"{name} {n}"]) for n, (function, _) in enumerate(checks)])
        for name, checks in SAYS.items()
    }


def _answer(counts: list[tuple[str, int]]) -> Answer:
    passed = not any(count for _, count in counts)
    [(function, count), *more] = counts
    return Answer(passed, count if function in _COUNTED_ALIKE and not more else None)


DQX = Peer(
    "databricks-labs-dqx", "databricks.labs.dqx.engine", SAYS, _whole, partial(one_by_one, _whole)
)
