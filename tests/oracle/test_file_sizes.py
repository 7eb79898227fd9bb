"""File sizes against the operating system: random files, read in random selections."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

import dq_dagster as dq

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDERS = ("plain", "k=1", "k=1/l=a b", "k=2", "o{d}d", "per%cent", "[1]", "é,ü", "a/b/c")
CASES = 24


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    random = Random(11)
    root = tmp_path_factory.mktemp("sizes")
    made = []
    for number in range(240):
        folder = root / random.choice(FOLDERS)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / random.choice((f"{number}.txt", f"f {number}%20.txt", f"{number}{{x}}.txt"))
        file.write_text("x" * random.choice((0, 1, 7, 1000, 4096)))
        made.append(file)
    return made


def literally(path: Path) -> str:
    return re.sub(r"([{}\[\]*?\\])", r"\\\1", str(path))


def selection(random: Random, files: Sequence[Path]) -> list[Path]:
    """A few files, many, all, or those of some folders."""
    if random.random() < 0.4:
        folders = set(random.sample([file.parent for file in files], 3))
        return [file for file in files if file.parent in folders]
    return random.sample(files, random.choice((1, 2, 32, 33, 60, 200, len(files))))


@pytest.mark.parametrize("number", range(CASES))
def test_sizes_are_those_of_the_operating_system(
    spark: SparkSession, files: list[Path], number: int
) -> None:
    chosen = selection(Random(number), files)
    size = sum(file.stat().st_size for file in chosen)
    frame = spark.read.text([literally(file) for file in chosen])
    rules = [
        dq.FileSizeInRange(name="exact", min=size, max=size),
        dq.FileSizeInRange(name="more", min=size + 1),
    ]
    exact, more = dq.evaluate(frame, rules)
    assert (exact.status, exact.observed, more.status) == ("Ok", size, "Error")
    assert exact.metrics == {"file_size": size, "file_count": len(chosen)}
