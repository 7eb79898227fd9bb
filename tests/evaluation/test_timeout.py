"""A slow rule is an Error at the deadline; what was answered by then stays as it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Of these it takes hours to make a sum, but no time at all to give up.
ENDLESS = "SELECT sum(sqrt(id)) FROM range(10000000000000)"
LIMIT = 4
LATE = "The timeout of 4 seconds was over before this rule was answered."
# How long after the deadline an answer may come, on a machine with other things to do.
GENEROUS = 15


@pytest.fixture(scope="module", autouse=True)
def warm(spark: SparkSession) -> None:
    """A Spark that has just started takes seconds for anything."""
    dq.evaluate(spark.range(3), [dq.RecordCountInRange(min=1), dq.ColumnUnique(columns="id")])


@pytest.fixture
def table(spark: SparkSession) -> DataFrame:
    """Four rows, and a column that takes for ever if anybody reads it."""
    return spark.sql(f"SELECT id, id % 2 AS half, ({ENDLESS}) AS slow FROM range(4)")


@contextmanager
def within(seconds: float) -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < seconds


def statuses(result: dq.Evaluation) -> dict[str, str]:
    return {outcome.rule.name: outcome.status.value for outcome in result}


def endless(data: Any, context: Any) -> bool:
    return bool(data.sparkSession.sql(ENDLESS).collect())


def test_what_is_answered_stays_and_what_is_not_is_an_error(
    spark: SparkSession, table: DataFrame
) -> None:
    rules = [
        dq.ColumnUnique(name="slow", columns="slow"),
        dq.RecordCountInRange(name="rows", min=1),
        dq.ColumnNotEmpty(name="filled", columns="id"),
        dq.ColumnSumInRange(name="sum", columns="id", max=5),
        dq.PythonRule(name="after", function=lambda data, context: True),
    ]
    with within(LIMIT + GENEROUS):
        result = dq.evaluate(table, rules, timeout=LIMIT)
    assert statuses(result) == {
        "slow": "Error", "rows": "Ok", "filled": "Ok", "sum": "Error", "after": "Error",
    }  # fmt: skip
    assert result["slow"].message == result["after"].message == LATE
    assert result["sum"].message == "The sum of 'id' is 6, above the maximum of 5."
    assert nothing_is_left(spark)


def nothing_is_left(spark: SparkSession) -> bool:
    context = spark.sparkContext
    return not context.statusTracker().getActiveJobsIds() and not context.getJobTags()


QUERY = dq.MetricSource(query=f"SELECT (SELECT count(*) FROM {{table}}) + ({ENDLESS})")
SLOW: dict[str, dq.Rule] = {
    "query": dq.MetricInRange(name="slow", metric=QUERY, max=1),
    "function": dq.PythonRule(name="slow", function=endless),
    "values": dq.ColumnUnique(name="slow", columns="slow"),
    "reference": dq.ColumnValuesInReference(
        name="slow", columns="id", reference=dq.Reference(asset="other"), reference_columns=["slow"]
    ),
    "other asset": dq.CompareMetrics(
        name="slow",
        metric="record_count",
        operator="<",
        other="column_sum:slow",
        other_asset="other",
    ),
}


@pytest.mark.parametrize("kind", SLOW)
@pytest.mark.parametrize("partition_by", [None, pytest.param("half", marks=pytest.mark.deep)])
def test_every_kind_of_pass_is_cancelled(
    spark: SparkSession, table: DataFrame, kind: str, partition_by: str | None
) -> None:
    other = spark.sql(f"SELECT CAST(({ENDLESS}) AS BIGINT) AS slow")
    rules = [dq.RecordCountInRange(name="rows", min=1), SLOW[kind]]
    with within(LIMIT + GENEROUS):
        result = dq.evaluate(
            table, rules, timeout=LIMIT, references={"other": other}, partition_by=partition_by
        )
    assert {(o.rule.name, o.status.value) for o in result} == {("rows", "Ok"), ("slow", "Error")}
    assert {o.message for o in result if o.rule.name == "slow"} == {LATE}
    assert nothing_is_left(spark)


def test_queries_side_by_side_are_all_cancelled_and_those_that_wait_are_not_begun(
    spark: SparkSession, table: DataFrame
) -> None:
    rules: list[dq.Rule] = [
        *(dq.MetricInRange(name=f"slow {n}", metric=_endless(n), max=1) for n in range(6)),
        dq.RecordCountInRange(name="rows", min=1),
    ]
    with within(LIMIT + GENEROUS):
        result = dq.evaluate(table, rules, timeout=LIMIT)
    assert result["rows"].ok
    assert {o.message for o in result if o.rule.name != "rows"} == {LATE}
    assert nothing_is_left(spark)


def _endless(number: int) -> dq.MetricSource:
    return dq.MetricSource(query=f"SELECT {number} + ({ENDLESS}) FROM {{table}} LIMIT 1")


def test_rules_of_one_query_share_its_fate_and_are_not_tried_one_by_one(
    table: DataFrame, count_jobs: Callable[[Callable[[], object]], int]
) -> None:
    rules = [
        dq.RowExpectation(name="slow", expectation="slow > id"),
        dq.RowExpectation(name="raises", expectation="1 / id > 0"),
        dq.ColumnNotEmpty(name="quick", columns="id"),
    ]
    results: list[dq.Evaluation] = []
    jobs = count_jobs(lambda: results.append(dq.evaluate(table, rules, timeout=LIMIT)))
    assert {outcome.message for outcome in results[0]} == {LATE}
    # The subquery, and what waits for it.
    assert jobs <= 2


def test_no_job_is_started_after_the_deadline(
    spark: SparkSession, count_jobs: Callable[[Callable[[], object]], int]
) -> None:
    def dawdle(data: Any, context: Any) -> bool:
        time.sleep(1.5)
        return True

    rules = [
        dq.PythonRule(name="dawdles", function=dawdle),
        dq.PythonRule(name="after", function=lambda data, context: data.count() > 0),
    ]
    results: list[dq.Evaluation] = []
    frame = spark.range(3)
    jobs = count_jobs(lambda: results.append(dq.evaluate(frame, rules, timeout=1)))
    assert jobs == 0
    assert statuses(results[0]) == {"dawdles": "Error", "after": "Error"}


def test_a_function_that_makes_something_of_its_cancelled_jobs_is_not_believed(
    spark: SparkSession,
) -> None:
    def hopeful(data: Any, context: Any) -> bool:
        try:
            return endless(data, context)
        except Exception:  # noqa: BLE001 (what must do no harm)
            return True

    result = dq.evaluate(
        spark.range(3),
        [dq.PythonRule(name="slow", function=hopeful)],
        timeout=timedelta(seconds=LIMIT),
    )
    assert (result["slow"].status, result["slow"].message) == (dq.Status.ERROR, LATE)


def test_the_jobs_of_others_go_on(spark: SparkSession, table: DataFrame) -> None:
    """In the same session, but in a thread of their own, with a tag of their own."""
    found: list[float] = []

    def other() -> None:
        found.append(spark.sql(ENDLESS.replace("10000000000000", "2000000000")).collect()[0][0])

    thread = threading.Thread(target=other)
    thread.start()
    result = dq.evaluate(table, [dq.ColumnUnique(name="slow", columns="slow")], timeout=1)
    assert result["slow"].status is dq.Status.ERROR
    assert thread.is_alive()
    thread.join()
    assert found


def test_the_rows_of_a_session_without_ansi_are_cancelled_too(spark: SparkSession) -> None:
    lax = spark.newSession()
    lax.conf.set("spark.sql.ansi.enabled", "false")
    lax.sql(f"SELECT id, ({ENDLESS}) AS slow FROM range(4)").createOrReplaceTempView("rows")
    rules: list[dq.Rule] = [
        dq.RecordCountInRange(name="rows", min=1),
        dq.MetricInRange(
            name="slow", metric=dq.MetricSource(query="SELECT max(slow) FROM {table}"), max=1
        ),
    ]
    with within(LIMIT + GENEROUS):
        result = dq.evaluate(lax.table("rows"), rules, timeout=LIMIT)
    assert statuses(result) == {"rows": "Ok", "slow": "Error"}
    assert nothing_is_left(spark)


def test_with_time_enough_nothing_changes_and_nothing_is_left(spark: SparkSession) -> None:
    rules = [dq.RecordCountInRange(min=1), dq.ColumnUnique(columns="id")]
    rule_set = dq.RuleSet(asset="o", rules=rules, timeout="10 min")
    before = set(threading.enumerate())
    result = dq.evaluate(spark.range(3), rule_set)
    assert repr(result) == repr(dq.evaluate(spark.range(3), rules))
    assert nothing_is_left(spark)
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("dq-")]


def test_the_argument_counts_more_than_the_rule_set(spark: SparkSession) -> None:
    def dawdle(data: Any, context: Any) -> bool:
        time.sleep(0.5)
        return True

    rules = dq.RuleSet(asset="o", rules=[dq.PythonRule(name="p", function=dawdle)], timeout=0.2)
    late = "The timeout of 0.2 seconds was over before this rule was answered."
    assert dq.evaluate(spark.range(3), rules)["p"].message == late
    assert dq.evaluate(spark.range(3), rules, timeout="1 min")["p"].ok


@pytest.mark.parametrize(
    ("timeout", "why"),
    [
        (0, "timeout: a length of time of more than 0 is needed."),
        ("-1 s", "timeout: a length of time of more than 0 is needed."),
        ("5 parsecs", "timeout: '5 parsecs' has the unknown unit 'parsecs'."),
        (True, "timeout: a time such as '2 hours' is needed, not True."),
        (float("inf"), "timeout: a length of time of more than 10,000 years is a mistake."),
    ],
)
def test_a_timeout_that_is_none_is_refused(timeout: Any, why: str) -> None:
    with pytest.raises(dq.DeclarationError) as caught:
        dq.evaluate(None, [dq.RecordCountInRange(min=1)], timeout=timeout)  # type: ignore[arg-type]
    assert why in str(caught.value)


def test_partitions_that_nobody_could_find_are_no_outcomes(table: DataFrame) -> None:
    with pytest.raises(dq.DqError, match="The timeout of 1 second was over"):
        dq.evaluate(table, [dq.RecordCountInRange(min=1)], partition_by="slow", timeout=1)
