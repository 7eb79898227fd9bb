"""A dry run of a replay says what the replay then does."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from dq_dagster.errors import NotReplayable
from dq_dagster.rules.types.uniqueness import Keep
from tests.integration.shelf import PYSPARK

Row = tuple[int, float]


def small(limit: float) -> Any:
    return dq.ColumnValuesInRange(name="small", columns="x", max=limit, action_if_failed="drop")


@dataclass
class Days:
    """A guarded asset with a partition a day, and what comes on each."""

    spark: SparkSession
    folder: Path
    instance: dg.DagsterInstance
    rows: dict[str, Sequence[Row]] = field(default_factory=dict)

    def definitions(self, rules: Sequence[Any], **settings: Any) -> dg.Definitions:
        rows, spark = self.rows, self.spark
        keys = dg.DailyPartitionsDefinition("2024-03-01", end_date="2024-03-20")

        @dq.guarded_asset(rules=rules, partitions_def=keys, **settings)
        def things(context: dg.AssetExecutionContext) -> DataFrame:
            return spark.createDataFrame(list(rows[context.partition_key]), "id int, x double")

        manager = dq.SparkIOManager(pyspark=PYSPARK, path=str(self.folder))
        return dg.Definitions(assets=[things], resources={"io_manager": manager})

    def build(self, rules: Sequence[Any], rows: dict[str, Sequence[Row]]) -> None:
        self.rows |= rows
        defs = self.definitions(rules)
        assets = [one for one in defs.assets or () if isinstance(one, dg.AssetsDefinition)]
        for key in rows:
            done = dg.materialize(
                assets, instance=self.instance, resources=defs.resources, partition_key=key
            )
            assert done.success

    def both(self, rules: Sequence[Any], *keys: str, **settings: Any) -> list[Any]:
        """What a dry run says, and what then comes of it."""
        defs = self.definitions(rules, **settings)
        wanted = list(keys) or None
        return [
            dq.replay(defs, "things", partitions=wanted, dry_run=dry_run, instance=self.instance)
            for dry_run in (True, False)
        ]


@pytest.fixture
def days(spark: SparkSession, tmp_path: Path) -> Iterator[Days]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield Days(spark, tmp_path, instance)


def numbers(replay: Any) -> list[tuple[Any, ...]]:
    return [(one.partition, one.before, one.released, one.remaining) for one in replay.slices]


@pytest.mark.parametrize("scope", ["whole_dataset", "both"])
def test_rows_of_other_partitions_are_compared_with(days: Days, scope: Any) -> None:
    days.build([small(5)], {"2024-03-01": [(1, 1.0)], "2024-03-02": [(1, 9.0), (2, 9.0)]})
    once = dq.UniqueKey(
        name="once", columns="id", scope=scope, action_if_failed="drop", keep=Keep(order_by="x")
    )
    runs = len(days.instance.get_runs())
    tried, done = days.both([small(50), once], "2024-03-02")
    assert numbers(tried) == numbers(done) == [("2024-03-02", 2, 1, 1)]
    assert dict(tried.slices[0].rules) == {"once": 1}
    assert tried.notes == ()
    assert len(days.instance.get_runs()) == runs + 1, "a dry run is no run"


def test_of_several_partitions_it_says_what_it_cannot_foresee(days: Days) -> None:
    days.build([small(5)], {"2024-03-01": [(1, 1.0), (3, 9.0)], "2024-03-02": [(2, 1.0), (3, 8.0)]})
    once = dq.ColumnUnique(
        name="once",
        columns="id",
        scope="whole_dataset",
        action_if_failed="drop",
        keep=Keep(order_by="x"),
    )
    tried, done = days.both([small(50), once])
    assert numbers(tried) == [("2024-03-01", 1, 1, 0), ("2024-03-02", 1, 1, 0)]
    assert numbers(done) == [("2024-03-01", 1, 1, 0), ("2024-03-02", 1, 0, 1)]
    assert str(tried) == (
        "things: of 2 rows in quarantine 2 would be released, 0 remain. Each partition was judged "
        "as if it alone were replayed; a replay goes through them one by one, and once depends on "
        "other partitions as well."
    )
    assert done.notes == ()


def test_what_was_usual_may_stop_it(days: Days) -> None:
    usual = dq.RecordCountTypical(
        name="usual", learning_period=2, on="validated", action_if_failed="fail"
    )
    rows = {f"2024-03-0{n}": [(1, 1.0), (2, 2.0)] for n in range(1, 3)}
    days.build([small(5), usual], {**rows, "2024-03-03": [(1, 1.0), (2, 2.0), (3, 9.0)]})
    _refused(days, [small(50), usual], r"usual \(2024-03-03\): The number of rows is 3")


def test_the_limit_on_dropped_rows_may_stop_it(days: Days) -> None:
    days.build([small(5)], {"2024-03-01": [(1, 1.0), (2, 9.0)]})
    _refused(
        days,
        [small(5)],
        r"error_drop_threshold \(2024-03-01\): 1 of 2 rows",
        error_drop_threshold=0.1,
    )


def test_the_whole_dataset_may_stop_it(days: Days) -> None:
    few = dq.RecordCountInRange(
        name="few", max=3, scope="whole_dataset", on="validated", action_if_failed="fail"
    )
    days.build([small(5)], {"2024-03-01": [(1, 1.0), (2, 1.0)], "2024-03-02": [(3, 1.0), (4, 9.0)]})
    _refused(days, [small(50), few], "few: The number of rows is 4", keys=["2024-03-02"])


def _refused(
    days: Days, rules: Sequence[Any], reason: str, keys: Sequence[str] = (), **settings: Any
) -> None:
    defs = days.definitions(rules, **settings)
    for dry_run, said in ((True, "would publish nothing"), (False, "was published")):
        with pytest.raises(NotReplayable, match=rf"{said}\. {reason}"):
            dq.replay(
                defs,
                "things",
                partitions=list(keys) or None,
                dry_run=dry_run,
                instance=days.instance,
            )


def test_it_leaves_nothing_behind(days: Days) -> None:
    days.build([small(5)], {"2024-03-01": [(1, 1.0), (2, 9.0)]})
    before = _files(days.folder)
    defs = days.definitions([small(50)])
    repairs: list[Callable[[DataFrame], DataFrame] | None] = [None, lambda rows: rows]
    for repair in repairs:
        tried = dq.replay(defs, "things", repair=repair, dry_run=True, instance=days.instance)
        assert (tried.released, tried.remaining) == (1, 0)
    assert _files(days.folder) == before


def _files(folder: Path) -> set[Path]:
    return {one for one in folder.rglob("*") if one.is_file()}
