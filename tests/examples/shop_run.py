"""A run of the example shop, and the defects that its data says are planted in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import dagster as dg

import dq_dagster as dq
from definitions import defs
from dq_dagster.integration.guarded.replay import Replay
from examples.shop import data
from examples.shop import resources as shop_resources


class Defect(NamedTuple):
    """A row of the table in the docstring of examples/shop/data.py."""

    table: str
    rows: str
    check: str
    status: str


def planted() -> list[Defect]:
    lines = (data.__doc__ or "").splitlines()
    rule = next(line for line in lines if line.startswith("---"))
    columns = [slice(*found.span()) for found in re.finditer(r"-+", rule)]
    below = lines[lines.index(rule) + 1 :]
    return [Defect(*(line[column].strip() for column in columns[:4])) for line in below]


DEFECTS = planted()


@dataclass(frozen=True)
class ShopRun:
    """The runs of the demo, where the tables lie, and what was printed meanwhile."""

    result: dg.ExecuteInProcessResult
    replayed: Replay | None
    by_day: dg.ExecuteInProcessResult
    instance: dg.DagsterInstance
    folder: Path
    progress: str

    def evaluation(self, asset: str, check: str) -> dg.AssetCheckEvaluation:
        return next(
            evaluation
            for evaluation in self.result.get_asset_check_evaluations()
            if evaluation.asset_key == dg.AssetKey(asset) and evaluation.check_name == check
        )

    def path(self, asset: str) -> str:
        """Where the run of all tables stored an asset; it stays there after a replay."""
        for event in self.result.get_asset_materialization_events():
            built = event.step_materialization_data.materialization
            if built.asset_key == dg.AssetKey(asset):
                return str(built.metadata["path"].value)
        raise AssertionError(f"{asset} was not built")

    def metadata(self, asset: str, check: str) -> dict[str, Any]:
        return {k: v.value for k, v in self.evaluation(asset, check).metadata.items()}


def resources(folder: Path, *, repaired: bool = False) -> dict[str, Any]:
    return {"shop": {"config": {"orders": 600, "repaired": repaired}}, **io_manager(folder)}


def definitions(folder: Path) -> dg.Definitions:
    """Those of the shop, with its tables in this folder."""
    manager = dq.SparkIOManager(pyspark=shop_resources.pyspark, path=str(folder))
    return dg.Definitions(
        assets=defs.assets, resources={**(defs.resources or {}), "io_manager": manager}
    )


def io_manager(folder: Path) -> dict[str, Any]:
    return {"io_manager": {"config": {"path": str(folder)}}}
