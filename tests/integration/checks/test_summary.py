"""What all rules of an asset say together is noted on the asset itself."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from typing import TYPE_CHECKING, Any

import dagster as dg
import pandas as pd
import pytest

import dq_dagster as dq
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.integration.checks.results import PAGES, summary_of
from dq_dagster.judging.judgement import Judgement

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEY = dg.AssetKey(["shop", "orders & more"])


def outcome(name: str, status: dq.Status, partition: str | None = None, **fields: Any) -> Outcome:
    rule = dq.RecordCountInRange(name=name, min=1, **fields)
    return Outcome.of(rule, Judgement(status, "."), partition=partition)


def test_status_and_score_are_those_of_monitoring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PAGES, raising=False)
    found = summary_of(
        [
            outcome("heavy", dq.Status.OK, weight=3),
            outcome("light", dq.Status.ERROR, "a"),
            outcome("light", dq.Status.WARNING, "b"),
        ],
        KEY,
    )
    # Of the weight of 4 in all, "heavy" has its 3, and "light" a quarter of its 1.
    assert {key: entry.value for key, entry in found.metadata.items()} == {
        "dq/dataset_status": "Error",
        "dq/score": 81.2,
    }
    assert found.description == "Data quality: Error."


def test_a_rule_of_partitions_and_of_the_whole_dataset_counts_as_its_two_checks() -> None:
    parts = [outcome("both", dq.Status.OK, part) for part in "abc"]
    found = summary_of([*parts, outcome("both", dq.Status.ERROR)], KEY)
    assert found.metadata["dq/score"].value == 50.0


def test_the_page_is_linked_if_it_is_known_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PAGES, "https://quality.example.com/")
    found = summary_of([outcome("rows", dq.Status.EMPTY)], KEY)
    assert {key: entry.value for key, entry in found.metadata.items()} == {
        "dq/dataset_status": "Empty",
        "dq/page": "https://quality.example.com/dataset?asset=shop%2Forders%20%26%20more",
    }


def test_the_page_of_a_name_with_a_slash_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PAGES, "https://quality.example.com")
    found = summary_of([outcome("rows", dq.Status.OK)], dg.AssetKey(["shop", "a/b"]))
    page = found.metadata["dq/page"].value
    assert page == "https://quality.example.com/dataset?asset=shop%2Fa%5C%2Fb"


def test_an_asset_is_observed_if_all_of_its_checks_ran(spark: "SparkSession") -> None:
    @dg.asset
    def orders() -> pd.DataFrame:
        return pd.DataFrame({"id": [1, 1]})

    rules = [
        dq.RecordCountInRange(name="rows", min=1),
        dq.ColumnUnique(columns="id", name="ids", blocking=False),
    ]
    checks = dq.build_asset_checks(dq.RuleSet(asset=orders, rules=rules))
    done = dg.materialize([orders, *checks])
    [observed] = [
        event.asset_observation_data.asset_observation
        for event in done.get_asset_observation_events()
    ]
    assert (observed.asset_key, observed.metadata["dq/score"].value) == (orders.key, 50.0)
    some = dg.AssetSelection.checks(dg.AssetCheckKey(orders.key, "rows"))
    chosen = dg.AssetSelection.assets(orders).without_checks() | some
    done = dg.materialize([orders, *checks], selection=chosen)
    assert [one.check_name for one in done.get_asset_check_evaluations()] == ["rows"]
    assert done.get_asset_observation_events() == []


def observed_by(done: dg.ExecuteInProcessResult) -> list[tuple[Any, ...]]:
    """The summaries that a run left behind."""
    every = [
        event.asset_observation_data.asset_observation
        for event in done.get_asset_observation_events()
    ]
    return [
        (one.asset_key, one.metadata["dq/dataset_status"].value, one.metadata["dq/score"].value)
        for one in every
        if "dq/dataset_status" in one.metadata
    ]


POSITIVE = {
    "type": "row_dq",
    "name": "positive",
    "expectation": "amount > 0",
    "action_if_failed": "drop",
    "weight": 2,
}
ROWS = {"type": "record_count_in_range", "name": "rows", "min": 1}
FRAME = pd.DataFrame({"id": [1, 2], "amount": [5, -5]})


def guarded(*, action: str = "drop", **settings: Any) -> dg.AssetsDefinition:
    @dq.guarded_asset(rules=[ROWS, {**POSITIVE, "action_if_failed": action}], **settings)
    def orders() -> pd.DataFrame:
        return FRAME

    return orders


@dq.guarded_asset(
    rules=[POSITIVE], check_specs=[dg.AssetCheckSpec("own", asset="orders")], name="orders"
)
def orders_with_a_check() -> tuple[pd.DataFrame, dg.AssetCheckResult]:
    return FRAME, dg.AssetCheckResult(passed=False, check_name="own")


def run(*assets: Any, **options: Any) -> dg.ExecuteInProcessResult:
    return dg.materialize_to_memory(list(assets), raise_on_error=False, **options)


def test_a_guarded_asset_is_observed_when_it_is_published_and_when_it_is_not(
    spark: "SparkSession",
) -> None:
    key = dg.AssetKey("orders")
    # Of the weight of 3 in all, "rows" has its 1.
    published = run(guarded())
    assert (published.success, observed_by(published)) == (True, [(key, "Error", 33.3)])
    withheld = run(guarded(action="fail"))
    assert (withheld.success, observed_by(withheld)) == (False, [(key, "Error", 33.3)])
    some = dg.AssetSelection.assets("orders").without_checks() | dg.AssetSelection.checks(
        dg.AssetCheckKey(key, "rows")
    )
    assert observed_by(run(guarded(quarantine=False), selection=some)) == []
    # What checks of its own say is no rule's word, so that nothing is said of all together.
    done = run(orders_with_a_check)
    assert (done.success, observed_by(done)) == (True, [])
