"""Spark-Expectations: conditions on rows, and aggregates, each in a query; days one by one.

What it found is in its table of statistics. It has no rule on the number of columns.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from examples.bench.data import COUNTRIES, CURRENCIES, STATUSES
from examples.bench.peers.peer import Answer, Answers, Peer, one_by_one
from examples.bench.suites import NOT_EMPTY

# The columns of its rules table.
_RULE = (
    "product_id string, table_name string, rule_type string, rule string, column_name string, "
    "expectation string, action_if_failed string, tag string, description string, "
    "enable_for_source_dq_validation boolean, enable_for_target_dq_validation boolean, "
    "is_active boolean, enable_error_drop_alert boolean, error_drop_threshold int, "
    "query_dq_delimiter string, enable_querydq_custom_output boolean, priority string"
)


_TABLE, _STATISTICS = "default.dq_bench_peer", "default.dq_bench_peer_stats"
# The type of a rule, its name, its expectation, and what is done if it does not hold.
_Said: TypeAlias = tuple[str, str, str, str]


def _rows(column: str, holds: str) -> tuple[str, str]:
    return "row_dq", f"{column} IS NULL OR {column} {holds}"


def _aggregate(expression: str, holds: str) -> tuple[str, str]:
    return "agg_dq", f"{expression} {holds}"


# By rule: the type of its rule, and its expectation.
SAYS: dict[str, tuple[str, str]] = {
    **{f"{column}_given": ("row_dq", f"{column} IS NOT NULL") for column in NOT_EMPTY},
    "quantity_min": _aggregate("min(quantity)", ">= 1"),
    "quantity_max": _aggregate("max(quantity)", "<= 50"),
    "amount_avg": _aggregate("avg(amount)", "BETWEEN 20000 AND 30000"),
    "amount_sum": _aggregate("sum(amount)", ">= 1"),
    "unit_price_avg": _aggregate("avg(unit_price)", "BETWEEN 1 AND 150"),
    "unit_price_stddev": _aggregate("stddev(unit_price)", "BETWEEN 1 AND 150"),
    "weight_max": _aggregate("max(weight)", "<= 101"),
    "country_known": _rows("country", f"IN {tuple(COUNTRIES.split())}"),
    "currency_known": _rows("currency", f"IN {tuple(CURRENCIES.split())}"),
    "status_known": _rows("status", f"IN {tuple(STATUSES.split())}"),
    "discount_range": _rows("discount", "BETWEEN 0 AND 0.5"),
    "quantity_range": _rows("quantity", "BETWEEN 1 AND 50"),
    "tax_rate_range": _rows("tax_rate", "BETWEEN 0 AND 0.25"),
    "currency_form": _rows("currency", "RLIKE '^[A-Z]{3}$'"),
    "phone_form": _rows("phone", r"RLIKE '^\\+\\d{2} \\d{8}$'"),
    "rows": _aggregate("count(*)", ">= 1"),
    "order_id_unique": _aggregate("count(DISTINCT order_id)", "= count(order_id)"),
    "payment_unique": _aggregate("count(DISTINCT payment)", "= count(payment)"),
    "weight_median": _aggregate("median(weight)", "BETWEEN 45 AND 55"),
    "amount_median": _aggregate("median(amount)", "BETWEEN 20000 AND 30000"),
    "country_top": _aggregate("mode(country)", "= 'DE'"),
}


def expectation_of(rule: Any) -> str:
    """What has to hold for a row, in SQL: the same as the rule says."""
    if isinstance(rule, dq.RowExpectation):
        return f"coalesce({rule.expectation}, {str(rule.null_is == 'pass').lower()})"
    [column] = rule.columns
    match rule:
        case dq.ColumnValueLengthsInRange():
            holds = f"length({column}) BETWEEN {rule.min} AND {rule.max}"
        case dq.ColumnValuesInRange():
            holds = f"{column} BETWEEN {rule.min} AND {rule.max}"
        case dq.ColumnValuesNotInSet():
            words = ", ".join(f"'{word}'" for word in rule.values)
            holds = f"{column} NOT IN ({words})"
        case dq.ColumnValuesMatch():
            holds = f"{column} RLIKE '^(?:{rule.pattern})$'"
        case _:
            raise TypeError(f"{rule.type} has no words for others yet")
    return f"{column} IS NULL OR {holds}"


def guarded(frame: DataFrame, rules: Sequence[dq.Rule]) -> Callable[[], object]:
    """Suite G: writes the good rows and those with errors as Spark-Expectations does."""
    said = [("row_dq", one.name, expectation_of(one), one.action_if_failed) for one in rules]
    return _without_constraints(_decorated(frame, said, write=True), frame.sparkSession)


def _without_constraints(build: Callable[[], object], spark: SparkSession) -> Callable[[], object]:
    """From 30 rules on its plan does not end where Spark infers constraints from expressions."""
    setting = "spark.sql.constraintPropagation.enabled"

    def run() -> object:
        spark.conf.set(setting, "false")
        try:
            return build()
        finally:
            spark.conf.unset(setting)

    return run


def _decorated(frame: DataFrame, said: Sequence[_Said], *, write: bool) -> Callable[[], object]:
    core: Any = importlib.import_module("spark_expectations.core.expectations")
    words: Any = importlib.import_module("spark_expectations.config.user_config").Constants
    logging.getLogger("spark_expectations").setLevel(logging.ERROR)
    spark = frame.sparkSession
    # The source is judged, and, where good rows are written, what was written of it too.
    rest = ("validity", "", True, write, True, False, 0, None, False, "medium")
    rows = [
        ("bench", _TABLE, kind, name, "", text, action, *rest) for kind, name, text, action in said
    ]
    settings = {
        words.se_notifications_enable_email: False,
        words.se_notifications_enable_slack: False,
        words.se_enable_error_table: write,
    }

    def writer(mode: str) -> Any:
        return core.WrappedDataFrameWriter().mode(mode).format("parquet")

    guard = core.SparkExpectations(
        product_id="bench",
        rules_df=spark.createDataFrame(rows, _RULE),
        stats_table=_STATISTICS,
        stats_table_writer=writer("append" if write else "overwrite"),
        target_and_error_table_writer=writer("overwrite"),
        stats_streaming_options={words.se_enable_streaming: False},
    )

    @guard.with_expectations(target_table=_TABLE, write_to_table=write, user_conf=settings)  # type: ignore[untyped-decorator]
    def build() -> DataFrame:
        return frame

    builds: Callable[[], object] = build
    return builds


def _whole(frame: DataFrame) -> Callable[[], Answers]:
    said = [(kind, name, text, "ignore") for name, (kind, text) in SAYS.items()]
    run = _decorated(frame, said, write=False)

    def answers() -> Answers:
        run()
        [found] = frame.sparkSession.table(_STATISTICS).collect()
        return _answers(found)

    return answers


def _answers(statistics: Any) -> Answers:
    """From the row that it writes about a run."""
    values = {one["rule"]: one["status"] == "pass" for one in statistics["source_agg_dq_results"]}
    counts = {one["rule"]: one["failed_row_count"] for one in statistics["row_dq_res_summary"]}
    return {
        **{rule: Answer(passed) for rule, passed in values.items()},
        **{rule: Answer(int(count) == 0, int(count)) for rule, count in counts.items()},
    }


SPARK_EXPECTATIONS = Peer(
    "spark-expectations",
    "spark_expectations.core.expectations",
    SAYS,
    _whole,
    partial(one_by_one, _whole),
)
