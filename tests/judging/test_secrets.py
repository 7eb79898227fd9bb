"""Texts of foreign errors, made presentable."""

from __future__ import annotations

import pytest

from dq_dagster.judging.wording import presentable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\n  lines\t here", "two lines here"),
        ("postgres://me:hunter2@db refused", "postgres://me:***@db refused"),
        ("password=hunter2 rejected", "password=*** rejected"),
        ("API_KEY: abc", "API_KEY=***"),
        ("x" * 400, f"{'x' * 300}…"),
    ],
)
def test_presentable(text: str, shown: str) -> None:
    assert presentable(text) == shown
