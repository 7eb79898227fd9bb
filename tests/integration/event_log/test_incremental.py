"""Whole-dataset answers from the event log: only what is new or changed is read."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from pyspark.sql import SparkSession
from sqlalchemy import event
from sqlalchemy.engine import Engine

import dq_dagster as dq
from dq_dagster.integration.event_log.codec import StatesRecord, fingerprint_of
from tests.depth import deep_after
from tests.integration.calendar import Shop, results, statuses
from tests.integration.shelf import metadata_of, status_of

REGIONS = dg.DynamicPartitionsDefinition(name="regions")
RULES: list[dq.Rule] = [
    dq.RecordCountInRange(name="rows", min=1, scope="both", blocking=False),
    dq.ColumnAvgInRange(
        name="average", columns="amount", min=0, scope="whole_dataset", blocking=False
    ),
    dq.ColumnStddevInRange(
        name="spread", columns="amount", max=1, scope="whole_dataset", blocking=False
    ),
    dq.ColumnNotEmpty(name="given", columns="amount", scope="both", blocking=False),
    dq.ColumnMaxInRange(name="largest", columns="amount", max=50, scope="both", blocking=False),
]
HOLISTIC: dq.Rule = dq.ColumnUnique(
    name="unique", columns="amount", scope="whole_dataset", blocking=False
)


class Warehouse:
    """Regions that are built, built anew and given up; remembers which were read for checks."""

    def __init__(self, folder: Path, rules: Sequence[Any], *, by_key: bool = False) -> None:
        self.tables: dict[str, list[float | None]] = {}
        self.read: list[list[str]] = []
        warehouse = self

        @dg.asset(partitions_def=REGIONS, metadata={"partition_expr": "region"})
        def orders(context: dg.AssetExecutionContext) -> pd.DataFrame:
            return warehouse.frame([context.partition_key])

        def reader(partitions: Any) -> pd.DataFrame:
            keys = list(warehouse.tables if partitions is None else partitions)
            warehouse.read.append(keys)
            return warehouse.frame(keys)

        self.rules = list(rules)
        self.shop = Shop(
            orders,
            dq.RuleSet(
                asset="orders" if by_key else orders, rules=rules, incremental=True, reader=reader
            ),
            io_manager=dg.FilesystemIOManager(base_dir=str(folder)),
        )

    def frame(self, keys: Sequence[str]) -> pd.DataFrame:
        rows = [(key, amount) for key in keys for amount in self.tables[key]]
        frame = pd.DataFrame(rows, columns=["region", "amount"])
        return frame.astype({"region": "object", "amount": "float64"})

    def build(self, key: str, amounts: Sequence[float | None]) -> Any:
        self.tables[key] = list(amounts)
        self.shop.instance.add_dynamic_partitions("regions", [key])
        self.read.clear()
        return self.shop.build(key)

    def drop(self, key: str) -> None:
        del self.tables[key]
        self.shop.instance.delete_dynamic_partition("regions", key)

    def in_full(self) -> dict[str, Any]:
        """What a look at everything says of the whole dataset.

        By partition, as the checks add up: in one go, sums of doubles may differ in the last bit.
        """
        frame = self.frame(list(self.tables))
        found = dq.evaluate(frame, self.rules, partition_by="region", partitions=[])
        return {o.rule.name: (o.status.value, o.observed, o.message) for o in found}


def on_the_whole(run: Any) -> dict[str, tuple[str, Any, str]]:
    """What the run says of the whole dataset, but for what it says of reading."""
    found = {}
    for (name, partition), one in results(run).items():
        if partition is None:
            entries = metadata_of(one)
            message = str(one.description).split(" partitions w")[0].rstrip("0123456789, of")
            found[name.removesuffix("__dataset")] = (
                status_of(one),
                entries.get("dq/observed"),
                message,
            )
    return found


@pytest.fixture
def warehouse(spark: SparkSession, tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path, RULES)


def test_rules_about_the_event_log_are_answered_beside_the_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    recorded = dq.MetricInRange(
        name="recorded", metric="column_avg:amount", auto_compute=False, max=5,
        scope="whole_dataset", blocking=False,
    )  # fmt: skip
    warehouse = Warehouse(tmp_path, [*RULES, recorded])
    for key, amounts in {"a": [1.0, 2.0], "b": [3.0]}.items():
        warehouse.build(key, amounts)
    run = warehouse.build("c", [10.0])
    assert {key for keys in warehouse.read for key in keys} == {"c"}
    found = on_the_whole(run)
    # What the run before recorded.
    assert found.pop("recorded")[:2] == ("Ok", 2.0)
    del warehouse.rules[-1]
    assert found == warehouse.in_full()


def test_checks_that_do_not_know_the_partitions_reuse_them_as_well(
    spark: SparkSession, tmp_path: Path
) -> None:
    rules = [rule for rule in RULES if rule.scope == "whole_dataset"]
    warehouse = Warehouse(tmp_path, rules, by_key=True)
    for key, amounts in {"a": [1.0, 2.0], "b": [3.0]}.items():
        warehouse.build(key, amounts)
    run = warehouse.build("c", [10.0])
    assert {key for keys in warehouse.read for key in keys} == {"c"}
    assert on_the_whole(run) == warehouse.in_full()


def test_only_the_new_partition_is_read(warehouse: Warehouse) -> None:
    warehouse.build("a", [1.0, 2.0])
    warehouse.build("b", [3.0, None])
    run = warehouse.build("c", [10.0])
    assert {key for keys in warehouse.read for key in keys} == {"c"}
    assert results(run)["average", None].description == (
        "The average of 'amount' is 4, as expected (at least 0). "
        "1 of 3 partitions was read, 2 are as recorded."
    )
    assert results(run)["rows__dataset", None].description == (
        "The number of rows is 5, as expected (at least 1). "
        "1 of 3 partitions was read, 2 are as recorded."
    )
    assert metadata_of(results(run)["rows", "c"])["dq/observed"] == 1


def test_a_long_past_is_not_asked_for(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path, RULES[1:2])
    asked: list[str] = []

    def note(*arguments: Any) -> None:
        if arguments[2].startswith("SELECT") and "FROM asset_check_executions" in arguments[2]:
            asked.append(arguments[2])

    counts: list[int] = []
    told: list[str] = []
    event.listen(Engine, "before_cursor_execute", note)
    for number, key in enumerate("abcdef", 1):
        asked.clear()
        run = warehouse.build(key, [float(number)])
        counts.append(len(asked))
        told.append(str(results(run)["average", None].description))
    event.remove(Engine, "before_cursor_execute", note)
    assert told[-1].endswith("1 of 6 partitions was read, 5 are as recorded.")
    # The newest result has it all; that the new partition is in none of them is known from it.
    assert counts[-1] == counts[1]


def test_without_anything_new_only_a_schema_is_looked_at(warehouse: Warehouse) -> None:
    warehouse.build("a", [1.0, 2.0])
    warehouse.build("b", [3.0, None])
    run = warehouse.shop.check("average")
    assert str(results(run)["average", None].description).endswith(
        "0 of 2 partitions were read, 2 are as recorded."
    )


def test_a_partition_built_anew_replaces_what_was_recorded(warehouse: Warehouse) -> None:
    for key, amounts in {"a": [1.0], "b": [2.0], "c": [60.0]}.items():
        warehouse.build(key, amounts)
    run = warehouse.build("c", [4.0])
    assert {key for keys in warehouse.read for key in keys} == {"c"}
    assert metadata_of(results(run)["largest__dataset", None])["dq/observed"] == 4.0
    assert on_the_whole(run)["average"][1] == pytest.approx(7 / 3)


def test_a_partition_that_is_gone_does_not_count(warehouse: Warehouse) -> None:
    for key, amounts in {"a": [1.0], "b": [2.0], "c": [60.0]}.items():
        warehouse.build(key, amounts)
    warehouse.drop("c")
    warehouse.read.clear()
    run = warehouse.shop.check("largest__dataset")
    assert metadata_of(results(run)["largest__dataset", None])["dq/observed"] == 2.0
    # What is on record of the others is enough; one is opened to know its columns.
    assert [keys for keys in warehouse.read if len(keys) > 1] == []


def test_rules_that_need_all_rows_read_them(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path, [*RULES, HOLISTIC])
    warehouse.build("a", [1.0, 2.0])
    run = warehouse.build("b", [2.0, 3.0])
    assert statuses(run)["unique", None] == "Error"
    assert "partitions" not in str(results(run)["unique", None].description)
    assert str(results(run)["rows__dataset", None].description).endswith("as recorded.")


def test_a_rule_that_is_new_reads_everything_once(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path, RULES[:1])
    warehouse.build("a", [1.0])
    warehouse.build("b", [2.0])
    more = Warehouse(tmp_path, RULES)
    more.shop.instance = warehouse.shop.instance
    more.tables = warehouse.tables
    run = more.build("c", [6.0])
    assert metadata_of(results(run)["average", None])["dq/observed"] == 3.0
    again = more.build("d", [7.0])
    assert {key for keys in more.read for key in keys} == {"d"}
    assert metadata_of(results(again)["average", None])["dq/observed"] == 4.0


def test_states_by_another_expression_are_not_merged(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path, RULES[:1])
    warehouse.build("a", [1.0])
    warehouse.build("b", [2.0, 3.0])
    otherwise = warehouse.shop.rule_set.model_copy(update={"partition_expr": "lower(region)"})
    asset = warehouse.shop.rule_set.asset
    shop = Shop(asset, otherwise, instance=warehouse.shop.instance)
    run = shop.check("rows__dataset")
    assert results(run)["rows__dataset", None].description == (
        "The number of rows is 3, as expected (at least 1)."
    )


def test_states_of_another_reader_are_not_merged(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path, RULES[:1])
    warehouse.build("a", [1.0])
    warehouse.build("b", [2.0, 3.0])

    def without_a(partitions: Any) -> pd.DataFrame:
        return warehouse.frame([key for key in partitions or "ab" if key != "a"])

    exchanged = warehouse.shop.rule_set.model_copy(update={"reader": without_a})
    shop = Shop(warehouse.shop.rule_set.asset, exchanged, instance=warehouse.shop.instance)
    run = shop.check("rows__dataset")
    assert results(run)["rows__dataset", None].description == (
        "The number of rows is 2, as expected (at least 1)."
    )


@pytest.mark.parametrize("seed", deep_after(1, [1, 2]))
def test_any_sequence_gives_what_a_full_look_gives(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    warehouse = Warehouse(tmp_path, RULES)
    for _ in range(8):
        if len(warehouse.tables) > 2 and chance.random() < 0.25:
            warehouse.drop(chance.choice(sorted(warehouse.tables)))
        amounts = [
            chance.choice([None, chance.uniform(-9, 99), 0.1, 1e15])
            for _ in range(chance.randrange(4))
        ]
        run = warehouse.build(chance.choice("abcde"), amounts)
        found = {name: (status, seen) for name, (status, seen, _) in on_the_whole(run).items()}
        full = {name: (status, seen) for name, (status, seen, _) in warehouse.in_full().items()}
        assert found == full


def test_what_does_not_fit_is_left_out(spark: SparkSession) -> None:
    keys = [f"partition {n}" for n in range(1_000)]
    frame = pd.DataFrame({"region": keys, "amount": [float(n) for n in range(1_000)]})
    reuse = dq.states.Reuse(tuple(keys))
    found = dq.evaluate(frame, [RULES[1]], partition_by="region", partitions=[], reuse=reuse)
    [outcome] = found.outcomes
    assert outcome.states is not None
    built = {key: n for n, key in enumerate(keys, 10)}
    record = StatesRecord.of(outcome.states, built)
    assert record is not None
    assert (record.count, record.as_of) == (1_000, 1_009)
    assert record.fingerprint == fingerprint_of(built)
    # The latest partitions have their states on record, the others only the one of all together.
    assert 20 < len(record.parts) < 200
    assert "partition 999" in record.parts
    assert StatesRecord.decode(json.loads(json.dumps(record.encode()))) == record
