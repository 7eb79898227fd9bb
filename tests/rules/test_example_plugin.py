"""The example plugin, installed as users install it, and used from YAML."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples" / "plugin"
RULES = """
asset: orders
rules:
  - type: column_dates_on_weekdays
    columns: [ordered_on]
    threshold: {type: count, max: 1}
  - type: column_dates_on_weekdays
    name: saturdays
    columns: [ordered_on]
    saturday_counts: true
  - type: column_dates_on_weekdays
    name: text
    columns: [note]
"""
# Monday 4th to Sunday 10th of March 2024, and no day at all.
USE = """
import json, sys
import dq_dagster as dq
dq.ensure_java()
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
days = "explode(sequence(DATE'2024-03-04', DATE'2024-03-10'))"
data = spark.sql(f"SELECT {days} AS ordered_on, 'x' AS note UNION ALL SELECT NULL, 'y'")
[rules] = dq.load_rules(sys.argv[1])
print(json.dumps([[o.status.value, o.observed, o.message] for o in dq.evaluate(data, rules)]))
spark.stop()
"""


@pytest.mark.deep
def test_install_and_use(tmp_path: Path) -> None:
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, *offline, "--target", str(site), str(PLUGIN)], check=True)
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES)
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", USE, str(rules)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == [
        [
            "Error",
            2,
            "2 of 7 values (28.57 %) of 'ordered_on' fall on a weekend (at most 1 allowed).",
        ],
        [
            "Error",
            1,
            "1 of 7 values (14.29 %) of 'ordered_on' falls on a weekend (none allowed).",
        ],
        [
            "Error",
            None,
            (
                "This condition does not fit column 'note' of type string: it needs date or "
                "timestamp or timestamp_ntz."
            ),
        ],
    ]
