"""A reader can follow one plain check: it leads through few files, and hops seldom."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
MOST_FILES = 45
MOST_HOPS = 200


@pytest.fixture(scope="module")
def steps() -> list[str]:
    # In a process of its own: what other tests imported or cached would make the walk shorter.
    command = [sys.executable, "-m", "tests.walk", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_plain_check_touches_few_files_and_hops_seldom(steps: list[str]) -> None:
    visits = Counter(steps)
    found = f"{len(visits)} files, {len(steps)} hops"
    listed = "\n".join(f"{count:4} x {file}" for file, count in visits.items())
    assert len(visits) <= MOST_FILES, f"{found}, in this order:\n{listed}"
    assert len(steps) <= MOST_HOPS, f"{found}, in this order:\n{listed}"


def test_the_architecture_page_has_the_numbers(steps: list[str]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    written = re.findall(r"(\d+)\s+files\b[^.]*?\b(\d+)\s+(?:times|hops)", text)
    assert written, f"{PAGE.name} does not say how many files the walk touches, and how many hops"
    for files, hops in written:
        assert int(files) >= len(set(steps))
        assert int(hops) >= len(steps)
