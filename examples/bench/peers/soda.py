"""Soda (version 3): one scan, which puts most checks into one query for each day and the table.

Days are its dataset filters. Medians are its expressions, and the most frequent value is a query;
it has no check on the number of columns.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Sequence
from typing import Any

import yaml
from pyspark.sql import DataFrame

from examples.bench.data import COUNTRIES, CURRENCIES, STATUSES
from examples.bench.peers.peer import Answer, Answers, AnswersByDay, Peer
from examples.bench.suites import NOT_EMPTY

_VIEW = "bench_orders"
# Whether another country is the most frequent one. A metric of the user's own has one definition
# in a scan: {own} tells the days apart.
_TOP = (
    "SELECT count_if(country <> 'DE') FROM (SELECT country, count(*) AS n FROM {table} "
    "WHERE country IS NOT NULL AND {rows} GROUP BY country ORDER BY n DESC LIMIT 1)"
)
# Rows that break a check are not looked up, since ours does not either.
_NO_SAMPLES = {"samples limit": 0}


def _valid(column: str, **how: Any) -> tuple[str, dict[str, Any]]:
    valid = {f"valid {key}": value for key, value in how.items()}
    return f"invalid_count({column}) = 0", {**valid, **_NO_SAMPLES}


def _own(metric: str, low: float, high: float, expression: str) -> tuple[str, dict[str, Any]]:
    metric += "{own}"
    return f"{metric} between {low} and {high}", {f"{metric} expression": expression}


# By rule: its check, and what is written below that.
SAYS: dict[str, tuple[str, dict[str, Any]]] = {
    **{f"{column}_given": (f"missing_count({column}) = 0", _NO_SAMPLES) for column in NOT_EMPTY},
    "quantity_min": ("min(quantity) >= 1", {}),
    "quantity_max": ("max(quantity) <= 50", {}),
    "amount_avg": ("avg(amount) between 20000 and 30000", {}),
    "amount_sum": ("sum(amount) >= 1", {}),
    "unit_price_avg": ("avg(unit_price) between 1 and 150", {}),
    "unit_price_stddev": _own("price_stddev", 1, 150, "stddev(unit_price)"),
    "weight_max": ("max(weight) <= 101", {}),
    "country_known": _valid("country", values=COUNTRIES.split()),
    "currency_known": _valid("currency", values=CURRENCIES.split()),
    "status_known": _valid("status", values=STATUSES.split()),
    "discount_range": _valid("discount", min=0, max=0.5),
    "quantity_range": _valid("quantity", min=1, max=50),
    "tax_rate_range": _valid("tax_rate", min=0, max=0.25),
    "currency_form": _valid("currency", regex="^[A-Z]{3}$"),
    "phone_form": _valid("phone", regex=r"^\+\d{2} \d{8}$"),
    "rows": ("row_count >= 1", {}),
    "order_id_unique": ("duplicate_count(order_id) = 0", _NO_SAMPLES),
    "payment_unique": ("duplicate_count(payment) = 0", _NO_SAMPLES),
    "weight_median": _own("weight_middle", 45, 55, "percentile(weight, 0.5)"),
    "amount_median": _own("amount_middle", 20_000, 30_000, "percentile(amount, 0.5)"),
    "country_top": ("country_first{own} = 0", {"country_first{own} query": _TOP}),
}
# It counts values that repeat, where ours counts their rows.
_NOT_COUNTED_ALIKE = {"order_id_unique", "payment_unique", "country_top"}


def _whole(frame: DataFrame) -> Callable[[], Answers]:
    days = _by_day(frame, ())
    return lambda: days()[None]


def _by_day(frame: DataFrame, days: Sequence[str]) -> Callable[[], AnswersByDay]:
    scanning: Any = importlib.import_module("soda.scan")
    logging.getLogger("soda").setLevel(logging.CRITICAL)
    frame.createOrReplaceTempView(_VIEW)
    text = yaml.safe_dump(sodacl(days), sort_keys=False, width=10_000)

    def run() -> AnswersByDay:
        scan = scanning.Scan()
        scan.disable_telemetry()
        scan.set_data_source_name("spark_df")
        scan.add_spark_session(frame.sparkSession, "spark_df")
        scan.add_sodacl_yaml_str(text)
        scan.execute()
        if errors := scan.get_error_logs_text():
            raise RuntimeError(errors)
        return _answers(scan, days)

    return run


def sodacl(days: Sequence[str]) -> dict[str, Any]:
    """The checks of the whole table and of each day, in the words of its language."""
    filters = {f"filter {_VIEW} [{_own_name(day)}]": {"where": _rows(day)} for day in days}
    by_day = {f"checks for {_VIEW} [{_own_name(day)}]": _checks(day) for day in days}
    return {**filters, f"checks for {_VIEW}": _checks(None), **by_day}


def _own_name(day: str) -> str:
    """What starts with a letter, and has neither spaces nor hyphens."""
    return f"on_{day.replace('-', '_')}"


def _rows(day: str | None) -> str:
    return "TRUE" if day is None else f"day = DATE'{day}'"


def _checks(day: str | None) -> list[dict[str, Any]]:
    own = "" if day is None else f"_{_own_name(day)}"

    def put(text: Any) -> Any:
        if not isinstance(text, str):
            return text
        return text.replace("{own}", own).replace("{table}", _VIEW).replace("{rows}", _rows(day))

    return [
        {
            put(line): {
                "name": _name(rule, day),
                **{put(key): put(is_) for key, is_ in below.items()},
            }
        }
        for rule, (line, below) in SAYS.items()
    ]


def _name(rule: str, day: str | None) -> str:
    return rule if day is None else f"{rule} on {day}"


def _answers(scan: Any, days: Sequence[str]) -> AnswersByDay:
    checks = {check.name: check for check in scan._checks}  # noqa: SLF001 (what reports are made of)
    return {
        day: {rule: _answer(rule, checks[_name(rule, day)]) for rule in SAYS}
        for day in (*days, None)
    }


def _answer(rule: str, check: Any) -> Answer:
    number = None if rule in _NOT_COUNTED_ALIKE else check.check_value
    return Answer(str(check.outcome.value) == "pass", number)


SODA = Peer("soda-core-spark-df", "soda.scan", SAYS, _whole, _by_day, own=("antlr4",))
