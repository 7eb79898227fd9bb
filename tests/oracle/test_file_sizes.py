"""File sizes against the operating system: random files, in random selections and by partition."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

import dq_dagster as dq
from tests.depth import deep_after

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDERS = ("plain", "k=1", "k=1/l=a b", "k=2", "o{d}d", "per%cent", "[1]", "é,ü", "a/b/c")
CASES = 24
PARTITIONS = 230
NAMES = ("{}", "day {}", "{}%", "é{}", "{},x", "{{{}}}", "2024-01-{}", "NULL{}", "'{}", '"{}')


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


@pytest.mark.parametrize("number", deep_after(4, range(CASES)))
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


@dataclass(frozen=True)
class File:
    """A file of lines, each of which is the partition that it belongs to."""

    path: Path
    lines: tuple[str, ...]

    @property
    def size(self) -> int:
        return self.path.stat().st_size


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lines")


@pytest.fixture(scope="module")
def by_line(root: Path) -> list[File]:
    """Partitions of none to many files, and files of none to many partitions."""
    random = Random(12)
    keys = [random.choice(NAMES).format(number) for number in range(PARTITIONS - 5)]
    made = []
    for number in range(180):
        few = random.sample(keys, random.choice((0, 1, 1, 2, 5)))
        lines = tuple(random.choices(few, k=random.randint(1, 40))) if few else ()
        folder = root / random.choice(FOLDERS)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{number}.txt"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        made.append(File(path, lines))
    return made


def asked(files: Sequence[File]) -> list[str]:
    """The partitions that occur, and others without a row."""
    found = sorted({line for file in files for line in file.lines})
    return [*found, *(f"none {number}" for number in range(PARTITIONS - len(found)))]


def of_partition(files: Sequence[File], key: str) -> list[File]:
    return [file for file in files if key in file.lines]


def status(size: int, rule: Mapping[str, int]) -> str:
    if size > rule["max"]:
        return "Error"
    return "Warning" if size < rule["soft_min"] else "Ok"


def test_sizes_of_partitions_are_those_of_the_files_with_their_rows(
    spark: SparkSession, root: Path, by_line: list[File]
) -> None:
    keys = asked(by_line)
    bounds = {"soft_min": 150, "max": 1200}
    frame = spark.read.option("recursiveFileLookup", "true").text(str(root))
    rule = {"type": "file_size_in_range", "scope": "both", **bounds}
    outcomes = dq.evaluate(frame, [rule], partition_by="value", partitions=keys)
    found = {outcome.partition: outcome for outcome in outcomes}
    expected = {key: of_partition(by_line, key) for key in keys} | {None: by_line}
    assert found.keys() == expected.keys()
    for key, files in expected.items():
        size = sum(file.size for file in files)
        outcome = found[key]
        assert (outcome.status, outcome.observed) == (status(size, bounds), size), key
        assert outcome.metrics == {"file_size": size, "file_count": len(files)}, key
        assert outcome.message.startswith(f"The size of {len(files)} file"), key


def test_the_partitions_are_many_and_of_all_kinds(by_line: list[File]) -> None:
    counts = [len(of_partition(by_line, key)) for key in asked(by_line)]
    assert len(counts) >= 200
    assert {0, 1, 2, 3} <= set(counts)
    assert {0, 1, 2} <= {len(set(file.lines)) for file in by_line}
