"""`dq-dagster plan`: TopNotch plans from the command line, with TopNotch's exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from dq_dagster.cli.main import main
from tests.sources.topnotch.loans import a_view, an_assertion, write_plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECRET = "secret 4711"


@pytest.fixture
def plan(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> str:
    """Of three rows, one has an x that is not greater than ${least}, which is 0 or 1."""
    monkeypatch.chdir(tmp_path)
    data = spark.createDataFrame([(1, "a"), (2, "b"), (1, SECRET)], "x int, name string")
    data.write.parquet(str(tmp_path / "data" / "in.parquet"))
    one = {
        "query": "x > ${least} or name = 'a'",
        "description": "x is large",
        "threshold": 0.3,
    }
    source = {"ref": "/user/${who}/in.parquet", "onDisk": True}
    path = write_plan(
        tmp_path / "plans",
        a_view(inputs=[source]),
        an_assertion(outputPath="out.parquet"),
        assertion={"assertions": [one]},
    )
    return str(path)


def run(plan: str, least: int, *arguments: str) -> Result:
    usual = ["--variable", f"least={least}", "--variable", "who=me"]
    return CliRunner().invoke(main, ["plan", plan, *usual, "--path", "/user/me/=data/", *arguments])


def test_a_plan_that_holds_ends_with_0(plan: str) -> None:
    done = run(plan, 0)
    assert done.exit_code == 0
    holds = "0 of 3 rows (0 %) do not meet 'x > 0 or name = 'a'' (at most 30 % allowed)."
    assert done.stderr.splitlines()[-2:] == [
        "1 assertion: 0 failed",
        f"passed  a: x is large: {holds}",
    ]
    commands, section = json.loads(done.stdout)
    assert [one["command"] for one in commands] == ["view", "assertion"]
    assert commands[0]["inputs"] == [{"ref": "/user/me/in.parquet", "onDisk": True}]
    assert section["assertionReports"][0]["fractionInvalid"] == 0


def test_a_plan_that_fails_ends_with_3(plan: str, spark: SparkSession) -> None:
    done = run(plan, 1, "--report", "report.json")
    assert done.exit_code == 3
    [found] = json.loads(done.stdout)[1]["assertionReports"]
    assert (found["numInvalid"], found["sampleInvalid"]) == (1, [{"name": SECRET, "x": 1}])
    assert "failed  a: x is large: 1 of 3 rows (33.33 %) does not meet" in done.stderr
    # Row values are in the report alone.
    assert SECRET not in done.stderr
    assert Path("report.json").read_text() == done.stdout
    assert spark.read.parquet(str(Path("out.parquet").absolute())).count() == 1
    assert SECRET not in run(plan, 1, "--no-samples").stdout


VARIABLES = ("plan.json", "--variable", "who=me", "--variable", "least=1")
READABLE = (*VARIABLES, "--path", "/user/me/=../data/")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing argument 'PLAN'."),
        (["plan.json", "--vairable", "a=b"], "No such option '--vairable'"),
        (["plan.json", "--variable", "a"], "'a' is not of the form KEY=VALUE."),
        (["none.json"], "'none.json' does not exist."),
        (["plan.json", "--variable", "least=1"], "the variable 'who' has no value"),
        (VARIABLES, "'/user/me/in.parquet' does not exist."),
        ([*READABLE, "--variable", "least=(select 1)"], "field 'query'"),
        ([*READABLE, "--within", "none"], "within: 'none' is no folder."),
        ([*READABLE, "--report", "none/x.json"], "--report: there is no folder 'none'."),
        ([*READABLE, "--report", "plan.json"], "--report: that is the plan itself."),
    ],
)
def test_bad_arguments_and_plans_end_with_4(
    plan: str, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(Path(plan).parent)
    done = CliRunner().invoke(main, ["plan", *arguments])
    assert (done.exit_code, done.stdout) == (4, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_what_the_plan_asks_for_in_vain_is_said(plan: str) -> None:
    content = json.loads(Path(plan).read_text())
    content["io"] = {"writer": "rest", "dest": "http://reports/"}
    Path(plan).write_text(json.dumps(content))
    done = run(plan, 0)
    assert done.exit_code == 0
    assert "Note: plan.json:1:" in done.stderr
    assert "io asks for a report by 'rest', to 'http://reports/'." in done.stderr


def test_the_command_imports_what_it_needs_when_it_runs() -> None:
    code = (
        "import sys, dq_dagster.cli.rules.plan\n"
        "print(*sorted(set(sys.modules) & {'pyspark', 'dagster', 'pandas'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
    assert "--variable KEY=VALUE" in CliRunner().invoke(main, ["plan", "--help"]).stdout
