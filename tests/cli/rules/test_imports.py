"""`dq-dagster import`: the rules as YAML, the report, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

import dq_dagster as dq
from dq_dagster.cli.main import main

FILE = """\
product_id: shop
dq_env:
  DEV: {table_name: "dev_{region}.orders"}
  PROD: {table_name: prod.orders, action_if_failed: fail}
rules:
- {rule: id_there, rule_type: row_dq, expectation: id is not null, action_if_failed: drop}
- {rule: id_once, rule_type: row_dq, expectation: count(*) over (partition by id) = 1}
- {rule: known, rule_type: query_dq, expectation: (select count(*) from customers) > 0}
"""


def run(folder: Path, *arguments: str, text: str = FILE) -> tuple[int, str, str]:
    file = folder / "se.yaml"
    file.write_text(text)
    done = CliRunner().invoke(main, ["import", "spark-expectations", str(file), *arguments])
    return done.exit_code, done.stdout, done.stderr


def test_rules_go_into_a_file_and_the_report_is_printed(tmp_path: Path) -> None:
    output = tmp_path / "rules.yaml"
    code, out, err = run(tmp_path, "--env", "prod", "-o", str(output), "--asset", "shop/orders")
    assert (code, err) == (0, "")
    assert out.startswith("3 rules: 3 taken as they are\n")
    [loaded] = dq.load_rules(output)
    assert loaded.asset_name == "shop/orders"
    assert (
        loaded
        == dq.load_spark_expectations(
            tmp_path / "se.yaml", env="prod", assets="shop/orders"
        ).rule_sets[0]
    )


def test_without_a_file_the_rules_are_printed(tmp_path: Path) -> None:
    code, out, err = run(tmp_path, "--env", "DEV", "--param", "region=eu", "--report", "markdown")
    assert code == 0
    assert out.startswith("asset: dev_eu/orders\nrules:\n  - type: row_dq\n    name: id_there\n")
    assert err.startswith("3 rules: 3 taken as they are.\n\n| Rule | Of |")


def test_refused_rules_have_an_exit_code(tmp_path: Path) -> None:
    code, out, err = run(tmp_path, "--env", "prod", "--untrusted", "--report", "json")
    assert code == 1
    assert "query_dq" not in out
    report = json.loads(err)
    assert report["counts"]["refused"] == 1
    code, out, err = run(tmp_path, "--env", "prod", "--product", "other")
    assert (code, out) == (0, "")
    assert "3 not chosen" in err


def test_what_cannot_be_read_or_written(tmp_path: Path) -> None:
    code, _, err = run(tmp_path)
    assert code == 2
    assert "se.yaml:2: the file has environments (DEV, PROD): choose one by env=." in err
    code, _, err = run(tmp_path, "--env", "prod", "-o", str(tmp_path / "no" / "rules.yaml"))
    assert code == 2
    assert "cannot be written: No such file or directory." in err
