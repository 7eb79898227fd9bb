"""Builds guarded assets with a session, here one of Spark Connect, and prints what is there."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import json
import sys
from typing import Any

import dagster as dg

import dq_dagster as dq
from tests.connect_port import wait_for_port
from tests.integration.calendar import RANGE_END, RANGE_START

RULES: list[Any] = [
    {"type": "row_dq", "name": "good", "expectation": "amount > 0", "action_if_failed": "drop"},
    {"type": "row_dq", "name": "raises", "expectation": "10 / (amount - 4) < 9"},
    {"type": "column_values_in_range", "columns": "amount", "name": "small", "max": 3},
    {
        "type": "column_unique",
        "columns": "amount",
        "name": "unique",
        "keep": {"order_by": "id DESC"},
        "action_if_failed": "drop",
    },
    {"type": "agg_dq", "name": "sum", "expectation": "sum(amount) > 0", "on": "validated"},
    {"type": "record_count_in_range", "name": "rows", "min": 3, "scope": "both"},
]
VALUES = "(1, 1, 'p1'), (2, 1, 'p1'), (3, -1, 'p1'), (4, 4, 'p2'), (5, NULL, 'p2'), (6, 6, 'p2')"
PARTS = dg.StaticPartitionsDefinition(["p1", "p2"])


class OwnSession:
    """A resource that has the session."""

    def __init__(self, session: Any) -> None:
        self.spark_session = session


def built(session: Any, folder: str) -> list[Any]:
    """What is there and what is said after builds with partitions, without, and of a stop."""
    frame = session.sql(f"SELECT * FROM VALUES {VALUES} AS t(id, amount, part)")
    found: list[Any] = []
    plain = {"rules": RULES, "name": "plain"}
    parts = {
        "rules": RULES,
        "name": "parts",
        "partitions_def": PARTS,
        "backfill_policy": dg.BackfillPolicy.single_run(),
        "metadata": {"partition_expr": "part"},
    }
    stopped = {"rules": [{**RULES[0], "action_if_failed": "fail"}], "name": "stopped"}
    io = dq.SparkIOManager(pyspark=OwnSession(session), path=folder)
    for settings in (plain, parts, stopped):
        asset = dq.guarded_asset(**settings)(lambda: frame)
        tags = {RANGE_START: "p1", RANGE_END: "p2"} if settings is parts else {}
        run = dg.materialize([asset], resources={"io_manager": io}, tags=tags, raise_on_error=False)
        said = sorted(
            (one.check_name, one.partition or "", str(one.description))
            for one in run.get_asset_check_evaluations()
        )
        name = str(settings["name"])
        keys = ["p1", "p2"] if settings is parts else None
        found.append(
            [run.success, said, *(_rows(io, key, keys) for key in (name, f"{name}_quarantine"))]
        )
    return found


def _rows(io: dq.SparkIOManager, name: str, keys: list[str] | None) -> list[Any]:
    store = io.store(dg.AssetKey(name))
    try:
        frame = (
            store.load_whole(io.session()) if keys is None else store.load(io.session(), keys).plain
        )
    except dq.DqError:
        return ["nothing"]
    return sorted(
        [
            row["id"],
            row["amount"],
            *([one["rule"] for one in row["dq_faults"]] if "dq_faults" in row else []),
        ]
        for row in frame.collect()
    )


def main() -> None:
    dq.ensure_java()
    from pyspark.sql import SparkSession

    wait_for_port()
    session = SparkSession.builder.remote("local[2]").getOrCreate()
    sys.stdout.write("\n" + json.dumps(built(session, sys.argv[1])))
    session.stop()


if __name__ == "__main__":
    main()
