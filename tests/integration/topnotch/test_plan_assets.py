"""A TopNotch plan as assets and checks, in runs of Dagster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest

import dq_dagster as dq
from tests.integration.shelf import PYSPARK, by_name
from tests.sources.topnotch.loans import (
    BALANCES,
    EXAMPLE,
    a_diff,
    a_view,
    an_assertion,
    write_example,
    write_plan,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

REASONS = "Loan balances are positive &&& Loan balances are greater than 1"


@pytest.fixture
def loans(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_example(tmp_path, spark)


def run(
    plan: dq.TopNotchPlan, folder: Path, *others: Any, **arguments: Any
) -> dg.ExecuteInProcessResult:
    manager = dq.SparkIOManager(pyspark=PYSPARK, path=str(folder / "warehouse"))
    return dg.materialize(
        [*plan.assets, *plan.checks, *others],
        resources={"pyspark": PYSPARK, "io_manager": manager},
        raise_on_error=False,
        **arguments,
    )


def loaded(result: dg.ExecuteInProcessResult, key: Any) -> DataFrame:
    return result.asset_value(key)


def test_the_example_of_the_guide_is_built_and_checked(loans: Path, spark: SparkSession) -> None:
    plan = dq.load_plan(loans)
    folder = loans.parent.parent
    result = run(plan, folder)
    assert result.success
    found = by_name(result)
    assert {name: one.passed for name, one in found.items()} == {
        "assertionKey_Loan_balances_are_positive": False,
        "assertionKey_Loan_balances_are_greater_than_1": True,
    }
    check = found["assertionKey_Loan_balances_are_positive"]
    assert check.asset_key == dg.AssetKey("viewKey")
    assert not check.blocking
    assert check.description == (
        "3 of 200 rows (1.5 %) do not meet 'loanBal > 0' (at most 1 % allowed)."
    )
    assert loaded(result, "viewKey").count() == len(BALANCES)
    invalid = loaded(result, "assertionKey")
    assert invalid.columns == ["loanID", "loanBal", "__REASON_INVALID__"]
    assert sorted((row.loanID, row["__REASON_INVALID__"]) for row in invalid.collect()) == [
        (0, REASONS),
        (1, REASONS),
        (2, REASONS),
        (3, "Loan balances are greater than 1"),
    ]
    written = spark.read.parquet(str(folder / "topnotch" / "assertionOutput.parquet"))
    assert rows(written) == rows(invalid)
    assert loaded(result, "diffKey").count() == 5
    [materialized] = result.asset_materializations_for_node("assertionKey")
    assert materialized.metadata["output_path"].value == "topnotch/assertionOutput.parquet"


def rows(frame: DataFrame) -> list[str]:
    return sorted(map(str, frame.collect()))


def definitions(plan: dq.TopNotchPlan, *others: dg.AssetSpec) -> dg.Definitions:
    manager = dq.SparkIOManager(pyspark=PYSPARK, path="warehouse")
    resources = {"pyspark": PYSPARK, "io_manager": manager}
    beside = dg.Definitions(assets=others, resources=resources)
    return dg.Definitions.merge(plan.definitions, beside)


def parents(plan: dq.TopNotchPlan, *others: dg.AssetSpec) -> dict[str, list[str]]:
    defs = definitions(plan, *others)
    dg.Definitions.validate_loadable(defs)
    graph = defs.resolve_asset_graph()
    return {
        key.to_user_string(): sorted(one.to_user_string() for one in graph.get(key).parent_keys)
        for key in graph.get_all_asset_keys()
    }


def test_lineage_is_that_of_the_plan() -> None:
    plan = dq.load_plan(EXAMPLE / "plan.json")
    assert parents(plan) == {
        "topnotch/viewInput.csv": [],
        "topnotch/currentLoans.parquet": [],
        "topnotch/oldLoans.parquet": [],
        "viewKey": ["topnotch/viewInput.csv"],
        "diffKey": ["topnotch/currentLoans.parquet", "topnotch/oldLoans.parquet"],
        "assertionKey": ["viewKey"],
    }
    graph = definitions(plan).resolve_asset_graph()
    assert graph.get(dg.AssetKey(["topnotch", "viewInput.csv"])).is_external
    assert graph.get(dg.AssetKey("viewKey")).group_name == "plan"
    assert graph.get(dg.AssetKey("viewKey")).description == "A view: select * from loanData"


def test_keys_have_a_prefix_and_inputs_may_be_assets(tmp_path: Path) -> None:
    # What an earlier command writes is no other file.
    later = a_view("again", inputs=[{"ref": "out.parquet", "onDisk": True}])
    plan = dq.load_plan(
        write_plan(
            tmp_path, a_view(), an_assertion(outputPath="out.parquet"), later, a_diff("d-1.x")
        ),
        inputs={"left.parquet": "raw/left", "in.parquet": dg.AssetSpec("rows")},
        key_prefix="quality",
        group_name="loans",
    )
    assert parents(plan, dg.AssetSpec("rows"), dg.AssetSpec(["raw", "left"])) == {
        "rows": [],
        "raw/left": [],
        "right.parquet": [],
        "quality/v": ["rows"],
        "quality/a": ["quality/v"],
        "quality/again": ["quality/a"],
        "quality/d-1.x": ["raw/left", "right.parquet"],
    }
    [rule_set] = plan.rule_sets
    assert rule_set.asset_name == "quality/v"
    assert rule_set.origin.of(rule_set.rules[0]) == "plan.json:14:3"


@pytest.mark.parametrize(
    ("keys", "inputs", "message"),
    [
        (["a.b", "a_b"], {}, "'a_b' and another outputKey would be one step in Dagster."),
        (["a"], {"in.parkett": "x"}, "no file that it calls 'in.parkett'. Did you mean 'in.parq"),
        (["a"], {"in.parquet": 3}, "3 is not an asset: give its definition, its dg.AssetSpec, or"),
    ],
)
def test_what_cannot_be_assets(
    tmp_path: Path, keys: list[str], inputs: dict[str, Any], message: str
) -> None:
    path = write_plan(tmp_path, *(a_view(key) for key in keys))
    with pytest.raises(dq.DeclarationError, match=re.escape(message)):
        dq.load_plan(path, inputs=inputs)


def asserted(query: str, threshold: float, **fields: Any) -> dict[str, Any]:
    one = {"query": query, "description": "d", "threshold": threshold, **fields}
    return {"assertions": [one]}


def test_assertions_judge_files_assets_and_the_rows_of_others(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = spark.createDataFrame([(1, "a"), (7, "b"), (9, None)], "x int, tag string")
    frame.write.parquet(str(tmp_path / "files.parquet"))

    @dg.asset
    def mine() -> Any:
        return spark.createDataFrame([(1, "a"), (-1, "b")], "x int, tag string")

    query, of_one = "twice < 10 and tag is not null", "__REASON_INVALID__ = 'x is positive'"

    def on(ref: str, key: str, file: str, *, disk: bool = True) -> dict[str, Any]:
        source = {"ref": ref, "onDisk": disk}
        return an_assertion(key, externalParamsFile=file, input=source)

    path = write_plan(
        tmp_path,
        on("files.parquet", "of_files", "files.json"),
        on("mine.parquet", "of_mine", "assertion.json"),
        on("of_mine", "of_invalid", "invalid.json", disk=False),
        on("of_files", "again", "again.json", disk=False),
        files=asserted(query, 0.5, userDefinedFeatures={"twice": "x * 2", "more": "x + 1"}),
        invalid=asserted(of_one, 0),
        again=asserted("x > 1", 0),
    )
    plan = dq.load_plan(path, inputs={"mine.parquet": mine})
    dq.validate(dg.Definitions(assets=[*plan.assets, mine], asset_checks=plan.checks))
    result = run(plan, tmp_path, mine)
    assert result.success
    found = [(one.asset_key.to_user_string(), one.description) for one in by_name(result).values()]
    assert sorted(found) == [
        ("mine", "1 of 2 rows (50 %) does not meet 'x > 0' (at most 10 % allowed)."),
        ("of_files", "0 of 2 rows (0 %) do not meet 'x > 1' (none allowed)."),
        ("of_files", f"2 of 3 rows (66.67 %) do not meet '{query}' (at most 50 % allowed)."),
        ("of_mine", f"0 of 1 row (0 %) do not meet '{of_one}' (none allowed)."),
    ]
    invalid = "Row(x=-1, tag='b', __REASON_INVALID__='x is positive')"
    assert rows(loaded(result, "of_mine")) == [invalid]
    assert rows(loaded(result, "of_invalid")) == []
    assert loaded(result, "of_files").columns == ["x", "tag", "twice", "more", "__REASON_INVALID__"]
