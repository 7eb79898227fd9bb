"""Declaring rules that call functions, without Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.judging.evidence import Evidence
from tests.rules.base.test_declarations import problems
from tests.rules.types import functions

HERE = "tests.rules.types.functions"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "field 'function' is missing."),
        ({"function": "fine"}, "'fine' is not a function's place: write package.module:function."),
        (
            {"function": "no.such.module:f"},
            (
                "module 'no.such.module' cannot be imported (ModuleNotFoundError: No module named "
                "'no'"
            ),
        ),
        ({"function": f"{HERE}:fin"}, "there is no 'fin' in 'tests.rules.types.functions'."),
        ({"function": f"{HERE}:NOT_CALLABLE"}, "is not a function but int."),
        (
            {"function": "tests.rules.types.raises_on_import:f"},
            "(RuntimeError: no such service, password=***)",
        ),
        (
            {"function": f"{HERE}:only_data"},
            "the function is called as (data, context): too many positional arguments.",
        ),
        (
            {"function": f"{HERE}:with_limit"},
            "the function is called as (data, context): missing a required argument: 'limit'.",
        ),
        (
            {"function": f"{HERE}:fine", "arguments": {"limit": 3}},
            (
                "the function is called as (data, context, limit=...): got an unexpected keyword "
                "argument 'limit'."
            ),
        ),
    ],
)
def test_what_is_wrong_is_told_at_load(fields: dict[str, Any], said: str) -> None:
    [problem] = problems(type="python", name="n", **fields)
    assert problem.startswith("rule 'n', asset 'orders': ")
    assert said in problem


def test_a_function_or_where_it_stands() -> None:
    by_name = dq.PythonRule(function=f"{HERE}:fine")
    by_hand = dq.PythonRule(function=functions.fine)
    assert by_name.name == by_hand.name == "python_fine"
    assert by_name.demand() == "The function 'tests.rules.types.functions:fine' accepts the data."
    assert by_hand.demand() == by_name.demand()
    nested = dq.PythonRule(function=f"{HERE}:Nested.inside", arguments={})
    assert nested.name == "python_inside"
    limited = dq.PythonRule(function=functions.with_limit, arguments={"limit": 3})
    assert limited.demand() == (
        "The function 'tests.rules.types.functions:with_limit' with limit=3 accepts the data."
    )


def test_what_a_function_answered_is_judged() -> None:
    rule = dq.PythonRule(function=functions.fine)
    [call] = rule.metrics()
    judgement = rule.judge(Evidence({call: ("Warning", 2, "two")}))
    assert (judgement.status, judgement.observed, judgement.message) == ("Warning", 2, "two.")
    assert dq.explain([rule]).passes[0].kind.value == "functions of Python, one call each"


def test_yaml_names_functions_and_starts_no_spark(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(
        "asset: orders\n"
        "rules:\n"
        "  - type: python\n"
        f"    function: {HERE}:with_limit\n"
        "    arguments: {limit: 3, note: of mine}\n"
    )
    code = (
        "import sys, dq_dagster as dq\n"
        f"[rules] = dq.load_rules({str(tmp_path)!r})\n"
        "print(rules.rules[0].arguments)\n"
        "print(sorted({'pyspark', 'dagster', 'pandas'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["{'limit': 3, 'note': 'of mine'}", "[]"]


def test_the_schema_takes_a_place() -> None:
    field = dq.json_schema()["$defs"]["python"]["properties"]["function"]
    assert field["type"] == "string"
    assert "package.module:function" in field["description"]
