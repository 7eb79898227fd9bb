"""The page for those who read the code: its files and functions are there, its walk is short."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "dq_dagster"
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^\| \d+ \|.*\| `([\w/]+\.py)` \| `([\w.]+)` \|$", TEXT, re.MULTILINE)
FILES = sorted(set(re.findall(r"`((?:\w+/)+\w+\.py)`", TEXT)))
LAYERS = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", TEXT, re.MULTILINE)


def names_in(path: Path) -> set[str]:
    """The functions and classes of a file, and the methods of its classes."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            found |= {f"{node.name}.{method.name}" for method in methods}
    return found


def test_the_walk_has_few_steps() -> None:
    assert 10 <= len(STEPS) <= 15
    assert len(STEPS) == len(re.findall(r"^\| \d+ \|", TEXT, re.MULTILINE))


@pytest.mark.parametrize(("file", "function"), STEPS)
def test_every_step_is_where_the_page_says(file: str, function: str) -> None:
    assert function in names_in(PACKAGE / file)


@pytest.mark.parametrize("file", FILES)
def test_every_file_exists(file: str) -> None:
    assert (PACKAGE / file).is_file() or (ROOT / file).is_file()


def test_every_layer_is_on_the_page() -> None:
    named = {name for row in LAYERS for name in re.findall(r"\w+", row)}
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert named == there - {"__init__", "__pycache__", "py"}
