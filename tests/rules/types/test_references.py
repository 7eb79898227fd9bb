"""Declaring and judging rules about values in another dataset."""

from __future__ import annotations

from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.judging.evidence import Evidence
from dq_dagster.metrics.sources import AssetData, FileData, TableData
from tests.rules.base.test_declarations import problems

TYPE = "column_values_in_reference"


@pytest.mark.parametrize(
    ("written", "dataset", "label"),
    [
        ({"asset": "db/customers"}, AssetData("db/customers"), "asset 'db/customers'"),
        ({"table": "db.customers"}, TableData("db.customers"), "table 'db.customers'"),
        ({"files": "/data/c"}, FileData("/data/c", "parquet"), "files '/data/c'"),
        (
            {"files": "c.csv", "format": "csv", "options": {"sep": ";", "header": "true"}},
            FileData("c.csv", "csv", (("header", "true"), ("sep", ";"))),
            "files 'c.csv'",
        ),
    ],
)
def test_a_reference_names_a_dataset(written: dict[str, Any], dataset: Any, label: str) -> None:
    reference = dq.Reference(**written)
    assert reference.dataset == dataset
    assert reference.dataset.label == label


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "field 'reference' is missing."),
        ({"reference": {}}, "one of asset, table and files is needed, not none of them."),
        (
            {"reference": {"asset": "a", "table": "b"}},
            "one of asset, table and files is needed, not asset and table.",
        ),
        (
            {"reference": {"asset": "a", "format": "csv"}},
            "format and options go with files only.",
        ),
        ({"reference": {"asst": "a"}}, "unknown field 'reference.asst'. Did you mean 'asset'?"),
        ({"reference": {"asset": ""}}, "an asset's definition, its key, or its key as text"),
        (
            {"reference": {"asset": "a"}, "reference_columns": ["x", "y"]},
            "there are 1 columns, but 2 reference_columns.",
        ),
    ],
)
def test_what_is_wrong_is_reported(fields: dict[str, Any], said: str) -> None:
    [problem] = problems(type=TYPE, columns="c", name="n", **fields)
    assert said in problem
    assert problem.startswith("rule 'n', asset 'orders': ")


def rule(**fields: Any) -> dq.ColumnValuesInReference:
    reference = dq.Reference(asset="customers")
    return dq.ColumnValuesInReference(**{"columns": "c", "reference": reference, **fields})


@pytest.mark.parametrize(
    ("fields", "missing", "found", "status", "message"),
    [
        ({}, 0, 3, "Ok", "0 of 3 values (0 %) of 'c' are not in 'c' of asset 'customers' (none"),
        ({}, 1, 3, "Error", "1 of 4 values (25 %) of 'c' is not in 'c' of asset 'customers'"),
        ({}, 0, 0, "Empty", "Nothing to judge: 'c' has no value."),
        (
            {"columns": ["a", "b"], "reference_columns": ["x", "y"]},
            2,
            2,
            "Error",
            "2 of 4 combinations (50 %) of 'a' and 'b' are not in 'x' and 'y' of asset",
        ),
        (
            {"threshold": dq.AtMost(type="proportion", soft_max=0.1, max=0.3)},
            1,
            3,
            "Warning",
            "(at most 30 % allowed, ideally at most 10 %).",
        ),
        (
            {"threshold": dq.AtLeast(type="count", min=4)},
            1,
            3,
            "Error",
            "(at least 4 required).",
        ),
    ],
)
def test_judging(
    fields: dict[str, Any], missing: int, found: int, status: str, message: str
) -> None:
    judged = rule(**fields)
    counted = dict(zip(judged.metrics(), (missing, found), strict=True))
    judgement = judged.judge(Evidence(counted))
    assert judgement.status == status
    assert message in judgement.message
    if status != "Empty":
        assert (judgement.observed, judgement.failed_rows) == (missing, missing)
        assert judgement.rows == missing + found


def test_name_and_demand() -> None:
    plain = rule(columns=["a", "b"])
    assert plain.name == "column_values_in_reference_a_b"
    assert plain.demand() == (
        "Every combination of 'a' and 'b' is in 'a' and 'b' of asset 'customers'."
    )
    lenient = rule(threshold=dq.AtMost(type="count", max=2))
    assert lenient.demand().endswith(" (exceptions: at most 2 allowed).")


def test_rules_on_one_reference_share_a_pass() -> None:
    rules = [rule(name=f"r{n}", columns=f"c{n}", reference_columns="id") for n in range(8)]
    rules += [rule(name="again", columns="c0", reference_columns="id", where="x > 1")]
    plan = dq.explain(rules)
    assert [step.kind.value for step in plan.passes] == [
        "one join with reference values, then one aggregation"
    ]
    assert str(plan).startswith("9 rules -> 18 metrics -> 1 Spark pass")
