"""`dq-dagster schema-of`: what it prints is a rule that the data meets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

import dq_dagster as dq
from dq_dagster.cli.main import main
from dq_dagster.sources.yaml_text import plain, read_documents
from dq_dagster.sources.yaml_writing import to_yaml
from tests.oracle.names import HOSTILE_NAMES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["nowhere"], 1, "nowhere' can not be read: Path does not exist"),
        ([".", "--format", "nonsense"], 1, "Failed to find the data source: nonsense"),
        ([".", "--option", "header"], 2, "'header' is not of the form KEY=VALUE."),
        ([], 2, "Missing argument 'PATH'"),
    ],
)
def test_what_can_not_be_read_is_told_in_one_line(
    spark: SparkSession, tmp_path: Path, words: list[str], code: int, told: str
) -> None:
    placed = [str(tmp_path / word) if n == 0 else word for n, word in enumerate(words)]
    done = call(*placed)
    assert done.exit_code == code
    assert told in done.output
    assert "Traceback" not in done.output
    assert "\tat org." not in done.output


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
