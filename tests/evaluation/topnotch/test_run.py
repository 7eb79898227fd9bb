"""TopNotch plans run without Dagster, and their reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
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
    from pyspark.sql import SparkSession


REASONS = "Loan balances are positive &&& Loan balances are greater than 1"


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def invalid(least: float) -> list[dict[str, Any]]:
    """What plain Python says; what is not known to be greater is invalid."""
    found = [balance for balance in BALANCES if balance is None or not balance > least]
    return [{} if balance is None else {"loanbal": balance} for balance in found]


def by_text(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(map(json.dumps, rows))


def test_the_example_of_the_guide(tmp_path: Path, spark: SparkSession) -> None:
    report = dq.load_plan(write_example(tmp_path, spark)).run(spark)
    assert not report.ok
    failed = "3 of 200 rows (1.5 %) do not meet 'loanBal > 0' (at most 1 % allowed)."
    passed = "4 of 200 rows (2 %) do not meet 'loanBal > 1' (at most 2 % allowed)."
    assert repr(report).splitlines() == [
        "2 assertions: 1 failed",
        f"failed  assertionKey: Loan balances are positive: {failed}",
        f"passed  assertionKey: Loan balances are greater than 1: {passed}",
    ]
    commands, section = json.loads(report.to_json())
    declared = json.loads((EXAMPLE / "plan.json").read_text())["topnotch"]
    for command, written in zip(commands, declared, strict=True):
        file = json.loads((EXAMPLE / written["externalParamsFile"]).read_text())
        assert command == {**written, "params": file["topnotch"]}
    assert section["outputKey"] == "assertionKey"
    for one, (least, threshold, description) in zip(
        section["assertionReports"],
        [
            (0, 0.01, "Loan balances are positive"),
            (1, 0.02, "Loan balances are greater than 1"),
        ],
        strict=True,
    ):
        bad = invalid(least)
        assert by_text(one.pop("sampleInvalid")) == by_text(bad)
        assert one == {
            "query": f"loanBal > {least}",
            "description": description,
            "threshold": threshold,
            "fractionInvalid": len(bad) / len(BALANCES),
            "numInvalid": len(bad),
            "userSummaryStatistics": {},
            "sampleWindows": [],
        }
    invalid_rows = spark.read.parquet(str(tmp_path / "topnotch" / "assertionOutput.parquet"))
    assert {row.loanID: row["__REASON_INVALID__"] for row in invalid_rows.collect()} == {
        **dict.fromkeys((0, 1, 2), REASONS),
        3: "Loan balances are greater than 1",
    }
    diff = spark.read.parquet(str(tmp_path / "topnotch" / "diffOutput.parquet"))
    assert {
        row.cur_loanID or row.old_loanIDOld: row["cur_loanBal__equals__old_loanBalOld"]
        for row in diff.collect()
    } == {
        1: "equal",
        2: "both not null, same type, not equal",
        3: "both null",
        4: "only first null",
        5: "only second null",
    }


def asserted(
    spark: SparkSession, rows: list[Any], schema: str, *assertions: dict[str, Any], **fields: Any
) -> Any:
    """The report of assertions on some rows."""
    folder = Path.cwd()
    spark.createDataFrame(rows, schema).coalesce(1).write.parquet(str(folder / "in.parquet"))
    given = [{"description": "d", "threshold": 0, **one} for one in assertions]
    source = {"ref": "in.parquet", "onDisk": True}
    plan = write_plan(folder, an_assertion(input=source, **fields), assertion={"assertions": given})
    return dq.load_plan(plan).run(spark)


def test_features_statistics_and_windows(spark: SparkSession) -> None:
    rows = [
        (1, "a", 3, None), (1, "b", 1, 2.0), (1, "c", 2, 8.0),
        (2, "a", 1, 1.0),
        (None, "a", 1, 9.0), (None, "b", 0, 1.0),
    ]  # fmt: skip
    report = asserted(
        spark,
        rows,
        "pool int, name string, day int, x double",
        {
            "query": "Tenth < 0.5",
            "userDefinedFeatures": {"Tenth": "x / 10", "word": "upper(name)"},
            "userDefinedSummaryExpr": {
                "n": "count(*)",
                "top": "max(Tenth)",
                "no": "min(if(x > 99, x, null))",
            },
            "sampleWindowParams": {
                "idsForWindowPartitioning": ["pool"],
                "orderEachWindowBy": ["DAY"],
            },
        },
        {
            "query": "x is null or x > 0",
            "userDefinedSummaryExpr": {"n": "count(*)", "sum": "sum(x)"},
        },
        outputPath="out.parquet",
    )
    first, second = (one.content() for one in report.assertions)
    assert (first["numInvalid"], first["fractionInvalid"]) == (3, 0.5)
    # Columns of the condition, features and those of windows, in lower case.
    assert first["sampleInvalid"] == [
        {"day": 1, "tenth": 0.9, "word": "A"},
        {"day": 2, "pool": 1, "tenth": 0.8, "word": "C"},
        {"day": 3, "pool": 1, "word": "A"},
    ]
    of_none = [{"day": 0, "tenth": 0.1, "word": "B"}, {"day": 1, "tenth": 0.9, "word": "A"}]
    of_one = [
        {"day": 1, "pool": 1, "tenth": 0.2, "word": "B"},
        {"day": 2, "pool": 1, "tenth": 0.8, "word": "C"},
        {"day": 3, "pool": 1, "word": "A"},
    ]
    assert first["sampleWindows"] == [of_none, of_one, of_one]
    assert first["userSummaryStatistics"] == {"n": 3, "top": 0.9}
    assert (second["numInvalid"], second["sampleInvalid"]) == (0, [])
    assert second["userSummaryStatistics"] == {"n": 0}
    out = spark.read.parquet(str(Path("out.parquet").absolute()))
    assert out.columns == ["pool", "name", "day", "x", "Tenth", "word", "__REASON_INVALID__"]
    assert out.count() == 3


def test_a_feature_that_raises_is_said_of_its_assertion(spark: SparkSession) -> None:
    report = asserted(
        spark,
        [(0, "é" * 2000)],
        "x int, t string",
        {
            "query": "x > 0",
            "userDefinedFeatures": {"f": "1 / x"},
            "sampleWindowParams": {"idsForWindowPartitioning": ["x"], "orderEachWindowBy": ["x"]},
        },
        {"query": "x > 0 and t = ''", "description": "other"},
    )
    first, second = (one.content() for one in report.assertions)
    assert (first["numInvalid"], first["sampleInvalid"], first["sampleWindows"]) == (1, [], [])
    assert "DIVIDE_BY_ZERO" in first["error"]
    assert second["sampleInvalid"] == [{"t": "é" * 1000, "x": 0}]
    assert "error" not in second


def test_samples_are_few_and_can_be_left_out(spark: SparkSession) -> None:
    report = asserted(spark, [(n,) for n in range(100)], "x int", {"query": "x < 0"})
    [found] = report.content[1]["assertionReports"]
    # In the order of their texts: always the same ones.
    samples = sorted(f'{{"x":{n}}}' for n in range(100))[:20]
    assert found["sampleInvalid"] == [json.loads(text) for text in samples]
    plan = dq.load_plan("plan.json")
    [found] = plan.run(spark, samples=False).content[1]["assertionReports"]
    assert (found["numInvalid"], found["sampleInvalid"]) == (100, [])


@pytest.mark.parametrize(
    ("rows", "threshold", "fraction", "failed"),
    [
        ([], 0, 0.0, False),
        ([1, 1, 1], 0, 0.0, False),
        # Greater than the threshold, and not equal to it.
        ([-1, 1, 1, 1], 0.25, 0.25, False),
        ([-1, 1, 1], 0.3333333333333333, 1 / 3, True),
        ([-1, 1, 1], 0.34, 1 / 3, False),
        ([-1], 1, 1.0, False),
        ([None], 0, 1.0, True),
    ],
)
def test_an_assertion_fails_if_more_is_invalid_than_allowed(
    spark: SparkSession, rows: list[int], threshold: float, fraction: float, failed: bool
) -> None:
    report = asserted(
        spark, [(row,) for row in rows], "x int", {"query": "x > 0", "threshold": threshold}
    )
    [one] = report.assertions
    assert (one.fraction_invalid, one.failed, report.ok) == (fraction, failed, not failed)


def test_what_cannot_be_answered_fails_and_spares_the_rest(spark: SparkSession) -> None:
    report = asserted(
        spark,
        [(1, "a"), (0, "b")],
        "x int, t string",
        {"query": "nme = 'a'", "description": "no such column"},
        {"query": "1 / x > 0", "description": "raises"},
        {"query": "x > 0", "description": "counts", "threshold": 0.5},
        {
            "query": "x > 0",
            "description": "no such window",
            "sampleWindowParams": {"idsForWindowPartitioning": ["y"], "orderEachWindowBy": ["x"]},
        },
        outputPath="out.parquet",
    )
    assert [one.failed for one in report.assertions] == [True, True, False, True]
    missing, raises, counts, window = (one.content() for one in report.assertions)
    assert (missing["numInvalid"], missing["fractionInvalid"]) == (None, None)
    assert missing["error"].startswith("Column 'nme' is not in the table.")
    assert "DIVIDE_BY_ZERO" in raises["error"]
    assert (counts["numInvalid"], "error" in counts) == (1, False)
    assert (window["numInvalid"], window["error"][:26]) == (1, "Column 'y' is not in the t")
    assert "no such column" in report.commands[0].error
    assert not Path("out.parquet").exists()


def test_a_command_that_fails_keeps_only_those_that_need_it(spark: SparkSession) -> None:
    folder = Path.cwd()
    spark.createDataFrame([(1, 1), (1, 2)], "id int, x int").write.parquet(
        str(folder / "in.parquet")
    )
    source = {"ref": "in.parquet", "onDisk": True}
    path = write_plan(
        folder,
        a_diff(input1=source, input2=source),
        an_assertion("of_diff", "d"),
        a_view(),
        an_assertion("of_view", "v"),
        a_view("broken", externalParamsFile="broken.json"),
        broken={"tableAliases": ["t"], "query": "select y from t"},
    )
    report = dq.load_plan(path).run(spark)
    assert not report.ok
    assert {one.key: bool(one.error) for one in report.commands} == {
        "d": True,
        "of_diff": True,
        "v": False,
        "of_view": False,
        "broken": True,
    }
    _, diff, of_diff, of_view, broken = report.content
    assert diff["error"].startswith("'id' cannot tell the rows of 'cur' apart")
    assert of_diff == {"outputKey": "of_diff", "error": "It needs the rows of 'd', which failed."}
    assert of_view["assertionReports"][0]["numInvalid"] == 0
    assert broken["error"].startswith("The query of 'broken' fails")
    assert repr(report).splitlines()[0] == "1 assertion: 0 failed"


def test_files_that_are_missing_are_all_named_before_anything_runs(spark: SparkSession) -> None:
    path = write_plan(Path.cwd(), a_view(), a_diff())
    with pytest.raises(dq.DeclarationError) as caught:
        dq.load_plan(path).run(spark)
    assert [str(one) for one in caught.value.problems] == [
        "plan.json:3:3: 'v': 'in.parquet' does not exist.",
        "plan.json:14:3: 'd': 'left.parquet' does not exist.",
        "plan.json:14:3: 'd': 'right.parquet' does not exist.",
    ]


def test_rows_that_are_cached_or_stored_are_computed_once(
    spark: SparkSession, count_jobs: Callable[[Callable[[], object]], int]
) -> None:
    folder = Path.cwd()
    spark.range(3).selectExpr("id AS x").write.parquet(str(folder / "in.parquet"))
    (folder / "in.parquet" / "_SUCCESS").unlink()

    def outputs(**fields: Any) -> list[str]:
        path = write_plan(folder, a_view(**fields), an_assertion("a", "v"), an_assertion("b", "v"))
        report = dq.load_plan(path).run(spark)
        assert [one.num_invalid for one in report.assertions] == [1, 1]
        return sorted(one.name for one in folder.iterdir() if one.suffix == ".parquet")

    plain = count_jobs(outputs)
    assert count_jobs(lambda: outputs(cache=True)) == plain + 1
    assert outputs(cache=True, outputPath="out.parquet") == ["in.parquet", "out.parquet"]
    # Again: the old rows are replaced.
    assert outputs(outputPath="out.parquet") == ["in.parquet", "out.parquet"]
    assert spark.read.parquet(str(folder / "out.parquet")).count() == 3


def test_the_report_is_written(spark: SparkSession) -> None:
    report = asserted(spark, [(1,)], "x int", {"query": "x > 0"})
    assert report.ok
    assert report.write(Path.cwd()) == Path.cwd() / "plan_report.json"
    assert json.loads(report.write("other.json").read_text()) == report.content
    with pytest.raises(dq.DeclarationError, match=r"'none/x\.json' cannot be written: No such"):
        report.write("none/x.json")
    with pytest.raises(dq.DeclarationError, match="A report is written to a local file"):
        report.write("s3a://bucket/x.json")
