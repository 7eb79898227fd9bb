"""A guarded asset is the asset that it would be otherwise: what carries over, what is refused."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from tests.integration.calendar import DAILY
from tests.integration.guarded.gate import ORDERS, QUARANTINE, positive, why
from tests.integration.shelf import by_name

FRAME = pd.DataFrame({"id": [1, 2], "amount": [5, -5]})


def build(*assets: Any, **options: Any) -> dg.ExecuteInProcessResult:
    return dg.materialize_to_memory(list(assets), raise_on_error=False, **options)


def ids(run: dg.ExecuteInProcessResult, node: str = "orders") -> list[int]:
    """Of the rows that were published."""
    return sorted(run.output_for_node(node, "result")["id"])


def test_all_that_is_said_of_an_asset_carries_over() -> None:
    condition = dg.AutomationCondition.eager()
    policy = dg.BackfillPolicy.multi_run(2)
    retries = dg.RetryPolicy(max_retries=2)
    said: dict[str, Any] = {
        "name": "orders",
        "key_prefix": ["shop", "eu"],
        "description": "All orders.",
        "metadata": {"partition_expr": "day", "note": 7},
        "tags": {"team": "x"},
        "owners": ["team:sales", "a@example.com"],
        "kinds": {"spark", "table"},
        "group_name": "sales",
        "code_version": "3",
        "automation_condition": condition,
        "partitions_def": DAILY,
        "io_manager_key": "files",
        "freshness_policy": dg.FreshnessPolicy.cron(
            deadline_cron="0 9 * * *", lower_bound_delta=timedelta(hours=1)
        ),
    }
    of_step: dict[str, Any] = {
        "op_tags": {"dagster/priority": "3"},
        "backfill_policy": policy,
        "retry_policy": retries,
        "required_resource_keys": {"books"},
        "pool": "spark",
        "compute_kind": None,
    }

    def rows() -> Any:
        """Not this."""
        return FRAME

    plain = dg.asset(**said, **of_step)(rows)
    guarded = dq.guarded_asset(rules=[positive()], **said, **of_step)(rows)
    key = dg.AssetKey(["shop", "eu", "orders"])
    kept = dg.AssetKey(["shop", "eu", "orders_quarantine"])
    before, after = plain.specs_by_key[key], guarded.specs_by_key[key]
    assert set(guarded.keys) == {key, kept}
    for name in (
        "description",
        "tags",
        "kinds",
        "owners",
        "group_name",
        "code_version",
        "automation_condition",
        "partitions_def",
        "freshness_policy",
    ):
        assert getattr(after, name) == getattr(before, name), name
    assert before.metadata.items() <= after.metadata.items()
    assert guarded.backfill_policy == policy
    assert guarded.op.retry_policy == retries
    assert guarded.op.tags.items() >= {"dagster/priority": "3"}.items()
    assert guarded.op.pool == "spark"
    assert guarded.op.name == plain.op.name
    assert guarded.required_resource_keys >= {"books", "files"}
    beside = guarded.specs_by_key[kept]
    assert (beside.group_name, list(beside.owners)) == ("sales", ["team:sales", "a@example.com"])


class Books(dg.ConfigurableResource):
    """A resource."""

    first: int


class Settings(dg.Config):
    """A configuration."""

    factor: int = 1


def test_what_the_function_asks_for_it_gets() -> None:
    seen: dict[str, Any] = {}

    @dg.asset
    def customers() -> pd.DataFrame:
        return pd.DataFrame({"id": [9]})

    @dg.asset
    def calendar() -> None: ...

    @dg.asset(key=["far", "prices"])
    def prices() -> int:
        return 3

    @dq.guarded_asset(
        rules=[positive()],
        ins={"costs": dg.AssetIn(key=["far", "prices"])},
        deps=[calendar],
    )
    def orders(
        context: dg.AssetExecutionContext,
        config: Settings,
        customers: pd.DataFrame,
        costs: int,
        books: Books,
    ) -> pd.DataFrame:
        context.add_output_metadata({"own": 1})
        context.log.info("at work")
        seen.update(key=context.asset_key, books=books.first, factor=config.factor)
        return pd.DataFrame({"id": [*customers["id"], 1], "amount": [costs * config.factor, -1]})

    run = build(
        customers,
        calendar,
        prices,
        orders,
        resources={"books": Books(first=4)},
        run_config={"ops": {"orders": {"config": {"factor": 2}}}},
    )
    assert run.success
    assert seen == {"key": ORDERS, "books": 4, "factor": 2}
    assert run.output_for_node("orders", "result").to_dict("list") == {"id": [9], "amount": [6]}
    upstream = {dep.asset_key for dep in orders.specs_by_key[ORDERS].deps}
    assert upstream == {
        dg.AssetKey("customers"),
        dg.AssetKey("calendar"),
        dg.AssetKey(["far", "prices"]),
    }
    [event] = [one for one in run.get_asset_materialization_events() if one.asset_key == ORDERS]
    assert event.materialization.metadata["own"].value == 1


def test_configuration_and_resources_in_the_old_way() -> None:
    seen: dict[str, Any] = {}

    @dq.guarded_asset(
        rules=[positive()],
        name="orders",
        config_schema={"n": int},
        required_resource_keys={"books"},
    )
    def rows(context) -> Any:  # type: ignore[no-untyped-def]  # noqa: ANN001
        seen.update(n=context.op_execution_context.op_config["n"], books=context.resources.books)
        return FRAME

    config = {"ops": {"orders": {"config": {"n": 5}}}}
    run = build(rows, resources={"books": 7}, run_config=config)
    assert run.success
    assert (seen, ids(run)) == ({"n": 5, "books": 7}, [1])


def test_a_context_of_an_op_and_none_at_all() -> None:
    @dq.guarded_asset(rules=[positive()], name="one")
    def one(context: dg.OpExecutionContext) -> Any:
        assert type(context) is dg.OpExecutionContext
        return FRAME

    @dq.guarded_asset(rules=[positive()], name="two")
    def two(one: Any) -> Any:
        return one

    run = build(one, two)
    assert run.success
    assert (ids(run, "one"), ids(run, "two")) == ([1], [1])


def _returned() -> Any:
    return dg.Output(FRAME, metadata={"own": 1}, data_version=dg.DataVersion("v7"))


def _materialized() -> Any:
    return dg.MaterializeResult(value=FRAME, metadata={"own": 1}, data_version=dg.DataVersion("v7"))


def _yielded() -> Iterator[Any]:
    yield dg.AssetObservation("elsewhere")
    yield dg.Output(FRAME, metadata={"own": 1}, data_version=dg.DataVersion("v7"))


def _yielded_result() -> Iterator[Any]:
    yield dg.MaterializeResult(value=FRAME, metadata={"own": 1}, data_version=dg.DataVersion("v7"))


async def _awaited() -> Any:
    return _materialized()


async def _yielded_in_time():  # type: ignore[no-untyped-def]  # noqa: ANN202
    yield dg.AssetObservation("elsewhere")
    yield _materialized()


@pytest.mark.filterwarnings("ignore:Parameter `data_version` of initializer `Output")
@pytest.mark.parametrize(
    "function", [_returned, _materialized, _yielded, _yielded_result, _awaited, _yielded_in_time]
)
def test_rows_with_something_to_say_of_them(spark: SparkSession, function: Any) -> None:
    asset = dq.guarded_asset(rules=[positive()], name="orders")(function)
    run = build(asset)
    assert run.success
    assert ids(run) == [1]
    [event] = [one for one in run.get_asset_materialization_events() if one.asset_key == ORDERS]
    assert event.materialization.metadata["own"].value == 1
    assert (event.materialization.tags or {})["dagster/data_version"] == "v7"


@pytest.mark.parametrize(("action", "form"), [("drop", "tuple"), ("fail", "result")])
def test_checks_of_its_own_have_their_results(spark: SparkSession, action: str, form: str) -> None:
    @dq.guarded_asset(
        rules=[positive(action)],
        check_specs=[dg.AssetCheckSpec("mine", asset="orders")],
    )
    def orders():  # type: ignore[no-untyped-def]  # noqa: ANN202
        mine = dg.AssetCheckResult(check_name="mine", passed=False, description="Hm.")
        if form == "tuple":
            return FRAME, mine
        return dg.MaterializeResult(value=FRAME, check_results=[mine])

    run = build(orders)
    assert run.success == (action == "drop")
    assert {name: one.passed for name, one in by_name(run).items()} == {
        "mine": False,
        "positive": False,
    }
    assert by_name(run)["mine"].description == "Hm."


def test_a_build_is_tried_again_if_it_raises_and_not_if_its_rows_are_bad(
    spark: SparkSession,
) -> None:
    calls = []

    @dq.guarded_asset(rules=[positive("fail")], retry_policy=dg.RetryPolicy(max_retries=2))
    def orders() -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise ConnectionError
        return FRAME

    run = build(orders)
    assert len(calls) == 2
    [failure] = [event for event in run.all_events if event.is_step_failure]
    assert "Nothing of 'orders' was published" in str(failure.step_failure_data.error)


def test_an_asset_that_is_there_already(spark: SparkSession) -> None:
    @dg.asset(group_name="sales")
    def orders() -> pd.DataFrame:
        return FRAME

    rules = dq.RuleSet(asset=orders, rules=[positive()])
    guarded = dq.guard(orders, rules=rules)
    assert guarded.specs_by_key[QUARANTINE].group_name == "sales"
    assert ids(build(guarded)) == [1]


@dg.asset
def plain() -> pd.DataFrame:
    return FRAME


@dg.multi_asset(specs=[dg.AssetSpec("a"), dg.AssetSpec("b")])
def several() -> tuple[int, int]:
    return 1, 2


@dg.op
def make() -> int:
    return 1


@dg.graph_asset
def graph() -> int:
    return make()


@dg.asset
def nothing() -> None: ...


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (
        graph,
        {"rules": []},
        (
            "'graph' cannot be guarded: only an asset of its own that one function builds can be, "
            "no graph and no multi-asset. Guard an asset that takes it as its input."
        ),
    ),
    (several, {"rules": []}, "'a, b' cannot be guarded: only an asset of its own"),
    (
        nothing,
        {"rules": []},
        (
            "'nothing' cannot be guarded, as its function returns nothing: let it return its rows "
            "as a DataFrame."
        ),
    ),
    (dg.AssetSpec("x"), {"rules": []}, "cannot be guarded: give the definition of an asset that"),
    ("plain", {"rules": []}, "'plain' cannot be guarded: give the definition of an asset"),
    (
        plain,
        {"rules": dq.RuleSet(asset="other", rules=[])},
        "the rule set is of asset 'other', but the asset to guard is 'plain'.",
    ),
    (plain, {"rules": "rules.yaml"}, "rules= takes a list of rules, or a rule set, not str."),
    (
        plain,
        {"rules": dq.RuleSet(asset="plain", rules=[], reader=dq.Table("x"))},
        (
            "the rule set of 'plain' has a reader, but a guarded asset is judged on the rows that "
            "it returns: leave the reader out."
        ),
    ),
    (
        plain,
        {"rules": [], "quarantine": dq.Quarantine(sensitive="name")},
        "sensitive is a list of columns: put it between [ and ].",
    ),
    (
        plain,
        {"rules": [], "quarantine": dq.Quarantine(retention_days=0)},
        "retention_days is a number of days, greater than 0.",
    ),
    (
        plain,
        {"rules": [], "error_drop_threshold": "all"},
        "error_drop_threshold is a share such as 0.1, a number of rows such as 100, or bounds",
    ),
    (plain, {"rules": [], "error_drop_threshold": True}, "error_drop_threshold is a share"),
    (
        plain,
        {"rules": [dq.RecordCountInRange(min=1, run="on_demand")]},
        "on_demand",
    ),
]


@pytest.mark.parametrize(("asset", "arguments", "message"), REFUSED)
def test_refusals(asset: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(dq.DeclarationError) as raised:
        dq.guard(asset, **arguments)
    assert message in str(raised.value)


def test_a_guarded_asset_is_not_guarded_twice() -> None:
    guarded = dq.guard(plain, rules=[])
    with pytest.raises(dq.DeclarationError, match="cannot be guarded"):
        dq.guard(guarded, rules=[])


def _none() -> Any:
    return None


def _number() -> Any:
    return 5


def _no_table() -> Iterator[Any]:
    yield dg.AssetObservation("orders")


def _two_tables() -> Iterator[Any]:
    yield FRAME
    yield FRAME


def _wrong_type() -> DataFrame:
    return FRAME  # type: ignore[return-value]


def _no_value() -> Any:
    return dg.MaterializeResult(metadata={"n": 1})


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_none, "'orders'"),
        (_number, "int"),
        (_no_table, "'orders'"),
        (_two_tables, "2"),
        (_wrong_type, "'orders' returned what it does not declare"),
        (_no_value, "'orders'"),
    ],
)
def test_values_that_are_no_rows(spark: SparkSession, function: Any, message: str) -> None:
    run = build(dq.guarded_asset(rules=[positive()], name="orders")(function))
    assert message in why(run)
    assert not run.get_asset_materialization_events()
