"""Replays where table and quarantine are two writes, and a process ends at any point of them."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster.errors import NotReplayable


class Fragile(dg.IOManager):
    """Keeps what it is given, and breaks before or after it has kept a certain asset."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}
        self.breaks: tuple[str, str] | None = None

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        name = context.asset_key.path[-1]
        if self.breaks == (name, "before"):
            raise OSError("gone")
        self.kept[name] = obj
        if self.breaks == (name, "after"):
            raise OSError("gone")

    def load_input(self, context: dg.InputContext) -> Any:
        return self.kept[context.asset_key.path[-1]]


@dataclass
class Shop:
    instance: dg.DagsterInstance
    manager: Fragile = field(default_factory=Fragile)
    quarantine: dq.Quarantine | bool = True

    def definitions(self, limit: int) -> dg.Definitions:
        small = dq.ColumnValuesInRange(
            name="small", columns="x", max=limit, action_if_failed="drop"
        )

        @dq.guarded_asset(rules=[small], quarantine=self.quarantine)
        def things() -> pd.DataFrame:
            return pd.DataFrame({"x": [1, 7, 70]})

        return dg.Definitions(assets=[things], resources={"io_manager": self.manager})

    def build(self) -> bool:
        defs = self.definitions(5)
        [asset] = [one for one in defs.assets or () if isinstance(one, dg.AssetsDefinition)]
        return dg.materialize(
            [asset], instance=self.instance, resources=defs.resources, raise_on_error=False
        ).success

    def replay(self, *, dry_run: bool = False) -> tuple[int, int]:
        done = dq.replay(self.definitions(10), "things", dry_run=dry_run, instance=self.instance)
        return done.released, done.remaining

    def broken_replay(self, asset: str, when: str) -> None:
        self.manager.breaks = asset, when
        with pytest.raises(NotReplayable, match="failed in run"):
            self.replay()
        self.manager.breaks = None

    def table(self) -> list[int]:
        return sorted(self.manager.kept["things"]["x"])


@pytest.fixture
def shop(spark: SparkSession, tmp_path: Path) -> Iterator[Shop]:
    home = tmp_path / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n", encoding="utf-8")
    with dg.DagsterInstance.from_config(str(home)) as instance:
        yield Shop(instance)


def test_a_table_that_was_not_written_is_written_by_the_next_replay(shop: Shop) -> None:
    assert shop.build()
    shop.broken_replay("things", "before")
    assert shop.table() == [1]
    assert shop.replay() == (1, 1)
    assert shop.table() == [1, 7]
    assert shop.replay() == (0, 1)


@pytest.mark.parametrize(
    ("asset", "when", "message"),
    [
        ("things", "after", "had written the table and before it took the rows out of quarantine"),
        ("things_quarantine", "before", "was written by run .*, and its quarantine by run "),
    ],
)
def test_no_row_is_released_twice(shop: Shop, asset: str, when: str, message: str) -> None:
    assert shop.build()
    shop.broken_replay(asset, when)
    assert shop.table() == [1, 7], "the table is written first"
    for dry_run in (True, False):
        with pytest.raises(NotReplayable, match=message) as refused:
            shop.replay(dry_run=dry_run)
        assert "Build it again, which replaces both." in str(refused.value)
    assert shop.table() == [1, 7]
    assert shop.build()
    assert shop.replay() == (1, 1)
    assert shop.table() == [1, 7]


def test_a_quarantine_in_a_place_of_its_own_keeps_rows_until_the_table_has_them(
    shop: Shop, tmp_path: Path
) -> None:
    shop.quarantine = dq.Quarantine(path=str(tmp_path / "kept"))
    assert shop.build()
    shop.broken_replay("things", "before")
    assert shop.table() == [1]
    assert shop.replay(dry_run=True) == (1, 1)
    assert shop.replay() == (1, 1)
    assert shop.table() == [1, 7]


def test_rows_of_another_build_are_not_released(shop: Shop) -> None:
    """What was left out of the table before this one may be in this one, repaired."""
    assert shop.build()
    shop.manager.breaks = "things_quarantine", "before"
    assert not shop.build()
    shop.manager.breaks = None
    with pytest.raises(NotReplayable, match="so that rows may be in both"):
        shop.replay()
