"""Plans with their files: what they say, every mistake at once, and files that mean harm."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from dq_dagster.errors import DeclarationError
from dq_dagster.plan.topnotch import AssertionCommand, DiffCommand, PlanInput, ViewCommand
from dq_dagster.sources.topnotch.plan import read_plan
from tests.sources.topnotch.loans import (
    ASSERTION,
    DIFF,
    EXAMPLE,
    VIEW,
    a_diff,
    a_view,
    an_assertion,
    write_json,
    write_plan,
)


def problems(path: Path, **arguments: Any) -> list[str]:
    with pytest.raises(DeclarationError) as caught:
        read_plan(path, **arguments)
    return [str(one) for one in caught.value.problems]


def test_the_example_of_the_guide() -> None:
    view, diff, assertion = read_plan(EXAMPLE / "plan.json").commands
    assert isinstance(view, ViewCommand)
    assert isinstance(diff, DiffCommand)
    assert isinstance(assertion, AssertionCommand)
    csv = PlanInput("topnotch/viewInput.csv", path="topnotch/viewInput.csv", delimiter=",")
    assert (view.key, view.cache, view.sources) == ("viewKey", True, (csv,))
    assert (view.aliases, view.query) == (("loanData",), "select * from loanData")
    assert (diff.left.name, diff.left.keys, diff.left.columns) == (
        "cur",
        ("loanID", "poolNum"),
        ("loanBal",),
    )
    assert (diff.tolerances, diff.only_differences) == ((1e-6,), False)
    assert diff.output_path == "topnotch/diffOutput.parquet"
    assert assertion.source == PlanInput("viewKey", command="viewKey")
    assert [(one.query, one.threshold) for one in assertion.assertions] == [
        ("loanBal > 0", 0.01),
        ("loanBal > 1", 0.02),
    ]
    assert [one.rule.check_name for one in assertion.assertions] == [
        "assertionKey_Loan_balances_are_positive",
        "assertionKey_Loan_balances_are_greater_than_1",
    ]


def test_the_first_example_needs_the_view_of_another_plan(tmp_path: Path) -> None:
    [found] = problems(EXAMPLE / "basicPlan.json")
    assert found == (
        "basicPlan.json:6:14: no earlier command has the outputKey 'viewKey'. For a file, write "
        '"onDisk": true.'
    )
    files = {
        name: (EXAMPLE / name).read_text() for name in ("basicPlan.json", "basicAssertion.json")
    }
    nested = {"command": "plan", "externalParamsFile": "basicPlan.json"}
    plan = write_json(
        tmp_path,
        {"all.json": {"topnotch": [a_view("viewKey"), nested]}, "view.json": VIEW, **files},
    )
    _, command = read_plan(plan, paths={"/user/durst/": "/data/"}).commands
    assert command.key == "exampleAssertionKey"
    assert command.output_path == "/data/topnotch/exampleAssertionOutput.parquet"


ALL_FIELDS = {
    "assertions": [
        {
            "query": "age < 100",
            "description": "x" * 300,
            "threshold": 0,
            "userDefinedFeatures": {"age": "months / 12.0"},
            "userDefinedSummaryExpr": {"average": "avg(months)"},
            "sampleWindowParams": {"idsForWindowParitioning": ["id"], "orderEachWindowBy": ["day"]},
        },
        {"query": "age > 0", "description": "x" * 300, "threshold": 1},
    ],
    "_comment": "fields with an underscore are notes",
}


def test_both_spellings_nested_plans_and_all_fields(tmp_path: Path) -> None:
    files = {
        "plan.json": '{"io": {"writer": "hdfs", "dest": "reports/"}, "commands": ['
        '{"command": "plan", "externalParamsFile": "sub/nested.json",},\n'
        + json.dumps(a_diff(threshold=0.5, filterEqualRows=True, tableName="t", outputPath="o"))
        + ",]}",
        "sub/nested.json": {"topnotch": [a_view("v", "../view.json"), an_assertion()], "io": {}},
        "sub/assertion.json": ALL_FIELDS,
        "view.json": {"topnotch": VIEW},
        "diff.json": {**DIFF, "thresholds": [2]},
    }
    plan = read_plan(write_json(tmp_path, files))
    view, assertion, diff = plan.commands
    assert isinstance(assertion, AssertionCommand)
    assert isinstance(diff, DiffCommand)
    assert [one.place for one in plan.commands] == [
        "sub/nested.json:3:3",
        "sub/nested.json:14:3",
        "plan.json:2:1",
    ]
    assert view.declared["params"] == VIEW
    assert (diff.tolerances, diff.only_differences) == ((2,), True)
    first, second = assertion.assertions
    assert first.features == {"age": "months / 12.0"}
    assert first.window is not None
    assert (first.window.same, first.window.order) == (("id",), ("day",))
    assert second.rule.name == f"{first.rule.name} (2)"
    assert len(second.rule.name) < 200
    assert [note.split(".", 2)[:2] for note in plan.notes] == [
        ["plan", "json:1:8: io asks for a report by 'hdfs', to 'reports/'"],
        ["plan", "json:2:275: tableName makes no table here"],
    ]


def test_paths_are_put_elsewhere_by_their_beginnings(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, a_view(outputPath="/user/me/deep/x"), a_diff(outputPath="rel/x"))
    moved = {"/user/me/": "s3a://b/", "/user/me/deep/": "hdfs:///d/", "left": "/data/left"}
    view, diff = read_plan(plan, paths=moved).commands
    assert view.output_path == "hdfs:///d/x"
    assert diff.output_path == "rel/x"
    assert [one.path for one in diff.inputs] == ["/data/left.parquet", "right.parquet"]


def test_every_mistake_of_every_file_is_named_with_its_place(tmp_path: Path) -> None:
    files = {
        "plan.json": """{
  "comands": [],
  "commands": [
    {"command": "view", "externalParamsFile": "view.json", "outputKey": "v",
     "inputs": [{"ref": "", "onDisk": "yes"}, {"ref": "w", "onDisk": false},
      {"ref": "q", "onDisk": 1}], "cach": true},
    {"command": "veiw", "externalParamsFile": "none.json", "outputKey": "w"},
    {"command": "diff", "externalParamsFile": "diff.json", "outputKey": "w",
     "input1": {"ref": "v", "onDisk": false, "delimiter": "||"}, "input1Name": "a b",
     "input2": 5, "threshold": -1, "filterEqualRows": 1},
    {"command": "assertion", "externalParamsFile": "assertion.json",
     "input": {"ref": "x", "onDisk": false}},
    7
  ]
}""",
        "view.json": {"tableAliases": ["a; drop table b"], "query": "drop table b"},
        "diff.json": {
            "input1Columns": {"joinColumns": [], "diffColumns": ["x", "y"]},
            "input2Columns": {"joinColumns": ["a"], "diffColumns": ["x", 3]},
            "thresholds": [1, "a"],
        },
        "assertion.json": """{"assertions": [
  {"query": "x > (select 1)", "description": "", "treshold": 0.1},
  {"query": "x >", "description": "d", "threshold": 5,
   "userDefinedFeatures": {"a b": "x", "c": "sum(x)"}, "userDefinedSummaryExpr": {"s": "x"}}
]}""",
    }
    found = problems(write_json(tmp_path, files))
    expected = MISTAKES.strip().splitlines()
    assert [one[: len(start)] for one, start in zip(found, expected, strict=True)] == expected


# How each begins.
MISTAKES = """
plan.json:2:3: unknown field 'comands'. Did you mean 'commands'?
plan.json:5:25: field 'ref' must be a text, not an empty one.
plan.json:5:39: field 'onDisk' must be true or false, not the text 'yes'.
plan.json:5:55: the command 'w' comes later (plan.json:7:5). For a file, write "onDisk": true.
plan.json:6:30: field 'onDisk' must be true or false, not the number 1.
plan.json:6:35: unknown field 'cach'. Did you mean 'cache'?
plan.json:7:17: field 'command' is 'veiw', which is no command. Did you mean 'view'?
plan.json:7:47: there is no file 'none.json'.
plan.json:8:5: field 'input2Name' is missing.
plan.json:8:73: the outputKey 'w' is that of another command already (plan.json:7:5).
plan.json:9:59: field 'delimiter' must be a single character.
plan.json:9:80: field 'input1Name' may have letters, digits
plan.json:10:16: an object with 'ref' and 'onDisk' is needed, not the number 5.
plan.json:10:32: field 'threshold' cannot be negative, but it is -1.
plan.json:10:55: field 'filterEqualRows' must be true or false, not the number 1.
plan.json:11:5: field 'outputKey' is missing.
plan.json:12:23: no earlier command has the outputKey 'x'. For a file, write "onDisk": true.
plan.json:13:5: a command is an object, not the number 7.
view.json:2:18: field 'tableAliases' has 'a; drop table b', but a name here begins with a letter
view.json:2:18: field 'tableAliases' has 1 names for 3 inputs: each needs one.
view.json:5:11: field 'query': 'drop table b' is a statement that changes something
diff.json:3:18: field 'joinColumns' needs at least one column.
diff.json:15:4: field 'diffColumns' must be a text, not the number 3.
diff.json:20:3: field 'thresholds' must be a number, not the text 'a'.
assertion.json:2:3: field 'threshold' is missing.
assertion.json:2:13: field 'query': '(select 1)' is a subquery
assertion.json:2:46: field 'description' must be a text, not an empty one.
assertion.json:2:50: unknown field 'treshold'. Did you mean 'threshold'?
assertion.json:3:13: field 'query': Syntax error: the expression ends
assertion.json:3:53: field 'threshold' is a share of the rows, from 0 to 1, but it is 5
assertion.json:4:28: field 'userDefinedFeatures' has 'a b', but a name here begins with a letter
assertion.json:4:45: 'c' of field 'userDefinedFeatures': 'sum(x)' is an aggregate
assertion.json:4:88: 's' of field 'userDefinedSummaryExpr': There is no aggregate
"""


def view_of(**fields: Any) -> dict[str, Any]:
    return {"view": {**VIEW, **fields}}


def assertion_of(**fields: Any) -> dict[str, Any]:
    [usual] = ASSERTION["assertions"]
    return {"assertion": {"assertions": [{**usual, **fields}]}}


def columns(keys: list[str], compared: list[str]) -> dict[str, Any]:
    return {"joinColumns": keys, "diffColumns": compared}


OVERWRITES = "the outputPath of command 'v' would overwrite this input."


@pytest.mark.parametrize(
    ("command", "files", "message"),
    [
        (a_view(inputs=[]), {}, "field 'inputs' needs at least one input."),
        (a_view(), view_of(tableAliases=["a", "b"]), "has 2 names for 1 inputs: each needs one."),
        (
            a_view(inputs=a_view()["inputs"] * 2),
            view_of(tableAliases=["a", "A"]),
            "field 'tableAliases' has 'a' twice.",
        ),
        (a_view(), view_of(query="select {x} from rows"), "'{x}' belongs to a template: call"),
        (a_view(), view_of(query="(select 1) > 0"), "a whole query is needed, such as"),
        (a_view(), view_of(query="x > 0"), "a rule of type row_dq"),
        (a_view(), view_of(query="insert into t select 1"), "insert into t select 1"),
        (a_view(), view_of(query="select 1; drop table t"), "';' ends a statement"),
        (a_view(), view_of(query="select * from parquet.`/etc/x`"), "parquet"),
        (a_view(), view_of(query="select java_method('a', 'b')"), "runs arbitrary Java code"),
        (a_view(), {"view": []}, "view.json:1:1: an object with 'tableAliases' and 'query' is"),
        (a_view(), {"view": "{"}, "view.json:1:1: this '{' is never closed."),
        (a_view("x' or 1=1 --"), {}, "field 'outputKey' may have letters, digits and"),
        (a_view("../../etc"), {}, "field 'outputKey' may have letters, digits and"),
        (a_view("a\u0000"), {}, "field 'outputKey' has a control character in it."),
        (a_view("a" * 2000), {}, "field 'outputKey' has more than 1,000 characters."),
        (a_view(outputPath="in.parquet"), {}, OVERWRITES),
        (a_view(outputPath="."), {}, OVERWRITES),
        (a_view(outputPath="in.parquet/x"), {}, OVERWRITES),
        (
            a_view(inputs=[{"ref": "d/*.parquet", "onDisk": True}], outputPath="d"),
            {},
            OVERWRITES,
        ),
        (a_diff(input2Name="cur"), {}, "two columns of the name 'cur_id': give input1Name"),
        (
            a_diff(),
            {"diff": {**DIFF, "thresholds": [1, 2]}},
            "has 2 numbers for 1 diffColumns: each needs one.",
        ),
        (
            a_diff(),
            {"diff": {**DIFF, "input2Columns": columns(["a", "b"], ["x"])}},
            "field 'input2Columns' has 2 joinColumns for 1 of input1Columns: they are compared",
        ),
        (
            a_diff(),
            {"diff": {**DIFF, "input1Columns": columns(["a"], [])}},
            "field 'diffColumns' needs at least one column.",
        ),
        (an_assertion(), {"assertion": {"assertions": []}}, "needs at least one assertion."),
        (an_assertion(), assertion_of(threshold=5), "but it is 5: write 0.05 for 5 %."),
        (an_assertion(), assertion_of(query="rank() over (order by x) = 1"), "rank"),
        (an_assertion(), assertion_of(query="x in (select 1)"), "select 1"),
        (an_assertion(), assertion_of(query="my_function(x)"), "my_function"),
        (an_assertion(), assertion_of(description=" "), "'description' must be a text"),
        (
            an_assertion(),
            assertion_of(userDefinedFeatures={"__reason_invalid__": "x"}),
            "cannot have '__REASON_INVALID__': invalid rows have it anyway.",
        ),
        (
            an_assertion(),
            assertion_of(userDefinedFeatures={"x from y --": "x"}),
            "has 'x from y --', but a name here begins with a letter",
        ),
        (
            an_assertion(),
            assertion_of(userDefinedSummaryExpr={"s": "x"}),
            "'s' of field 'userDefinedSummaryExpr': ",
        ),
    ],
)
def test_what_is_refused(
    tmp_path: Path, command: dict[str, Any], files: dict[str, Any], message: str
) -> None:
    before = [] if command["command"] != "assertion" else [a_view()]
    found = problems(write_plan(tmp_path, *before, command, **files))
    assert any(message in one for one in found), found


def test_keys_outputs_and_features_are_there_once(tmp_path: Path) -> None:
    feature = assertion_of(userDefinedFeatures={"f": "x"})["assertion"]
    other = assertion_of(userDefinedFeatures={"F": "x + 1"})["assertion"]
    path = write_plan(
        tmp_path,
        a_view(outputPath="o"),
        a_view(),
        a_diff(outputPath="./o/"),
        an_assertion("a"),
        an_assertion("b", externalParamsFile="other.json"),
        assertion=feature,
        other=other,
    )
    feature_means = (
        "the feature 'F' means something else in another assertion on the same rows: give it "
        "another name."
    )
    assert problems(path) == [
        "plan.json:24:17: the outputKey 'v' is that of another command already (plan.json:12:17).",
        "plan.json:40:18: the command 'v' writes its rows to this outputPath.",
        f"plan.json:51:3: {feature_means}",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "plan.json:1:1: an object with 'io' and 'commands' is needed, not a list."),
        ({}, 'plan.json:1:1: a plan needs its commands: "commands": [...], or "topnotch": [...].'),
        ({"commands": [], "topnotch": []}, "there are 'commands' and 'topnotch'"),
        ({"commands": {"a": 1}}, "field 'commands' must be a list, not an object."),
        ({"io": {"writer": "hbas"}}, "is 'hbas', which is no writer. Did you mean 'hbase'?"),
        (b"\xff", "plan.json:1:1: the file cannot be read: it is no UTF-8 text."),
    ],
)
def test_what_is_no_plan(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    found = problems(path)
    assert any(message in one for one in found), found


def test_a_missing_plan_is_said_so(tmp_path: Path) -> None:
    assert problems(tmp_path / "none.json") == [f"'{tmp_path / 'none.json'}' does not exist."]
    assert problems(tmp_path) == [f"'{tmp_path}' is no file."]


# --- Files that mean harm ---------------------------------------------------------------------


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder for plans, beside which lies what they may not read."""
    write_json(tmp_path, {"secret.json": VIEW, "plans/view.json": VIEW})
    (tmp_path / "plans" / "link.json").symlink_to(tmp_path / "secret.json")
    return tmp_path / "plans"


@pytest.mark.parametrize(
    "path",
    [
        "../secret.json",
        "../missing.json",
        "x/../../secret.json",
        "{root}/secret.json",
        "/etc/passwd",
        "/dev/zero",
        "link.json",
        "..",
    ],
)
def test_no_file_outside_the_folder_is_read(outside: Path, path: str) -> None:
    path = path.format(root=outside.parent)
    shown = path if len(path) <= 60 else f"{path[:59]}…"
    [found] = problems(write_json(outside, {"plan.json": {"commands": [a_view(file=path)]}}))
    assert found == (
        f"plan.json:5:26: the file '{shown}' lies outside the folder of the plan. If it is meant, "
        "name a folder that has all of its files: within=..., or --within on the command line."
    )


def test_the_caller_may_name_a_wider_folder(outside: Path) -> None:
    plan = write_json(outside, {"plan.json": {"commands": [a_view(file="../secret.json")]}})
    assert len(read_plan(plan, within=outside.parent).commands) == 1
    assert problems(plan, within=outside / "none") == [
        f"within: '{outside / 'none'}' is no folder."
    ]
    other = outside / "other"
    other.mkdir()
    assert problems(plan, within=other) == [f"'{plan}' does not lie within '{other}'."]


@pytest.mark.parametrize("path", [".", "none.json", "a" * 999, "pipe"])
def test_what_is_no_file_is_not_opened(outside: Path, path: str) -> None:
    os.mkfifo(outside / "pipe")
    [found] = problems(write_json(outside, {"plan.json": {"commands": [a_view(file=path)]}}))
    assert found.startswith("plan.json:5:26: there is no file '")


def nested(path: str) -> dict[str, Any]:
    return {"command": "plan", "externalParamsFile": path}


def test_plans_cannot_be_nested_in_themselves(tmp_path: Path) -> None:
    files = {
        "plan.json": {"commands": [nested("b.json")]},
        "b.json": {"commands": [nested("./plan.json"), nested("b.json")]},
    }
    assert problems(write_json(tmp_path, files)) == [
        "b.json:5:26: a plan cannot have itself as a command (plan.json > b.json > plan.json).",
        "b.json:9:26: a plan cannot have itself as a command (plan.json > b.json > b.json).",
    ]


def test_nested_plans_do_not_multiply_without_end(tmp_path: Path) -> None:
    files = {f"p{n}.json": {"commands": [nested(f"p{n + 1}.json")] * 2} for n in range(15)}
    write_json(tmp_path, {**files, "p15.json": {"commands": [a_view()]}, "view.json": VIEW})
    start = time.monotonic()
    found = problems(tmp_path / "p0.json")
    assert any("there are more than 1,000 commands." in one for one in found)
    assert time.monotonic() - start < 3
    deep = {f"d{n}.json": {"commands": [nested(f"d{n + 1}.json")]} for n in range(40)}
    write_json(tmp_path, deep)
    assert "plans are nested more than 20 levels deep." in problems(tmp_path / "d0.json")[0]


def test_vast_files_are_refused_in_a_moment(tmp_path: Path) -> None:
    write_plan(tmp_path, a_view())
    with (tmp_path / "view.json").open("wb") as file:
        file.truncate(50_000_000)
    start = time.monotonic()
    [found] = problems(tmp_path / "plan.json")
    assert found == (
        "view.json:1:1: the file cannot be read: it has more than 1,048,576 bytes, which no plan "
        "needs."
    )
    assert time.monotonic() - start < 1
