"""Rows in quarantine are judged again: released by the same publication, or they stay."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from click.testing import CliRunner
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import dq_dagster as dq
from dq_dagster.cli.main import main
from dq_dagster.errors import NotReplayable
from dq_dagster.rules.types.uniqueness import Keep
from dq_dagster.storage import pairs
from tests.integration.shelf import PYSPARK

Row = tuple[Any, ...]
ROWS: list[Row] = [(1, 1.0), (1, 9.0), (None, 2.0), (3, 3.0), (4, 40.0), (5, -1.0)]
STRICT = [
    dq.ColumnNotEmpty(name="id_given", columns="id", action_if_failed="drop"),
    dq.ColumnUnique(
        name="one_each", columns="id", action_if_failed="drop", keep=Keep(order_by="x DESC")
    ),
    dq.ColumnValuesInRange(name="small", columns="x", max=5, action_if_failed="drop"),
    dq.RowExpectation(name="positive", expectation="x > 0"),
]
LENIENT = [
    *STRICT[:2],
    dq.ColumnValuesInRange(name="small", columns="x", max=50, action_if_failed="drop"),
    STRICT[3],
]


def assets_of(defs: dg.Definitions) -> list[dg.AssetsDefinition]:
    return [one for one in defs.assets or () if isinstance(one, dg.AssetsDefinition)]


@dataclass
class Warehouse:
    """A guarded asset, its definitions with rules that may change, and what is stored of it."""

    spark: SparkSession
    folder: Path
    instance: dg.DagsterInstance
    partitions: Sequence[str] = ()
    quarantine: dq.Quarantine | bool = True
    rows: Sequence[Row] = tuple(ROWS)

    def definitions(self, rules: Sequence[Any]) -> dg.Definitions:
        rows, spark = self.rows, self.spark
        keys = dg.StaticPartitionsDefinition(list(self.partitions)) if self.partitions else None

        @dq.guarded_asset(rules=rules, quarantine=self.quarantine, partitions_def=keys)
        def things() -> DataFrame:
            return spark.createDataFrame(list(rows), "id int, x double")

        manager = dq.SparkIOManager(pyspark=PYSPARK, path=str(self.folder))
        return dg.Definitions(assets=[things], resources={"io_manager": manager})

    def build(self, rules: Sequence[Any], partition: str | None = None) -> bool:
        defs = self.definitions(rules)
        return dg.materialize(
            assets_of(defs),
            instance=self.instance,
            resources=defs.resources,
            partition_key=partition,
            raise_on_error=False,
        ).success

    def replay(self, rules: Sequence[Any], **arguments: Any) -> Any:
        return dq.replay(self.definitions(rules), "things", instance=self.instance, **arguments)

    def table(self, partition: str | None = None) -> list[Row]:
        return self._rows("things", partition, "id", "x")

    def kept(self, partition: str | None = None) -> list[Row]:
        return self._rows(
            "things_quarantine", partition, "id", "x", "dq_state", "dq_faults.rule AS rules"
        )

    def _rows(self, asset: str, partition: str | None, *columns: str) -> list[Row]:
        store = dq.SparkIOManager(pyspark=self.spark, path=str(self.folder)).store(
            dg.AssetKey(asset)
        )
        frame = store.load_whole(self.spark) if partition is None else None
        if frame is None:
            frame = store.load(self.spark, [str(partition)]).plain
        return sorted((tuple(row) for row in frame.selectExpr(*columns).collect()), key=str)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "dagster.yaml").write_text("telemetry: {enabled: false}\n", encoding="utf-8")
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        yield instance


@pytest.fixture
def make(spark: SparkSession, tmp_path: Path, home: dg.DagsterInstance) -> Callable[..., Warehouse]:
    return lambda **fields: Warehouse(spark, tmp_path / "data", home, **fields)


def test_rows_that_pass_are_released_and_the_others_stay(make: Callable[..., Warehouse]) -> None:
    house = make()
    assert house.build(STRICT)
    assert house.table() == [(3, 3.0), (5, -1.0)]
    assert house.kept() == [
        (1, 1.0, "left_out", ["one_each"]),
        (1, 9.0, "left_out", ["small"]),
        (4, 40.0, "left_out", ["small"]),
        (5, -1.0, "kept", ["positive"]),
        (None, 2.0, "left_out", ["id_given"]),
    ]
    tried = house.replay(LENIENT, dry_run=True)
    assert str(tried) == "things: of 4 rows in quarantine 2 would be released, 2 remain."
    assert dict(tried.slices[0].rules) == {"one_each": 1, "id_given": 1}
    assert house.table() == [(3, 3.0), (5, -1.0)], "a dry run changes nothing"
    done = house.replay(LENIENT)
    assert str(done) == "things: of 4 rows in quarantine 2 were released, 2 remain."
    after = [(1, 9.0), (3, 3.0), (4, 40.0), (5, -1.0)]
    left = [
        (1, 1.0, "left_out", ["one_each"]),
        (5, -1.0, "kept", ["positive"]),
        (None, 2.0, "left_out", ["id_given"]),
    ]
    assert (house.table(), house.kept()) == (after, left)
    again = house.replay(LENIENT)
    assert (again.before, again.released, again.remaining) == (2, 0, 2)
    assert (house.table(), house.kept()) == (after, left), "twice changes nothing more"
    repaired = house.replay(LENIENT, repair=lambda rows: rows.na.fill({"id": 7}))
    assert (repaired.before, repaired.released, repaired.remaining) == (2, 1, 1)
    assert (7, 2.0) in house.table()


def test_what_is_in_the_table_stays_there(make: Callable[..., Warehouse]) -> None:
    house = make()
    assert house.build(LENIENT)
    assert (4, 40.0) in house.table()
    # By stricter rules than the table was built with, and with a row that would win by its order.
    rules = [*STRICT[:2], dq.ColumnValuesInRange(name="small", columns="x", max=5)]
    rules += [dq.RowExpectation(name="new", expectation="id <> 3", action_if_failed="drop")]
    done = house.replay(rules, repair=lambda rows: rows.withColumn("x", F.lit(99.0)))
    assert house.table() == [(1, 9.0), (3, 3.0), (4, 40.0), (5, -1.0)]
    assert done.released == 0
    assert [row for row in house.kept() if row[2] == "left_out"] == [
        (1, 99.0, "left_out", ["one_each", "small"]),
        (None, 99.0, "left_out", ["id_given", "small", "new"]),
    ]


def test_partitions_are_replayed_one_by_one(make: Callable[..., Warehouse]) -> None:
    house = make(partitions=["a", "b"])
    for key in ("a", "b"):
        assert house.build(STRICT, key)
    done = house.replay(LENIENT, partitions=["b"])
    assert [(one.partition, one.released, one.remaining) for one in done.slices] == [("b", 2, 2)]
    assert house.table("a") == [(3, 3.0), (5, -1.0)]
    assert house.table("b") == [(1, 9.0), (3, 3.0), (4, 40.0), (5, -1.0)]
    everything = house.replay(LENIENT)
    assert [(one.partition, one.released) for one in everything.slices] == [("a", 2), ("b", 0)]
    with pytest.raises(NotReplayable, match=r"Nothing of partition 'c' .* There is: a, b"):
        house.replay(LENIENT, partitions=["c"])


def test_a_build_that_was_withheld_is_built_again_instead(make: Callable[..., Warehouse]) -> None:
    house = make()
    failing = [dq.ColumnNotEmpty(name="id_given", columns="id", action_if_failed="fail")]
    assert not house.build(failing)
    with pytest.raises(NotReplayable, match="was withheld"):
        house.replay(LENIENT)
    assert house.build(STRICT)
    assert not house.build(failing)
    with pytest.raises(NotReplayable, match="was withheld: nothing of it is in the table"):
        house.replay(LENIENT, dry_run=True)
    assert house.table() == [(3, 3.0), (5, -1.0)]


def test_masked_values_have_to_be_restored(make: Callable[..., Warehouse]) -> None:
    house = make(quarantine=dq.Quarantine(sensitive=["x"]))
    assert house.build(STRICT)
    assert {row[1] for row in house.kept()} == {None}
    for dry_run in (True, False):
        with pytest.raises(NotReplayable, match="their values of x are masked"):
            house.replay(LENIENT, dry_run=dry_run)
    done = house.replay(LENIENT, repair=lambda rows: rows.selectExpr("id", "4D AS x"))
    assert (done.before, done.released) == (4, 2)


def test_what_a_repair_gives_back(make: Callable[..., Warehouse]) -> None:
    """Each row once, with the columns of the table: else rows are lost, doubled, or made others."""
    warehouse = make()
    assert warehouse.build(STRICT)
    before = warehouse.table(), warehouse.kept()
    twice = F.explode(F.array(F.lit(1), F.lit(2)))
    repairs: list[tuple[Callable[[DataFrame], DataFrame], str]] = [
        (lambda rows: rows.where("x > 5"), "was given 4 rows and gave back 2: it has to give back"),
        (lambda rows: rows.withColumn("n", twice), "was given 4 rows and gave back 8"),
        (lambda rows: rows.drop("id"), "gave back rows without the column 'id'"),
        (
            lambda rows: rows.withColumn("x", F.lit("1")),
            "gave back 'x' as string, which is double in the table: cast it to double.",
        ),
    ]
    for repair, message in repairs:
        with pytest.raises(NotReplayable, match=message):
            warehouse.replay(STRICT, repair=repair, dry_run=True)
    for repair, message in repairs[::3]:
        with pytest.raises(NotReplayable, match=f"as it was. The repair of 'things' {message}"):
            warehouse.replay(STRICT, repair=repair)
    assert (warehouse.table(), warehouse.kept()) == before


def test_a_dry_run_knows_what_would_stop_a_replay(make: Callable[..., Warehouse]) -> None:
    warehouse = make()
    assert warehouse.build(STRICT)
    before = warehouse.table(), warehouse.kept()
    cases: list[tuple[list[Any], str]] = [
        ([dq.RowExpectation(name="given", expectation="id > 0", action_if_failed="fail")], "given"),
        (
            [dq.RecordCountInRange(name="few", max=4, on="validated", action_if_failed="fail")],
            "few",
        ),
    ]
    for rules, name in cases:
        with pytest.raises(NotReplayable, match=f"would publish nothing. {name}: "):
            warehouse.replay(rules, dry_run=True)
        with pytest.raises(NotReplayable, match=f"Nothing of 'things' was published. {name}: "):
            warehouse.replay(rules)
    assert (warehouse.table(), warehouse.kept()) == before


@pytest.mark.parametrize("killed_after", [0, 1])
def test_a_kill_between_the_two_publications_neither_loses_nor_doubles_a_row(
    make: Callable[..., Warehouse], monkeypatch: pytest.MonkeyPatch, killed_after: int
) -> None:
    house = make()
    assert house.build(STRICT)
    real = Path.replace

    class KilledError(BaseException):
        pass

    renamed: list[Path] = []

    def dying(self: Path, target: Any) -> Path:
        if Path(target).name == "_current.json":
            if len(renamed) == killed_after:
                raise KilledError
            renamed.append(self)
        return real(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", dying)
        with pytest.raises(BaseException):  # noqa: B017, PT011 (as a process that is killed)
            house.replay(LENIENT)
    assert list((house.folder / "things_quarantine" / ".publishing").glob("*.json"))
    done = house.replay(LENIENT)
    assert done.remaining == 2
    assert house.table() == [(1, 9.0), (3, 3.0), (4, 40.0), (5, -1.0)]
    assert len(house.kept()) == 3
    pairs.finish_publishing(house.folder / "things_quarantine")
    assert house.table() == [(1, 9.0), (3, 3.0), (4, 40.0), (5, -1.0)]


def test_rows_in_memory_of_pandas_are_replayed_as_pandas(
    spark: SparkSession, tmp_path: Path, home: dg.DagsterInstance
) -> None:
    def definitions(limit: int) -> dg.Definitions:
        small = dq.ColumnValuesInRange(
            name="small", columns="x", max=limit, action_if_failed="drop"
        )

        @dq.guarded_asset(rules=[small])
        def things() -> pd.DataFrame:
            return pd.DataFrame({"x": [1, 7, 70]})

        manager = dg.FilesystemIOManager(base_dir=str(tmp_path / "pickles"))
        return dg.Definitions(assets=[things], resources={"io_manager": manager})

    defs = definitions(5)
    dg.materialize(assets_of(defs), instance=home, resources=defs.resources)
    done = dq.replay(definitions(10), "things", instance=home)
    assert (done.before, done.released, done.remaining) == (2, 1, 1)
    value = defs.load_asset_value("things", instance=home)
    assert isinstance(value, pd.DataFrame)
    assert sorted(value["x"]) == [1, 7]
    assert list(value.columns) == ["x"]


def test_only_guarded_assets_can_be_replayed(make: Callable[..., Warehouse]) -> None:
    house = make(quarantine=False)
    with pytest.raises(NotReplayable, match=r"There is no guarded asset 'thing'\. Did you mean"):
        dq.replay(house.definitions(STRICT), "thing", instance=house.instance)
    with pytest.raises(NotReplayable, match="keeps no quarantine"):
        house.replay(STRICT)


def test_rows_are_forgotten_after_their_time(
    make: Callable[..., Warehouse], monkeypatch: pytest.MonkeyPatch
) -> None:
    house = make(partitions=["a", "b"], quarantine=dq.Quarantine(retention_days=30))
    assert house.build(STRICT, "a")
    assert len(house.kept("a")) == 5
    assert house.build(STRICT, "b")
    assert len(house.kept("a")) == 5, "it is not old yet"

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(UTC) + timedelta(days=31)

    monkeypatch.setattr("dq_dagster.integration.guarded.step.datetime", Later)
    assert house.build(STRICT, "b")
    assert house.kept("a") == []
    assert len(house.kept("b")) == 5
    record = house.instance.fetch_materializations(
        dg.AssetRecordsFilter(dg.AssetKey("things_quarantine"), asset_partitions=["a"]), limit=1
    ).records[0]
    event = record.asset_materialization
    assert event is not None
    assert event.description == "Its rows are older than 30 days, and were removed."


CODE = """
import dagster as dg
import dq_dagster as dq
from pyspark.sql import SparkSession

LIMIT = {limit}


@dq.guarded_asset(
    rules=[dq.ColumnValuesInRange(name="small", columns="x", max=LIMIT, action_if_failed="drop")]
)
def numbers():
    return SparkSession.active().range(5).withColumnRenamed("id", "x")


class Session:
    @property
    def spark_session(self):
        return SparkSession.active()


defs = dg.Definitions(
    assets=[numbers],
    resources={{"io_manager": dq.SparkIOManager(pyspark=Session(), path={path!r})}},
)
"""


def test_on_the_command_line(
    spark: SparkSession,
    tmp_path: Path,
    home: dg.DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    file = tmp_path / "numbers_in_flight.py"
    file.write_text(CODE.format(limit=1, path=str(tmp_path / "data")), encoding="utf-8")
    built: dict[str, Any] = {}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), built)
    defs = built["defs"]
    dg.materialize(list(defs.assets), instance=home, resources=defs.resources)
    file.write_text(CODE.format(limit=3, path=str(tmp_path / "data")), encoding="utf-8")

    def said(*arguments: str, code: int = 0) -> str:
        found = CliRunner().invoke(main, ["replay", *arguments])
        assert found.exit_code == code, found.output
        return found.output if code else found.stdout

    tried = said("numbers", "-f", str(file), "--dry-run")
    assert tried.splitlines()[0] == (
        "numbers: of 3 rows in quarantine 2 would be released, 1 remain."
    )
    assert "1 break small" in tried
    done = json.loads(said("numbers", "-f", str(file), "--json"))
    assert (done["before"], done["released"], done["remaining"]) == (3, 2, 1)
    assert "There is no guarded asset 'number'. Did you mean 'numbers'?" in said(
        "number", "-f", str(file), code=2
    )
    assert "has no partitions" in said("numbers", "-f", str(file), "--partition", "a", code=2)
    assert "There is no file 'no.py'" in said("numbers", "-f", "no.py", code=2)
    monkeypatch.chdir(tmp_path)
    assert "There is no code location here" in said("numbers", code=2)
    monkeypatch.delenv("DAGSTER_HOME")
    assert "DAGSTER_HOME is not set" in said("numbers", "-f", str(file), code=2)
