"""What `import dq_dagster as dq` offers, and what it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dq_dagster as dq


def test_every_public_name_can_be_used() -> None:
    assert dq.__all__ == sorted(dq.__all__)
    for name in dq.__all__:
        assert getattr(dq, name) is not None
    assert set(dq.__all__) <= set(dir(dq))


def test_an_unknown_name_is_told() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = dq.Nonsense


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import dq_dagster", ("pyspark", "dagster", "pandas", "pydantic", "yaml")),
        (
            "import dq_dagster as dq; dq.RuleSet(asset='o', rules=[dq.RecordCountInRange(min=1)])",
            ("pyspark", "dagster", "pandas"),
        ),
        (
            "import dq_dagster as dq; print(dq.explain([dq.ColumnNotEmpty(columns='a')]))",
            ("pyspark", "dagster", "pandas"),
        ),
    ],
)
def test_declaring_starts_neither_spark_nor_dagster(code: str, unwanted: tuple[str, ...]) -> None:
    script = f"{code}\nimport sys\nprint('loaded:', *sorted(set(sys.modules) & {set(unwanted)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1].strip() == "loaded:"
