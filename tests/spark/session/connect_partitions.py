"""Stores and loads partitions on Spark Connect, in a process of its own, and prints the rows."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import dq_dagster as dq
from dq_dagster.spark.frames.frames import HIDDEN_KEY
from tests.connect_port import wait_for_port

KEYS = ["01", "2024-01-01|eu", "x" * 300, "a b/\U0001f600"]


def stored(session: Any, folder: str) -> list[Any]:
    """The partitions of each row, locally and behind a URI, and what is said of missing ones."""
    from dq_dagster.storage.local import LocalStore
    from dq_dagster.storage.remote import RemoteStore

    found: list[Any] = []
    stores: list[Any] = [
        LocalStore("orders", Path(folder) / "orders", "parquet"),
        RemoteStore("orders", f"file://{folder}/remote/orders", "parquet"),
    ]
    for store in stores:
        frames = {key: session.sql(f"SELECT {n} AS n") for n, key in enumerate(KEYS)}
        store.write(frames | {"less": session.sql("SELECT 'y' AS other")})
        rows = session.sql("SELECT id AS n, concat('k', id) AS k FROM range(2)")
        store.write_split(rows, "k", ["k0", "k1", "k2"])
        store.write_whole(session.sql("SELECT 'whole' AS x"))
        divided = store.load(session, [*KEYS, "less", "k0", "k1", "k2"])
        named = divided.frame.select(HIDDEN_KEY, "n", "other", "k").collect()
        found.append(sorted(map(list, named), key=str))
        found.append([sorted(kind.partitions) for kind in divided.others])
        found.append([row.x for row in store.load_whole(session).collect()])
        try:
            store.load(session, ["none"])
        except dq.DqError as error:
            found.append(str(error).replace(folder, ""))
    return found


def main() -> None:
    dq.ensure_java()
    from pyspark.sql import SparkSession

    wait_for_port()
    session = SparkSession.builder.remote("local[1]").getOrCreate()
    sys.stdout.write(json.dumps(stored(session, sys.argv[1])))
    session.stop()


if __name__ == "__main__":
    main()
