"""`dq-dagster diff`: exit codes, reports, and what cannot be compared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from dq_dagster.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

SECRET = "secret 4711"


@pytest.fixture
def folder(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.csv").write_text(f"id,n,name\n1,1.0,a\n2,2.0,{SECRET}\n", encoding="utf-8")
    (tmp_path / "new.csv").write_text("id,n,name\n1,1.25,A\n3,2.0,c\n", encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["diff", *arguments])


def test_differences_end_with_1_and_show_no_values(folder: Path) -> None:
    done = run("old.csv", "new.csv", "--key", "id", "--html", "report.html")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[0] == (
        "3 of 3 rows differ: 1 only left, 1 only right, 1 changed; 0 are the same."
    )
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<b>3 of 3 rows differ" in page
    assert SECRET not in done.stdout + page
    shown = run("old.csv", "new.csv", "--key", "id", "--samples", "5")
    assert SECRET in shown.stdout


def test_equal_tables_end_with_0(folder: Path) -> None:
    lenient = ["--tolerance", "n=0.25", "--ignore-case", "--json"]
    done = run("old.csv", "new.csv", "--key", "id", *lenient)
    found = json.loads(done.stdout)
    assert (done.exit_code, found["changed"], found["only_left"]) == (1, 0, 1)
    same = run("old.csv", "old.csv", "--key", "id", "--tolerance", "0.5", "--partition-by", "name")
    assert same.exit_code == 0
    assert same.stdout.startswith("All 2 rows are the same.\n0 of 2 partitions were joined.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["old.csv", "./none.csv", "--key", "id"], "'./none.csv' does not exist."),
        (["old.csv", "new.csv", "--key", "idd"], "Did you mean 'id'"),
        (["old.csv", "no_table", "--key", "id"], "Table 'no_table' cannot be read"),
        (["old.csv", "new.csv"], "Missing option '--key'"),
        (["old.csv", "new.csv", "--key", "id", "--html", "no/x.html"], "there is no folder 'no'"),
        (["old.csv", "new.csv", "--key", "id", "--tolerance", "a=b"], "a time such as '5 min'"),
        (
            ["old.csv", "new.csv", "--key", "id", "--tolerance", "1", "--tolerance", "2"],
            "give one number, or COLUMN=NUMBER for each",
        ),
    ],
)
def test_what_cannot_be_compared_ends_with_2(
    folder: Path, arguments: list[str], words: str
) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert words in done.stderr
