"""The core uses nothing that Spark Connect and serverless Spark do not have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "dq_dagster"
FORBIDDEN = re.compile(
    r"\b_jvm\b|\b_jdf\b|\b_jsc\b|\bsparkContext\b|\.rdd\b|\.persist\(|\.cache\(|\bconf\.set\("
)


#: Sessions of our own have settings of our own; nobody else sees them.
ALLOWED = {("ansi.py", "conf.set(")}


@pytest.mark.parametrize("folder", ["spark", "evaluation", "metrics", "judging", "rules"])
def test_no_jvm_no_rdd_no_cache_no_settings(folder: str) -> None:
    files = sorted((CORE / folder).glob("*.py"))
    assert files
    found = [
        f"{file.name}:{number}"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        for word in FORBIDDEN.findall(line)
        if (file.name, word) not in ALLOWED
    ]
    assert found == []
