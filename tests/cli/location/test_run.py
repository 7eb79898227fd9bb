"""`dq-dagster run`: checks of chosen assets, rules and partitions, and what came of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from click.testing import CliRunner, Result

import dq_dagster as dq
from dq_dagster.cli.main import main
from dq_dagster.integration.checks.launch import CheckChoice, planned_launches

Command = Callable[..., Result]


def said(done: Result) -> dict[tuple[str, str | None], str]:
    """The status of each rule on each slice."""
    results = json.loads(done.stdout)["results"]
    return {(one["rule"], one["partition"]): one["status"] for one in results}


def test_checks_of_an_asset_are_a_table_with_the_worst_first(command: Command) -> None:
    done = command("run", "customers", "prices")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "status asset rule message"
    assert lines[2:5] == [
        (
            "Error customers mail ok 1 of 2 values (50 %) of 'mail' does not match '.+@.+' (none "
            "allowed)."
        ),
        "Warning prices any_price No.",
        "Ok customers rows The number of rows is 3, as expected (at least 1).",
    ]
    assert done.stdout.splitlines()[-1] == "3 results: 1 Ok, 1 Warning, 1 Error"
    assert done.stderr.startswith("[1 of 1] customers, prices: 3 checks ... ")
    assert done.exit_code == 1


def test_an_asset_is_observed_as_after_its_build(command: Command, location: Path) -> None:
    """Dagster's own page would go on showing what was said before."""

    def said_of(asset: str) -> list[Any]:
        with dg.DagsterInstance.get() as instance:
            records = instance.fetch_observations(dg.AssetKey(asset), limit=9).records
        found = [one.asset_observation for one in records]
        return [one.metadata["dq/dataset_status"].value for one in found if one is not None]

    before = said_of("customers")
    command("run", "customers", "--rule", "rows")
    assert said_of("customers") == before
    command("run", "customers", "prices")
    assert said_of("customers") == ["Error", *before]
    # Its check is somebody else's.
    assert said_of("prices") == []


def test_rules_run_where_their_scope_says(command: Command, location: Path) -> None:
    done = command(
        "run", "visits", "--partition", "mon", "--partition-range", "tue...wed", "--json"
    )
    assert said(done) == {
        ("many", None): "Ok", ("given", None): "Error",
        ("within", "mon"): "Error", ("within", "tue"): "Ok", ("within", "wed"): "Ok",
        ("given", "mon"): "Ok", ("given", "tue"): "Error", ("given", "wed"): "Ok",
    }  # fmt: skip
    found = json.loads(done.stdout)
    assert found["status"] == "Error"
    # Neighbours are judged in one run.
    assert [run["partitions"] for run in found["runs"]] == [[], ["mon", "tue", "wed"]]
    assert done.exit_code == 1
    with dg.DagsterInstance.from_config(str(location.parent / "home")) as instance:
        run = instance.get_run_by_id(found["runs"][1]["run_id"])
        assert run is not None
        assert run.job_name == "dq_checks"


def test_a_rule_that_is_named_runs_on_the_partition_whatever_its_scope(command: Command) -> None:
    done = command("run", "--rule", "many", "--partition", "tue", "--json")
    assert said(done) == {("many", None): "Ok", ("many", "tue"): "Error"}
    assert done.exit_code == 1
    one = command("run", "visits", "--rule", "given", "--partition", "wed", "--json")
    assert said(one) == {("given", "wed"): "Ok"}
    assert one.exit_code == 0


def test_guarded_assets_and_warnings(command: Command) -> None:
    done = command("run", "payments", "--json")
    # What is stored has no such rows any more.
    assert (said(done), done.exit_code) == ({("small", None): "Ok"}, 0)
    lenient = command("run", "prices", "--json")
    assert (said(lenient), lenient.exit_code) == ({("any_price", None): "Warning"}, 0)
    assert command("run", "prices", "--strict").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["custmers"], "There are no checks of asset 'custmers'. Did you mean 'customers'?"),
        (["customers", "--rule", "row"], "There is no rule 'row'. Did you mean 'rows'?"),
        (["visits"], "has checks of single partitions: choose some by --partition KEY or"),
        (["visits", "--partition", "mno"], "has no partition 'mno'. Did you mean 'mon'?"),
        (["customers", "--partition", "mon"], "Asset 'customers' has no partitions: leave them"),
        (["visits", "--partition-range", "mon"], "'mon' is not of the form FIRST...LAST."),
        (["visits", "--partition-range", "wed...mon"], "No partition of asset 'visits' was chosen"),
    ],
)
def test_what_cannot_be_run(command: Command, arguments: list[str], message: str) -> None:
    done = command("run", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


BROKEN = """
import dagster as dg

import dq_dagster as dq


@dg.asset
def table():
    return 1


@dg.asset_check(asset=table)
def broken():
    raise ValueError("no reason")


defs = dg.Definitions(assets=[table], asset_checks=[broken])
"""


def test_a_check_without_a_result_is_said_so(tmp_path: Path, command: Command) -> None:
    file = tmp_path / "broken_location.py"
    file.write_text(BROKEN, encoding="utf-8")
    done = CliRunner().invoke(main, ["run", "--json", "-f", str(file)])
    assert done.exit_code == 2
    assert "table: no result of broken: no reason" in done.stderr
    [run] = json.loads(done.stdout)["runs"]
    assert (run["unanswered"], run["reason"]) == (["broken"], "no reason")


def definitions(partitions: Any) -> dg.Definitions:
    @dg.asset(partitions_def=partitions)
    def table() -> None: ...

    rules = dq.RuleSet(asset=table, rules=[dq.RecordCountInRange(min=1)])
    return dg.Definitions(assets=[table], asset_checks=dq.build_asset_checks(rules))


DAYS = dg.DailyPartitionsDefinition("2024-03-01", end_date="2024-03-06")
SHOPS = dg.StaticPartitionsDefinition(["a", "b"])


@pytest.mark.parametrize(
    ("partitions", "choice", "runs"),
    [
        (
            DAYS,
            {"partitions": ["2024-03-05", "2024-03-01", "2024-03-02"]},
            [("2024-03-01", "2024-03-02"), ("2024-03-05",)],
        ),
        (DAYS, {"first": "2024-03-04", "last": "2024-03-05"}, [("2024-03-04", "2024-03-05")]),
        (
            dg.MultiPartitionsDefinition({"day": DAYS, "shop": SHOPS}),
            {"partitions": ["2024-03-01|a", "2024-03-01|b"]},
            [("2024-03-01|a",), ("2024-03-01|b",)],
        ),
    ],
)
def test_neighbours_run_together(
    partitions: Any, choice: dict[str, Any], runs: list[tuple[str, ...]]
) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        found = planned_launches(definitions(partitions), instance, CheckChoice(**choice))
    assert [one.partitions for one in found] == runs
