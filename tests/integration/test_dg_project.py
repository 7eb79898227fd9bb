"""The project of the page "Getting started", loaded as `dg dev` loads it."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).parents[2] / "docs" / "getting_started.md"
DEFINITIONS = """\
from pathlib import Path

import dagster as dg


@dg.definitions
def defs():
    return dg.load_from_defs_folder(path_within_project=Path(__file__).parent)
"""
PROJECT = """\
[tool.dg]
directory_type = "project"
[tool.dg.project]
root_module = "shop"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What `create-dagster project shop` makes, with the modules of the page."""
    package = tmp_path / "src" / "shop"
    (package / "defs").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (package / "__init__.py").touch()
    (package / "defs" / "__init__.py").touch()
    (package / "definitions.py").write_text(DEFINITIONS, encoding="utf-8")
    for name, text in modules().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "src"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def modules() -> dict[str, str]:
    """The blocks of the page that begin with the name of their file."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.findall(r"^```python\n# (\S+\.py)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return dict(found)


def test_a_project_made_by_dg_runs_its_checks(project: Path, spark: SparkSession) -> None:
    assert set(modules()) == {"src/shop/defs/orders.py", "src/shop/defs/resources.py"}
    defs = importlib.import_module("shop.definitions").defs()
    dg.Definitions.validate_loadable(defs)
    job = defs.resolve_implicit_global_asset_job_def()
    assert job.executor_def is dg.in_process_executor
    results = job.execute_in_process().get_asset_check_evaluations()
    assert {one.check_name: one.passed for one in results} == {
        "record_count_in_range": True,
        "column_not_empty_id_country": True,
    }
    assert any((project / "data" / "orders").rglob("*.parquet"))
