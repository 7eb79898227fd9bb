"""The loans that the example plan of TopNotch's guide is about, and plans of our own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLE = Path(__file__).parent / "example"

# In 200 loans, three balances are not positive (1.5 %) and four are not greater than 1 (2 %).
BALANCES: list[float | None] = [-5.0, 0.0, None, 1.0, *[float(n) for n in range(2, 198)]]


def write_example(folder: Path, spark: SparkSession) -> Path:
    """The files of the guide and data for them; the plan's paths are relative to the folder."""
    shutil.copytree(EXAMPLE, folder / "plans")
    (folder / "topnotch").mkdir()
    lines = [
        f"{number},{'' if balance is None else balance}" for number, balance in enumerate(BALANCES)
    ]
    text = "\n".join(["loanID,loanBal", *lines])
    (folder / "topnotch" / "viewInput.csv").write_text(text, encoding="utf-8")
    current = [(1, 1, 5.0), (2, 1, 7.0), (3, 1, None), (5, 2, 1.0)]
    old = [(1, 1, 5.0000005), (2, 1, 7.5), (4, 1, 1.0), (5, 2, None)]
    for name, rows, end in (("currentLoans", current, ""), ("oldLoans", old, "Old")):
        columns = f"loanID{end} int, poolNum{end} int, loanBal{end} double"
        frame = spark.createDataFrame(rows, columns)
        frame.coalesce(1).write.parquet(str(folder / "topnotch" / f"{name}.parquet"))
    return folder / "plans" / "plan.json"


def write_json(folder: Path, files: dict[str, Any]) -> Path:
    """Files by their names; the first of them is the plan. Texts are written as they are."""
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content, indent=1)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / next(iter(files))


def a_view(key: str = "v", file: str = "view.json", **fields: Any) -> dict[str, Any]:
    source = {"ref": "in.parquet", "onDisk": True}
    return {
        "command": "view",
        "externalParamsFile": file,
        "inputs": [source],
        "outputKey": key,
        **fields,
    }


def an_assertion(key: str = "a", ref: str = "v", **fields: Any) -> dict[str, Any]:
    return {
        "command": "assertion",
        "externalParamsFile": "assertion.json",
        "input": {"ref": ref, "onDisk": False},
        "outputKey": key,
        **fields,
    }


def a_diff(key: str = "d", **fields: Any) -> dict[str, Any]:
    return {
        "command": "diff",
        "externalParamsFile": "diff.json",
        "input1": {"ref": "left.parquet", "onDisk": True},
        "input1Name": "cur",
        "input2": {"ref": "right.parquet", "onDisk": True},
        "input2Name": "old",
        "outputKey": key,
        **fields,
    }


VIEW = {"tableAliases": ["rows"], "query": "select * from rows"}
ASSERTION = {"assertions": [{"query": "x > 0", "description": "x is positive", "threshold": 0.1}]}
_SIDE = {"joinColumns": ["id"], "diffColumns": ["x"]}
DIFF = {"input1Columns": _SIDE, "input2Columns": _SIDE}


def write_plan(folder: Path, *commands: dict[str, Any], **files: Any) -> Path:
    """A plan of these commands, with the usual files, or others by name without their ending."""
    usual = {"view.json": VIEW, "assertion.json": ASSERTION, "diff.json": DIFF}
    given = {f"{name}.json": content for name, content in files.items()}
    return write_json(folder, {"plan.json": {"commands": list(commands)}, **usual, **given})
