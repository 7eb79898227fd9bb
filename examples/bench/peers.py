"""Other tools on the same rows and rules, beside ours: installed on demand, apart from the project.

They share the Spark session of the benchmark, so that both are measured by the same clock.
"""

from __future__ import annotations

import importlib
import logging
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

import dq_dagster as dq

# The columns of its rules table.
_RULE = (
    "product_id string, table_name string, rule_type string, rule string, column_name string, "
    "expectation string, action_if_failed string, tag string, description string, "
    "enable_for_source_dq_validation boolean, enable_for_target_dq_validation boolean, "
    "is_active boolean, enable_error_drop_alert boolean, error_drop_threshold int, "
    "query_dq_delimiter string, enable_querydq_custom_output boolean, priority string"
)


def installed(package: str, module: str, folder: Path) -> str | None:
    """Makes the module importable; says why not, if it cannot be had."""
    target = folder / package
    if not target.exists():
        print(f"  Installing {package} ...", flush=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target)]
        done = subprocess.run([*command, package], capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{package} cannot be installed: {done.stderr.strip().splitlines()[-1:]}"
    # Last: what the project has itself stays as it is.
    sys.path.append(str(target))
    try:
        importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 (whatever it is, the peer does not run here)
        return f"{package} cannot be imported: {type(error).__name__}: {error}"
    return None


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


def spark_expectations(frame: DataFrame, rules: Sequence[dq.Rule]) -> Callable[[], object]:
    """Writes the good rows and those with errors as Spark-Expectations does."""
    core: Any = importlib.import_module("spark_expectations.core.expectations")
    words: Any = importlib.import_module("spark_expectations.config.user_config").Constants
    logging.getLogger("spark_expectations").setLevel(logging.ERROR)
    spark, table = frame.sparkSession, "default.dq_bench_peer"
    rest = ("validity", "", True, True, True, False, 0, None, False, "medium")
    rows = [
        ("bench", table, "row_dq", one.name, "", expectation_of(one), one.action_if_failed, *rest)
        for one in rules
    ]
    quiet = {words.se_notifications_enable_email: False, words.se_notifications_enable_slack: False}

    def writer(mode: str) -> Any:
        return core.WrappedDataFrameWriter().mode(mode).format("parquet")

    guard = core.SparkExpectations(
        product_id="bench",
        rules_df=spark.createDataFrame(rows, _RULE),
        stats_table=f"{table}_stats",
        stats_table_writer=writer("append"),
        target_and_error_table_writer=writer("overwrite"),
        stats_streaming_options={words.se_enable_streaming: False},
    )

    @guard.with_expectations(target_table=table, write_to_table=True, user_conf=quiet)  # type: ignore[untyped-decorator]
    def build() -> DataFrame:
        return frame

    writes: Callable[[], object] = build
    return writes
