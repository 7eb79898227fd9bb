"""Runs a TopNotch plan on Spark Connect, in a process of its own, and prints its report."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dq_dagster as dq
from tests.connect_port import wait_for_port
from tests.sources.topnotch.loans import a_diff, a_view, an_assertion, write_plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ASSERTION = {
    "query": "half < 2",
    "description": "half of x is small",
    "threshold": 0.1,
    "userDefinedFeatures": {"half": "x / 2"},
    "userDefinedSummaryExpr": {"largest": "max(x)"},
    "sampleWindowParams": {"idsForWindowPartitioning": ["pool"], "orderEachWindowBy": ["id"]},
}


def report_of(session: SparkSession, folder: Path) -> Any:
    """What a plan with all kinds of commands gives; paths are relative to the folder."""
    folder.mkdir()
    os.chdir(folder)
    rows = [(1, 1, 1.0), (2, 1, 4.5), (3, 2, 9.0), (4, 2, None)]
    columns = "id int, pool int, x double"
    session.createDataFrame(rows, columns).coalesce(1).write.parquet(str(folder / "left.parquet"))
    other = session.createDataFrame([*rows[:2], (5, 3, 1.0)], columns)
    other.coalesce(1).write.parquet(str(folder / "right.parquet"))
    left, right = ({"ref": f"{side}.parquet", "onDisk": True} for side in ("left", "right"))
    view = {"tableAliases": ["a", "b"], "query": "select a.* from a left join b on a.id = b.id"}
    changed = {"query": "`cur_x__equals__old_x` = 'equal'", "description": "equal", "threshold": 0}
    plan = write_plan(
        folder,
        a_view(inputs=[left, right], cache=True),
        a_diff(filterEqualRows=True, outputPath="diff.parquet"),
        an_assertion("of_view", "v", outputPath="invalid.parquet"),
        an_assertion("of_diff", "d", externalParamsFile="changed.json"),
        view=view,
        assertion={"assertions": [ASSERTION]},
        changed={"assertions": [changed]},
    )
    report = dq.load_plan(plan).run(session)
    invalid = session.read.parquet(str(folder / "invalid.parquet"))
    return {"report": report.content, "invalid": sorted(map(str, invalid.collect()))}


def main() -> None:
    dq.ensure_java()
    from pyspark.sql import SparkSession

    wait_for_port()
    session = SparkSession.builder.remote("local[1]").getOrCreate()
    found = report_of(session, Path(sys.argv[1]))
    sys.stdout.write(json.dumps(found))
    session.stop()


if __name__ == "__main__":
    main()
