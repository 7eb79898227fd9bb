"""The core uses nothing that Spark Connect and serverless Spark do not have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "dq_dagster"
FORBIDDEN = re.compile(
    r"\b_jvm\b|\b_jdf\b|\b_jsc\b|\b_jconf\b|\bsparkContext\b|\.rdd\b|\.persist\(|\.cache\(|\bconf\.set\("
)


ALLOWED = {
    #: Sessions of our own have settings of our own; nobody else sees them.
    ("spark/frames/ansi.py", "conf.set("),
    #: Whether a session's settings have changed; Spark Connect has no second session to keep alike.
    ("spark/frames/ansi.py", "_jconf"),
    #: How large data is, which Spark Connect tells nobody: there it counts as large.
    ("spark/session/sizes.py", "_jdf"),
    #: Classic Spark cancels by the tags of its context, Spark Connect by those of the session.
    ("spark/session/deadline.py", "sparkContext"),
}


@pytest.mark.parametrize(
    "folder", ["spark", "storage", "evaluation", "plan", "metrics", "judging", "rules", "sql"]
)
def test_no_jvm_no_rdd_no_cache_no_settings(folder: str) -> None:
    files = sorted((CORE / folder).rglob("*.py"))
    assert files
    found = [
        f"{file.relative_to(CORE)}:{number}"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        for word in FORBIDDEN.findall(line)
        if (file.relative_to(CORE).as_posix(), word) not in ALLOWED
    ]
    assert found == []
