"""How far a reader has to walk to follow one plain check: the files it touches, and the hops.

Run it by itself, ``python -m tests.walk``: it prints the files in the order in which they are first
called, and the counts. A hop is a call into another file of the package than the call before; what
runs only because a module is imported late counts as well, apart from the module's own top level.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import dagster as dg

import dq_dagster as dq

PACKAGE = Path(dq.__file__).resolve().parent


def plain_check() -> list[Any]:
    """An asset without partitions, and the checks of two rules."""
    dq.ensure_java()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    frame = builder.getOrCreate().range(10).selectExpr("id", "CAST(id AS string) AS label")

    @dg.asset
    def orders() -> Any:
        return frame

    rules = [
        {"type": "record_count_in_range", "min": 1},
        {"type": "column_not_empty", "columns": ["label"]},
    ]
    return [orders, *dq.build_asset_checks(dq.RuleSet(asset=orders, rules=rules))]


def walk() -> list[str]:
    """The files in the order of the calls, each once for every hop into it."""
    definitions = plain_check()
    steps: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>":
            file = Path(code.co_filename)
            if file.is_relative_to(PACKAGE):
                name = file.relative_to(PACKAGE).as_posix()
                if steps[-1:] != [name]:
                    steps.append(name)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        with dg.DagsterInstance.ephemeral() as instance:
            result = dg.materialize_to_memory(definitions, instance=instance)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert [one.passed for one in result.get_asset_check_evaluations()] == [True, True]
    return steps


if __name__ == "__main__":
    found = walk()
    files = list(dict.fromkeys(found))
    as_lines = "\n".join([*files, f"{len(files)} files, {len(found)} hops"])
    sys.stdout.write(json.dumps(found) if "--json" in sys.argv else as_lines)
    sys.stdout.write("\n")
