"""The quarantine: its place, its readers, what is masked, and what happens if it cannot be had."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import DataFrame, Row, SparkSession

import dq_dagster as dq
from tests.integration.calendar import DAILY, day
from tests.integration.guarded.gate import (
    ORDERS,
    QUARANTINE,
    Gate,
    built,
    judged,
    orders,
    own_columns,
    positive,
    said,
    why,
)


def test_another_place_and_a_reader_downstream(spark: SparkSession, tmp_path: Path) -> None:
    seen: dict[str, list[Any]] = {}

    @dg.asset
    def review(bad: DataFrame) -> None:
        seen["bad"] = sorted(row["id"] for row in bad.collect())
        seen["columns"] = bad.columns

    gate = Gate(
        tmp_path / "good",
        orders(spark, 5, -1),
        [positive()],
        quarantine=dq.Quarantine(asset="bad", path=str(tmp_path / "b d"), format="orc"),
        beside=[review],
    )
    run = gate.build()
    assert run.success
    assert seen["bad"] == [2]
    assert own_columns_of(seen["columns"]) == ["id", "amount"]
    assert list((tmp_path / "b d" / "bad").glob("dq_dataset/*/*.orc"))
    assert set(gate.asset.keys) == {ORDERS, dg.AssetKey("bad")}
    assert not (tmp_path / "good" / "orders_quarantine").exists()


def own_columns_of(names: list[str]) -> list[str]:
    return [name for name in names if not name.startswith("dq_")]


@pytest.mark.parametrize("partitioned", [False, True])
def test_a_quarantine_that_cannot_be_written_publishes_nothing(
    spark: SparkSession, tmp_path: Path, partitioned: bool
) -> None:
    settings: dict[str, Any] = {"partitions_def": DAILY} if partitioned else {}
    keys = [day(1), day(2)] if partitioned else []

    def value(amount: int) -> Any:
        frame = orders(spark, amount, -1)
        return lambda *given: dict.fromkeys(given[0], frame) if given else frame

    gate = Gate(tmp_path, value(5), [positive()], **settings)
    assert gate.build(*keys).success
    before = gate.published()
    kept = tmp_path / "orders_quarantine"
    kept.rename(tmp_path / "away")
    # A file where the folder should be.
    kept.write_text("")
    gate.value = value(7)
    run = gate.build(*keys)
    assert not run.success
    assert built(run) == []
    assert list(judged(run).values()) == ["Error"] * max(len(keys), 1)
    assert all("could not be stored" in text for text in said(run).values())
    assert gate.published() == before
    kept.unlink()
    (tmp_path / "away").rename(kept)
    assert [row["amount"] for row in gate.published(QUARANTINE)] == [-1] * max(len(keys), 1)
    assert gate.build(*keys).success
    assert {row["amount"] for row in gate.published()} == {7}
    assert not list((tmp_path / "orders" / ".staging").iterdir())


def test_old_bad_rows_stay_readable_when_the_columns_change(
    spark: SparkSession, tmp_path: Path
) -> None:
    def gate_of(value: DataFrame) -> Gate:
        return Gate(
            tmp_path,
            lambda keys: dict.fromkeys(keys, value),
            [positive()],
            partitions_def=DAILY,
            instance=instance,
        )

    with dg.DagsterInstance.ephemeral() as instance:
        gate_of(orders(spark, 5, -1)).build(day(1))
        wide = spark.createDataFrame([(2, -7, "x")], "id int, amount int, note string")
        gate = gate_of(wide)
        assert gate.build(day(2)).success
        frame = gate.frame(QUARANTINE)
        assert own_columns(frame) == ["id", "amount", "note"]
        assert sorted(
            (row["amount"], row["note"], len(row["dq_faults"])) for row in frame.collect()
        ) == [(-7, "x", 1), (-1, None, 1)]
        narrow = spark.createDataFrame([(-3,)], "amount int")
        gate = gate_of(narrow)
        assert gate.build(day(1)).success
        assert sorted(row["amount"] for row in gate.frame(QUARANTINE).collect()) == [-7, -3]


def test_readers_that_began_before_a_rebuild_get_the_old_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    gate = Gate(tmp_path, orders(spark, 5, -1), [positive()])
    gate.build()
    old, kept = gate.frame(), gate.frame(QUARANTINE)
    gate.value = orders(spark, -5, 1, 2)
    gate.build()
    assert old.collect() == [Row(id=1, amount=5)]
    assert [row["id"] for row in kept.collect()] == [2]
    assert (gate.ids(), list(gate.quarantined())) == ([2, 3], [1])


def quarantined_counts(run: dg.ExecuteInProcessResult) -> dict[str | None, Any]:
    """How many rows the quarantine has by its materializations, by partition."""
    return {
        one.partition: {
            name: entry.value
            for name, entry in one.materialization.metadata.items()
            if name.endswith("row_count")
        }
        for one in run.get_asset_materialization_events()
        if one.asset_key == QUARANTINE
    }


def kept_in(gate: Gate, keys: list[str]) -> list[tuple[int, str]]:
    """The amounts in quarantine, and what became of them; partitions are to be alike."""
    store, session = gate.io.store(QUARANTINE), gate.io.session()
    frames = [store.load(session, [key]).plain for key in keys] or [store.load_whole(session)]
    found = [
        sorted((row["amount"], row["dq_state"]) for row in frame.collect()) for frame in frames
    ]
    assert found == found[:1] * len(found)
    return found[0]


@pytest.mark.parametrize(
    ("place", "keys", "job"),
    [
        ("local", [], None),
        pytest.param("local", [day(1), day(2)], "asset_alone", marks=pytest.mark.deep),
        pytest.param("uri", [], "asset_alone", marks=pytest.mark.deep),
        ("uri", [day(1), day(2)], None),
        ("other", [], None),
    ],
)
def test_bad_rows_of_what_is_published_stay_beside_those_that_are_withheld(
    spark: SparkSession, tmp_path: Path, place: str, keys: list[str], job: str | None
) -> None:
    settings: dict[str, Any] = {"partitions_def": DAILY} if keys else {}
    if place == "other":
        settings["io_manager"] = dg.FilesystemIOManager(base_dir=str(tmp_path / "pickles"))
        settings["quarantine"] = dq.Quarantine(path=str(tmp_path))
    rules = [positive(), positive("fail", name="no_nine", expectation="amount <> 9")]
    gate = Gate(
        f"file://{tmp_path}" if place == "uri" else tmp_path, lambda: None, rules, **settings
    )

    def build(*amounts: int) -> dg.ExecuteInProcessResult:
        rows = orders(spark, *amounts)
        whole = rows.toPandas() if place == "other" else rows
        gate.value = lambda *given: dict.fromkeys(given[0], rows) if given else whole
        return gate.build(*keys, job=job)

    def counts(rows: int) -> dict[Any, Any]:
        name = "dagster/partition_row_count" if keys else "dagster/row_count"
        return {key: {name: rows} for key in (*keys, *([] if keys else [None]))}

    run = build(5, -1)
    assert run.success
    assert (kept_in(gate, keys), quarantined_counts(run)) == ([(-1, "left_out")], counts(1))
    run = build(9, 9, -3)
    assert "Nothing of 'orders' was published. no_nine" in why(run)
    beside = [(-3, "withheld"), (-1, "left_out"), (9, "withheld"), (9, "withheld")]
    assert (kept_in(gate, keys), quarantined_counts(run)) == (beside, counts(4))
    run = build(-4, 9)
    beside = [(-4, "withheld"), (-1, "left_out"), (9, "withheld")]
    assert (kept_in(gate, keys), quarantined_counts(run)) == (beside, counts(3))
    run = build(5, -2)
    assert run.success
    assert (kept_in(gate, keys), quarantined_counts(run)) == ([(-2, "left_out")], counts(1))


def test_withheld_rows_whose_columns_do_not_fit_those_that_are_kept(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Where types clash, both are texts: no row is lost, and the checks have their results."""
    rules = [positive("ignore"), dq.RecordCountInRange(name="two", min=2, action_if_failed="fail")]
    gate = Gate(tmp_path, orders(spark, 5, -1), rules)
    assert gate.build().success
    rows = [([7, 8], "-2", "new")]
    gate.value = spark.createDataFrame(rows, "id array<int>, amount string, note string")
    run = gate.build()
    assert judged(run) == {"positive": "Error", "two": "Error"}
    assert "Nothing of 'orders' was published. two" in why(run)
    assert gate.ids() == [1, 2]
    found = gate.frame(QUARANTINE).selectExpr("id", "amount", "note", "dq_state").collect()
    assert sorted(map(tuple, found)) == [
        ("2", "-1", None, "kept"),
        ("[7,8]", "-2", "new", "withheld"),
    ]


CANARY = "Canary-73195"
SECRET = 73195


def test_sensitive_values_are_kept_nowhere(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        (1, -1, CANARY, SECRET, CANARY, Row(**{"a b": CANARY})),
        (2, 5, "x", 1, "y", Row(**{"a b": "z"})),
        (3, -2, None, None, CANARY, None),
    ]
    schema = "id int, amount int, Name string, salary int, mail string, more struct<`a b`: string>"
    columns = [dg.TableColumn("mail", "string", tags={"dq/sensitive": ""})]
    gate = Gate(
        tmp_path,
        spark.createDataFrame(rows, schema),
        [positive(), dq.ColumnValueLengthsInRange(name="name", columns="Name", max=3)],
        quarantine=dq.Quarantine(sensitive=["name", "SALARY", "more"]),
        metadata={"dagster/column_schema": dg.TableSchema(columns)},
    )
    run = gate.build()
    assert run.success
    found = {row["id"]: row for row in gate.published(QUARANTINE)}
    assert {
        key: (row["Name"], row["salary"], row["mail"], row["more"]) for key, row in found.items()
    } == {1: ("***", None, "***", None), 3: (None, None, "***", None)}
    assert (
        gate.frame(QUARANTINE).drop("dq_faults", "dq_state", "dq_run_id", "dq_time").dtypes[:-1]
        == gate.frame().dtypes
    )
    # The rules saw what was there.
    assert gate.quarantined()[1] == ("left_out", ["name", "positive"])
    for file in (tmp_path / "orders_quarantine").rglob("*"):
        if file.is_file():
            assert CANARY.encode() not in file.read_bytes()


def test_a_sensitive_column_that_does_not_exist_stops_the_build(
    spark: SparkSession, tmp_path: Path
) -> None:
    gate = Gate(
        tmp_path,
        orders(spark, 5, -1),
        [positive()],
        quarantine=dq.Quarantine(sensitive=["amuont"]),
    )
    run = gate.build()
    assert "Column 'amuont' is not in the table. Did you mean 'amount'?" in why(run)
    assert built(run) == []


def test_no_values_of_rows_in_what_dagster_keeps(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = [(1, CANARY, SECRET), (2, "x", 0), (3, CANARY, SECRET), (4, "7", 5)]
    value = spark.createDataFrame(rows, "id int, name string, amount int")
    rules = [
        dq.RowExpectation(name="raises", expectation="CAST(name AS INT) > 0"),
        dq.RowExpectation(name="zero", expectation="1 / amount > 0", action_if_failed="drop"),
        dq.ColumnUnique(name="unique", columns="name", action_if_failed="drop"),
        dq.ColumnValuesInSet(name="known", columns="name", values=["x"], action_if_failed="fail"),
        dq.ColumnMaxInRange(name="largest", columns="amount", max=1, action_if_failed="fail"),
        dq.RecordCountInRange(name="rows", min=1, dimensions=["id"]),
    ]
    gate = Gate(tmp_path, value, rules)
    run = gate.build()
    assert judged(run) == {
        "raises": "Error",
        "zero": "Error",
        "unique": "Error",
        "known": "Error",
        "largest": "Error",
        "rows": "Ok",
    }
    logged = "\n".join(
        json.dumps([str(one.user_message), str(one.error_info), str(one.dagster_event)])
        for one in gate.instance.all_logs(run.run_id)
    )
    assert CANARY not in logged
    captured = capfd.readouterr()
    assert CANARY not in captured.out + captured.err
    # A maximum is a number that the rule is about, and is said; nothing else of the rows is.
    for one in gate.instance.all_logs(run.run_id):
        if "largest" not in str(one):
            assert str(SECRET) not in str(one)


@pytest.mark.parametrize("taken", ["dq_faults", "DQ_State", "dq_run_id"])
def test_columns_that_the_quarantine_has_itself_are_refused(
    spark: SparkSession, tmp_path: Path, taken: str
) -> None:
    value = orders(spark, 5, -1).withColumnRenamed("amount", taken)
    gate = Gate(tmp_path, value, [dq.ColumnNotEmpty(columns="id")])
    run = gate.build()
    assert f"'{taken.lower()}'" in why(run)
    assert built(run) == []
    assert not (tmp_path / "orders" / "dq_dataset").exists()


def test_names_of_columns(spark: SparkSession, tmp_path: Path) -> None:
    names = [
        "a.b",
        "a`b",
        "a b",
        "Ä",
        "UPPER",
        "dq_target",
        "dq_partition",
        "dq_marks",
        "_x",
        "null",
    ]
    rows = [(1, *range(10)), (2, *range(-10, 0)), (3, *range(10))]
    value = spark.createDataFrame(
        rows, ", ".join(["id int", *(f"`{name.replace('`', '``')}` int" for name in names)])
    )
    rules = [
        *(
            dq.ColumnValuesInRange(name=f"r{place}", columns=name, min=-5, action_if_failed="drop")
            for place, name in enumerate(names)
        ),
        *(dq.ColumnUnique(name=f"u{place}", columns=name) for place, name in enumerate(names)),
        dq.ColumnNotEmpty(name="lower", columns="upper", action_if_failed="drop"),
    ]
    gate = Gate(
        tmp_path,
        lambda keys: dict.fromkeys(keys, value),
        rules,
        partitions_def=dg.StaticPartitionsDefinition(["a/b", "c=d"]),
    )
    run = gate.build("a/b", "c=d")
    assert run.success, why(run)
    assert gate.frame().columns == ["id", *names]
    assert gate.ids() == [1, 1, 3, 3]
    assert own_columns(gate.frame(QUARANTINE)) == ["id", *names]
    kept = gate.published(QUARANTINE)
    assert sorted(row["id"] for row in kept) == [1, 1, 2, 2, 3, 3]
    faults = {row["id"]: {one["rule"] for one in row["dq_faults"]} for row in kept}
    assert faults[2] == {f"r{place}" for place in range(5)}
    assert faults[1] == faults[3] == {f"u{place}" for place in range(10)}
    assert {one["columns"][0] for row in kept for one in row["dq_faults"]} == set(names)


def test_without_partitions_old_rows_go_while_builds_are_withheld(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any build that is published replaces the quarantine as it is."""
    few = {"type": "record_count_in_range", "name": "few", "max": 2, "action_if_failed": "fail"}
    gate = Gate(
        tmp_path,
        orders(spark, 1, -1),
        [positive(), few],
        quarantine=dq.Quarantine(retention_days=30),
    )
    assert gate.build().success
    gate.value = orders(spark, 1, 2, 3, -1)
    assert not gate.build().success
    states = [row["dq_state"] for row in gate.published(QUARANTINE)]
    assert sorted(states) == ["left_out", "withheld"]

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(UTC) + timedelta(days=31)

    monkeypatch.setattr("dq_dagster.integration.guarded.step.datetime", Later)
    assert not gate.build().success
    assert [row["dq_state"] for row in gate.published(QUARANTINE)] == ["withheld"]
