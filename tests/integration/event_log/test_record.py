"""What runs leave on record: every evaluation's numbers, as they were, for those after it."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from tests.integration.calendar import Shop, day, orders_asset, results, statuses
from tests.integration.shelf import asset_of, by_name, metadata_of, record_of, run, status_of

SHORT: dict[str, Any] = {"learning_period": 3, "min_iqr": 1, "blocking": False}
AVERAGE = dq.MetricSource(query="SELECT avg(amount) FROM {table}")


def average(data: Any, context: Any) -> Any:
    return data.selectExpr("avg(amount)").first()[0]


def typical_rules(**fields: Any) -> list[dq.Rule]:
    """All ways to compare the average of a day with that of others."""
    given: dict[str, Any] = {**SHORT, **fields}
    return [
        dq.ColumnAvgTypical(name="column", columns="amount", **given),
        dq.MetricTypical(name="measure", metric="column_avg:amount", **given),
        dq.MetricTypical(name="sql", metric=dq.MetricSource(sql="avg(amount)"), **given),
    ]


def single_rules(**fields: Any) -> list[dq.Rule]:
    """Metrics that are answered for one slice at a time."""
    given: dict[str, Any] = {**SHORT, **fields}
    return [
        dq.MetricTypical(name="query", metric=AVERAGE, **given),
        dq.MetricTypical(name="python", metric=average, **given),
    ]


REBUILT: dict[str, Sequence[float | None]] = {
    "NULL": [None, None],
    "no rows": [],
    "NaN": [math.nan, 1.0],
    "infinite": [math.inf, 1.0],
}


def values_of(evaluation: dg.AssetCheckEvaluation) -> list[float]:
    """The past that a value was judged by, the oldest first."""
    table: Any = evaluation.metadata["dq/history"].value
    return [record.data["value"] for record in table.records][::-1]


@pytest.mark.parametrize("rebuilt", REBUILT)
def test_a_day_that_is_built_again_without_a_number_forgets_its_point(
    spark: SparkSession, rebuilt: str
) -> None:
    amounts: dict[str, Sequence[float | None]] = {day(n): [10.0 + n] for n in range(1, 6)}
    amounts[day(3)] = [500.0]
    shop = Shop(orders_asset(spark, amounts), typical_rules())
    shop.build(day(1), day(4))
    amounts[day(3)] = REBUILT[rebuilt]
    shop.build(day(3))
    last = results(shop.build(day(5)))
    assert {name: values_of(one) for (name, _), one in last.items()} == {
        name: [11.0, 12.0, 14.0] for name in ("column", "measure", "sql")
    }
    assert {status_of(one) for one in last.values()} == {"Ok"}


def test_metrics_of_one_slice_at_a_time_forget_as_well(spark: SparkSession) -> None:
    amounts: dict[str, Sequence[float | None]] = {day(n): [10.0 + n] for n in range(1, 6)}
    shop = Shop(orders_asset(spark, amounts), single_rules())
    for number in range(1, 5):
        shop.build(day(number))
    amounts[day(2)] = [None]
    shop.build(day(2))
    last = results(shop.build(day(5)))
    assert {name: values_of(one) for (name, _), one in last.items()} == {
        name: [11.0, 13.0, 14.0] for name in ("query", "python")
    }


def test_a_metric_that_cannot_be_measured_any_more_leaves_no_point(spark: SparkSession) -> None:
    amounts: dict[str, Sequence[float | None]] = {day(n): [10.0 + n] for n in range(1, 6)}
    rule = dq.MetricTypical(name="sql", metric=dq.MetricSource(sql="max(1 / amount)"), **SHORT)
    shop = Shop(orders_asset(spark, amounts), [rule])
    shop.build(day(1), day(4))
    # Spark raises on it.
    amounts[day(2)] = [0.0]
    assert statuses(shop.build(day(2)))["sql", day(2)] == "Error"
    [last] = results(shop.build(day(5))).values()
    assert len(values_of(last)) == 3


def test_groups_forget_as_well(spark: SparkSession) -> None:
    rows: dict[str, list[tuple[str, str, float | None]]] = {}

    @dg.asset(
        name="orders",
        partitions_def=dg.DailyPartitionsDefinition("2024-03-01", end_date="2024-05-01"),
        metadata={"partition_expr": "day"},
    )
    def orders(context: dg.AssetExecutionContext) -> Any:
        found = [row for key in context.partition_keys for row in rows[key]]
        return spark.createDataFrame(found, "day string, region string, amount double")

    rule = dq.MetricTypical(
        name="average", metric="column_avg:amount", dimensions="region", **SHORT
    )
    shop = Shop(orders, [rule])
    for number in range(1, 5):
        rows[day(number)] = [
            (day(number), "east", 10.0 + number),
            (day(number), "west", 20.0 + number),
        ]
        shop.build(day(number))
    # East has no amount any more, and west no row.
    rows[day(3)] = [(day(3), "east", None)]
    shop.build(day(3))
    rows[day(5)] = [(day(5), "east", 11.0), (day(5), "west", 21.0)]
    [last] = results(shop.build(day(5))).values()
    table: Any = last.metadata["dq/dimensions"].value
    by_group = {record.data["group"]: record.data["status"] for record in table.records}
    assert by_group == {"east": "Ok", "west": "Ok"}
    assert values_of(last) == [16.0, 17.0, 19.0]


def test_an_evaluation_without_a_number_supersedes_one_of_the_same_data(
    spark: SparkSession,
) -> None:
    """The slice's own past: a check that is run again on one state of the data is one point."""
    asset = asset_of(None)
    frames: dict[str, Any] = {}

    class Memory(dg.IOManager):
        def handle_output(self, context: Any, obj: Any) -> None: ...

        def load_input(self, context: Any) -> Any:
            return frames["orders"]

    rules = [
        dq.MetricTypical(name="metric", metric="column_avg:amount", **SHORT),
        dq.ColumnEmptyCountTypical(name="empties", columns="amount", **SHORT),
    ]
    checks = dq.build_asset_checks(dq.RuleSet(asset="orders", rules=rules))
    instance = dg.DagsterInstance.ephemeral()

    def evaluate(values: Sequence[float | None], *, build: bool) -> Any:
        frames["orders"] = spark.createDataFrame([(one,) for one in values], "amount double")
        every = dg.AssetSelection.all()
        return dg.materialize(
            [asset, *checks],
            resources={"io_manager": Memory()},
            instance=instance,
            selection=every if build else dg.AssetSelection.all_asset_checks(),
        )

    for number in (1.0, 2.0, 3.0):
        evaluate([number, None], build=True)
    evaluate([900.0, None, None, None], build=True)
    # What is stored was changed behind Dagster's back: no row is left.
    evaluate([], build=False)
    found = by_name(evaluate([2.0, None], build=True))
    assert {name: values_of(one) for name, one in found.items()} == {
        "metric": [1.0, 2.0, 3.0],
        "empties": [1, 1, 1],
    }


def test_days_without_rows_are_learnt_from_by_group(spark: SparkSession) -> None:
    schema = "day string, region string, amount double"
    rows: dict[str, list[Any]] = {day(n): [] for n in range(1, 9)}
    rows[day(9)] = [(day(9), "east", 1.0)] * 500

    @dg.asset(
        name="orders",
        partitions_def=dg.DailyPartitionsDefinition("2024-03-01", end_date="2024-05-01"),
        backfill_policy=dg.BackfillPolicy.single_run(),
        metadata={"partition_expr": "day"},
    )
    def orders(context: dg.AssetExecutionContext) -> None: ...

    def reader(partitions: Sequence[str] | None) -> Any:
        return spark.createDataFrame(
            [row for key in partitions or rows for row in rows[key]], schema
        )

    rule = dq.RecordCountTypical(name="rows", dimensions=["region"], blocking=False, scope="both")
    shop = Shop(orders, dq.RuleSet(asset=orders, incremental=True, reader=reader, rules=[rule]))
    for number in range(1, 9):
        found = results(shop.build(day(number)))["rows", day(number)]
        record = record_of(found)
        assert found.description is not None
        assert "could not be recorded" not in found.description
        assert record.metrics == {"record_count": 0}
        assert record.states is not None
        assert list(record.states.parts[day(number)][1].values()) == [0]
        assert "dq/dimensions" not in metadata_of(found)
    assert statuses(shop.build(day(9)))["rows", day(9)] == "Error"


ROWS = [
    (1, Decimal("0.10"), date(2024, 3, 1), datetime(2024, 3, 1, 12, tzinfo=UTC), "DE", 0.1),
    (2**62, Decimal("9.99"), date(2024, 3, 9), datetime(2024, 3, 9, 12, tzinfo=UTC), "FR", 0.2),
]
SCHEMA = "n bigint, d decimal(38, 18), day date, at timestamp, country string, f float"
RECORDED: dict[str, Any] = {
    "whole": ("column_max:n", {"min": 2**62, "max": 2**62}),
    "decimal": ("column_sum:d", {"min": Decimal("10.09"), "max": Decimal("10.09")}),
    "date": ("column_max:day", {"min": date(2024, 3, 9), "max": date(2024, 3, 9)}),
    "timestamp": (
        "column_min:at",
        {"min": "2024-03-01T12:00:00+00:00", "max": "2024-03-01T12:00:00+00:00"},
    ),
    "naive": (
        {"sql": "max(cast(at as timestamp_ntz))"},
        {"min": datetime.fromisoformat("2024-03-09"), "max": "2024-03-10"},
    ),
    "float": ("column_max:f", {"min": 0.2, "max": 0.2}),
    "text by sql": ({"sql": "max(country)"}, {"min": "FR", "max": "FR"}),
    "text by query": ({"query": "SELECT 'v' || count(*) FROM {table}"}, {"min": "v2", "max": "v2"}),
    "text by function": (lambda data, context: "fine", {"min": "fine", "max": "fine"}),
}


def test_every_kind_of_value_is_read_back_as_it_was(spark: SparkSession) -> None:
    rules: list[dq.Rule] = []
    for name, (metric, bounds) in RECORDED.items():
        rules += [
            dq.MetricInRange(name=f"{name} now", metric=metric, **bounds),
            dq.MetricInRange(
                name=f"{name} later", metric=metric, auto_compute=False, blocking=False, **bounds
            ),
        ]
    rule_set = dq.RuleSet(asset="orders", rules=rules)
    with dg.instance_for_test() as instance:
        asset = asset_of(spark.createDataFrame(ROWS, SCHEMA))
        first = statuses(run([asset], rule_set, instance=instance))
        again = run([asset], rule_set, instance=instance)
    assert {first[f"{name.replace(' ', '_')}_later", None] for name in RECORDED} == {"Empty"}
    found = by_name(again)
    for name in RECORDED:
        now, later = (found[f"{name.replace(' ', '_')}_{when}"] for when in ("now", "later"))
        assert status_of(now) == "Ok", name
        assert later.description == now.description, name


@pytest.mark.parametrize(
    ("value", "shown"), [(math.nan, "NaN"), (math.inf, "inf"), (-math.inf, "-inf")]
)
def test_odd_numbers_on_record_are_no_texts(spark: SparkSession, value: float, shown: str) -> None:
    fields: dict[str, Any] = {"auto_compute": False, "blocking": False}
    rules: list[dq.Rule] = [
        dq.MetricInRange(name="now", metric="column_max:x", blocking=False, min=0, max=5),
        dq.CompareMetrics(
            name="greater", metric="column_max:x", operator=">", other="record_count", **fields
        ),
        dq.MetricInSet(name="text", metric="column_max:x", values=["nan", "inf", "-inf"], **fields),
        dq.MetricInSet(name="set", metric="column_max:x", values=[1, 2], **fields),
        dq.RecordCountInRange(name="rows", min=0),
    ]
    instance = dg.DagsterInstance.ephemeral()
    frame = spark.createDataFrame([(value,)], "x double")
    rule_set = dq.RuleSet(asset="orders", rules=rules)
    run([asset_of(frame)], rule_set, instance=instance)
    found = by_name(run([asset_of(frame)], rule_set, instance=instance))
    said = {name: status_of(one) for name, one in found.items()}
    assert said == {
        "now": "Error",
        "rows": "Ok",
        "text": "Error",
        "set": "Error",
        "greater": "Ok" if value == math.inf else "Error",
    }
    assert shown in str(found["greater"].description)
    # For people as before.
    assert metadata_of(found["now"])["dq/observed"] == str(value)


def test_a_metric_without_a_value_hides_older_ones(spark: SparkSession) -> None:
    rules: list[dq.Rule] = [
        dq.ColumnAvgInRange(name="now", columns="x", min=0),
        dq.MetricInRange(name="later", metric="column_avg:x", auto_compute=False, max=100),
    ]
    instance = dg.DagsterInstance.ephemeral()
    said = []
    for value in (1.0, None, 2.0):
        frame = spark.createDataFrame([(value,)], "x double")
        found = run([asset_of(frame)], dq.RuleSet(asset="orders", rules=rules), instance=instance)
        said.append(by_name(found)["later"].description)
    assert said == [
        "Nothing to judge: metric 'column_avg:x' has no value on record.",
        "Metric 'column_avg:x' is 1, as expected (at most 100).",
        "Nothing to judge: metric 'column_avg:x' has no value on record.",
    ]


CANARY = "canary-7f3a"


def test_texts_of_rows_stay_out_of_the_record_and_that_is_said(spark: SparkSession) -> None:
    measured: list[dq.Rule] = [
        dq.ColumnMaxInRange(name="column", columns="s", min="a", blocking=False),
        dq.MetricInRange(name="metric", metric="column_max:s", min="a", blocking=False),
        dq.AggregateExpectation(name="aggregate", expectation="min(s) < 'x'"),
        dq.PythonRule(name="python", function=lambda data, context: ("Ok", CANARY, "fine")),
        dq.MetricInSet(
            name="grouped", metric=dq.MetricSource(sql="count(s)"), values=[2], dimensions="n"
        ),
        dq.MetricInRange(
            name="later", metric="column_max:s", min="a", auto_compute=False, blocking=False
        ),
    ]
    instance = dg.DagsterInstance.ephemeral()
    frame = spark.createDataFrame([(CANARY, 1), (f"{CANARY}-2", 1)], "s string, n int")
    rule_set = dq.RuleSet(asset="orders", rules=measured)
    run([asset_of(frame)], rule_set, instance=instance)
    found = by_name(run([asset_of(frame)], rule_set, instance=instance))
    assert CANARY not in str([found[one.name].metadata for one in measured])
    assert status_of(found["later"]) == "Error"
    assert found["later"].description == (
        "The value of 'column_max:s' is not kept on record: it is a text that a row holds, or a "
        "very long one. Measure it now (auto_compute: true), or let an SQL metric say what is to "
        "be recorded, such as {sql: max(country)}."
    )


def test_a_text_that_is_kept_off_the_record_hides_older_values(spark: SparkSession) -> None:
    rules: list[dq.Rule] = [
        dq.ColumnMaxTypical(name="typical", columns="x", blocking=False),
        dq.ColumnMaxInRange(name="now", columns="x", max=9, blocking=False),
        dq.MetricInRange(name="later", metric="column_max:x", auto_compute=False, max=9),
    ]
    instance = dg.DagsterInstance.ephemeral()
    said = []
    for schema, value in (("x int", 1), ("x string", CANARY), ("x int", 50), ("x int", 50)):
        frame = spark.createDataFrame([(value,)], schema)
        found = run([asset_of(frame)], dq.RuleSet(asset="orders", rules=rules), instance=instance)
        said.append(str(by_name(found)["later"].description))
    assert said[1] == "Metric 'column_max:x' is 1, as expected (at most 9)."
    assert said[2].startswith("The value of 'column_max:x' is not kept on record")
    assert said[3] == "Metric 'column_max:x' is 50, above the maximum of 9."


class Odd(dq.RecordCountTypical):
    """A rule of somebody whose details Dagster does not take."""

    odd: Mapping[str, Any] = {}

    def judge(self, evidence: dq.plugins.Evidence) -> dq.plugins.Judgement:
        judgement = super().judge(evidence)
        return dq.plugins.Judgement(
            judgement.status, judgement.message, judgement.observed, **self.odd
        )


@pytest.mark.parametrize(
    "odd",
    [
        {"columns": {}},
        {"columns": None},
        {"columns": {"a": dq.plugins.Judgement(dq.Status.OK, "m" * 100_000)}},
        {"columns": {"a": {}}},
        {"details": {"schema": []}},
        {"details": {"schema": [{}]}},
        {"details": {"schema": [object()]}},
        {"typical": {}},
        {"columns": {"a": dq.plugins.Judgement(dq.Status.OK, "m", observed=object())}},
    ],
    ids=[
        "no columns",
        "columns are none",
        "a huge message",
        "columns are no judgements",
        "no schema",
        "an empty line of a schema",
        "lines are no dict",
        "nothing typical",
        "an odd observed value",
    ],
)
def test_numbers_are_recorded_whatever_the_tables_look_like(
    spark: SparkSession, odd: Mapping[str, Any]
) -> None:
    rule = Odd(name="odd", odd=odd, **SHORT)
    [found] = by_name(
        run([asset_of(spark.range(3))], dq.RuleSet(asset="orders", rules=[rule]))
    ).values()
    record = record_of(found)
    assert record.metrics == {"record_count": 3}
    assert metadata_of(found)["dq/observed"] == 3
    assert str(record.data).isdigit()
