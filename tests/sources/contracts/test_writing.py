"""Rule sets written as contracts are read back as they were, whatever they hold."""

# ruff: noqa: E501 (contracts on one line each)
from __future__ import annotations

import json
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import open_data_contract_standard as standard
import pytest
import yaml

import dq_dagster as dq
from docs.catalogue.examples import load as examples
from dq_dagster.rules.catalogue import RULE_TYPES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OPERATORS = ("mustBe", "mustNotBe", "mustBeGreater", "mustBeLess")

SCHEMA: list[dict[str, Any]] = [
    {"name": "a", "type": "int"},
    {"name": "b", "type": "array", "items": "varchar(3)"},
    {"name": "s", "type": "struct", "fields": [{"name": "x", "type": "decimal(9,2)"}]},
]
# Rules that the standard has words for.
UNDERSTOOD = [
    dq.ColumnNotEmpty(columns=["a", "b"], threshold=0.015, blocking=False, scope="both"),
    dq.ColumnNotEmpty(
        name="c soft", columns=["c"], threshold=dq.AtMost(soft_max=3), description="hm"
    ),
    dq.ColumnNotEmpty(name="none", columns=["c"], threshold=dq.AtMost(max=0), on_empty="error"),
    dq.ColumnUnique(columns=["a"], action_if_failed="ignore", tags=["x"], owners=["ada"]),
    dq.ColumnUnique(name="dropped", columns=["a"], action_if_failed="drop"),
    dq.UniqueKey(columns=["b", "a"], threshold=dq.AtMost(type="proportion", max=0.1)),
    dq.RecordCountInRange(min=1, max=10),
    dq.RecordCountInRange(name="exactly", min=7, max=7),
    dq.RecordCountInRange(name="at least", soft_min=1),
    dq.ColumnValuesInSet(columns=["c"], values=["x", 1, True, 2.5]),
    dq.ColumnValuesMatch(columns=["c"], pattern="a|b"),
    dq.ColumnValuesMatch(name="found", columns=["c"], pattern="a|b", match="search"),
    dq.Freshness(columns=["t"], max="36 hours"),
    dq.RowInsertedCountInRange(columns=["t"], window="90 s", min=1),
    dq.SchemaContains(expected=SCHEMA),
]
# Those that it has none for, however close they are.
KEPT = [
    dq.ColumnNotEmpty(name="other order", columns=["b", "a"]),
    dq.ColumnNotEmpty(name="two bounds", columns=["c"], threshold=dq.AtMost(soft_max=3, max=5)),
    dq.ColumnNotEmpty(name="some rows", columns=["c"], where="a > 0"),
    dq.ColumnNotEmpty(name="off", columns=["c"], enabled=False),
    dq.ColumnNotEmpty(
        name="good ones", columns=["c"], threshold=dq.AtLeast(type="proportion", min=0.5)
    ),
    dq.RecordCountInRange(name="more than", min=5, exclusive="min"),
    dq.UniqueKey(name="kept", columns=["a"], keep=dq.Keep(order_by="t")),
    dq.Freshness(name="named", columns=["t"], max=60),
    dq.ColumnValuesInSet(name="any case", columns=["c"], values=["x"], ignore_case=True),
    dq.ColumnAvgInRange(columns=["a"], min=1, max=5),
    dq.RecordCountTypical(learning_period=3),
    dq.RowExpectation(name="sql", expectation="a > 0 or b is null", null_is="pass"),
]


WITH_SETTINGS = [
    dq.RuleSet(
        asset="a", rules=[*UNDERSTOOD, *KEPT], empty_includes_blank=True, on_empty="warn",
        sensitive=["a"], metrics={"m": "column_avg:a"}, timeout="10 min",
        reader={"table": "dwh.a"}, partition_expr="t",
    ),
    dq.RuleSet(
        asset="b",
        rules=[dq.SchemaEquals(expected="declared"), dq.ColumnUnique(columns=["x"])],
        declared_schema=[{"name": "x", "type": "int"}, {"name": "y", "type": "string"}],
    ),
    dq.RuleSet(
        asset="c",
        rules=[dq.MetricInRange(metric="n", max=3)],
        metrics={"n": {"query": "select count(*) from {table}"}},
    ),
]  # fmt: skip
# Values and names at the edge of what YAML and JSON have words for.
ODD = dq.RuleSet(
    asset="shop/ä b",
    rules=[
        dq.ColumnValuesInSet(name="days", columns=["d"], values=[date(2024, 2, 29)]),
        dq.ColumnValuesInSet(name="exact", columns=["n"], values=[0.1, 2**70]),
        dq.ColumnNotEmpty(name="null: [*]", columns=["a.b", "c`d", "ü"], description="'\n\"%"),
        dq.Freshness(columns=["t"], max="1.5 hours"),
        dq.SchemaContains(name="types", expected=[
            {"name": "m", "type": "map<string,array<struct<x:int>>>"},
            {"name": "v", "type": "variant"}, {"name": "i", "type": "interval day to second"},
        ]),
    ],
)  # fmt: skip


def back(folder: Path, rule_sets: Any) -> tuple[dq.WrittenContract, Any]:
    written = dq.write_contract(folder / "x.odcs.yaml", rule_sets)
    return written, dq.load_contract(folder / "x.odcs.yaml")


def test_rules_come_back_as_they_were(tmp_path: Path) -> None:
    rules = dq.RuleSet(asset="shop/orders", rules=[*UNDERSTOOD, *KEPT])
    written, found = back(tmp_path, rules)
    assert found.rule_sets == [rules]
    assert not found.report.refused
    assert [one.rule for one in written.report.of("taken as it is")] == [r.name for r in UNDERSTOOD]
    assert [one.rule for one in written.report.of("means something else here")] == [
        rule.name for rule in KEPT
    ]
    said = {one.name: one.model_fields_set for one in found.rule_sets[0].rules}
    assert "action_if_failed" in said["column_unique_a"]
    assert "action_if_failed" not in said["c soft"]


def test_what_it_looks_like(tmp_path: Path) -> None:
    rules = dq.RuleSet(
        asset="orders",
        rules=[
            dq.ColumnNotEmpty(columns=["id"], blocking=False),
            dq.RecordCountInRange(min=1),
            dq.ColumnAvgInRange(columns=["amount"], max=5),
        ],
    )
    written, _ = back(tmp_path, rules)
    assert written.document == {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": "orders",
        "name": "orders",
        "version": "1.0.0",
        "status": "active",
        "schema": [
            {
                "name": "orders",
                "logicalType": "object",
                "physicalType": "table",
                "properties": [
                    {
                        "name": "id",
                        "quality": [
                            {
                                "name": "column_not_empty_id",
                                "dimension": "completeness",
                                "customProperties": [
                                    {"property": "dq_dagster", "value": {"blocking": False}}
                                ],
                                "metric": "nullValues",
                                "mustBe": 0,
                            }
                        ],
                    },
                    {"name": "amount"},
                ],
                "quality": [
                    {
                        "name": "record_count_in_range",
                        "dimension": "completeness",
                        "metric": "rowCount",
                        "mustBeGreaterOrEqualTo": 1,
                    },
                    {
                        "name": "column_avg_in_range_amount",
                        "type": "custom",
                        "description": "The average of 'amount' is at most 5.",
                        "dimension": "accuracy",
                        "engine": "dq_dagster",
                        "implementation": {
                            "type": "column_avg_in_range",
                            "name": "column_avg_in_range_amount",
                            "columns": ["amount"],
                            "max": 5,
                        },
                    },
                ],
                "customProperties": [
                    {
                        "property": "dq_dagster",
                        "value": {
                            "order": [
                                "column_not_empty_id",
                                "record_count_in_range",
                                "column_avg_in_range_amount",
                            ]
                        },
                    }
                ],
            }
        ],
    }


def test_settings_of_rule_sets_come_along(tmp_path: Path) -> None:
    written, found = back(tmp_path, WITH_SETTINGS)
    assert found.rule_sets == WITH_SETTINGS
    # Types are there to be read, although another rule judges them.
    assert written.document["schema"][1]["properties"][0]["physicalType"] == "int"
    with pytest.raises(dq.DeclarationError, match="at least one rule set"):
        dq.to_contract([])


def test_every_rule_type_survives(tmp_path: Path) -> None:
    rules = list(examples().values())
    assert {rule.type for rule in rules} == set(RULE_TYPES)
    keep = [rule for rule in rules if rule.type != "python"]
    sets = [dq.RuleSet(asset=rule.type, rules=[rule]) for rule in keep]
    _, found = back(tmp_path, sets)
    assert found.rule_sets == sets
    assert not found.report.refused


def test_the_standards_own_schema_accepts_what_is_written(tmp_path: Path) -> None:
    schema = json.loads((files(standard) / "schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft201909Validator(schema)
    each = [dq.RuleSet(asset="t", rules=[rule]) for rule in examples().values()]
    for rule_sets in (WITH_SETTINGS, ODD, *each):
        if isinstance(rule_sets, dq.RuleSet) and rule_sets.rules[0].type == "python":
            continue
        written, found = back(tmp_path, rule_sets)
        # As others read the file: JSON has no dates.
        document = json.loads(json.dumps(yaml.safe_load(written.to_yaml()), default=str))
        assert document["apiVersion"] == "v3.1.0"
        assert "&id" not in written.to_yaml()
        assert [one.message for one in validator.iter_errors(document)] == []
        assert found.rule_sets == (rule_sets if isinstance(rule_sets, list) else [rule_sets])


def test_an_entry_has_one_operator(tmp_path: Path) -> None:
    """The standard's JSON Schema allows no more."""
    written, _ = back(tmp_path, dq.RuleSet(asset="a", rules=UNDERSTOOD))
    [table] = written.document["schema"]
    entries = [entry for one in table["properties"] for entry in one.get("quality", ())]
    for entry in [*entries, *table["quality"]]:
        operators = [key for key in entry if key.startswith(OPERATORS)]
        assert len(operators) == (0 if entry.get("type") == "custom" else 1)
        assert "metric" in entry


def test_what_a_contract_demands_is_judged(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        """\
apiVersion: v3.1.0
kind: DataContract
id: x
version: 1.0.0
status: active
schema:
  - name: orders
    properties:
      - {name: id, primaryKey: true, logicalType: integer}
      - name: unit
        physicalType: string
        quality:
          - {metric: nullValues, mustBeLessThan: 25, unit: percent, name: few}
          - {metric: nullValues, mustBeLessThan: 26, unit: percent, name: some}
          - {metric: nullValues, mustBe: 1, name: one}
          - {metric: nullValues, mustNotBe: 1, name: not_one}
          - {metric: missingValues, arguments: {missingValues: [null, "it's"]}, mustBe: 2, name: gone}
          - {metric: invalidValues, arguments: {validValues: [kg, t]}, mustBeLessThan: 2, name: units}
          - {metric: invalidValues, arguments: {pattern: '^(?:kg|t)$'}, mustBe: 0, name: pattern}
      - {name: tags, physicalType: 'array<int>', logicalType: array, logicalTypeOptions: {minItems: 1, uniqueItems: true}}
      - {name: amount, logicalType: number, logicalTypeOptions: {multipleOf: 5, minimum: 0}}
      - {name: who, logicalType: object, properties: [{name: mail, logicalType: string, required: true}]}
    quality:
      - {metric: rowCount, mustBeBetween: [3, 5], name: rows}
      - {type: sql, query: "select count(*) from orders where {property} < 0", name: no, mustBe: 0}
      - {type: sql, query: select count(*) from orders where amount < 0, name: yes, mustBe: 0}
""",
        encoding="utf-8",
    )
    found = dq.load_contract(tmp_path / "c.yaml")
    assert [one.notes[-1] for one in found.report.refused] == [
        "'{property}' means nothing here: the entry is of an object."
    ]
    rows = [
        (1, "kg", [1], 5, ("x",)), (2, "t", [1, 1], 10, None),
        (3, None, None, None, (None,)), (4, "it's", [], 3, ("y",)),
    ]  # fmt: skip
    schema = "id int, unit string, tags array<int>, amount bigint, who struct<mail: string>"
    [rules] = found.rule_sets
    said = {
        one.rule.name: one.status.value
        for one in dq.evaluate(spark.createDataFrame(rows, schema), rules)
    }
    assert said == {
        "schema_contains": "Ok", "integer_columns": "Ok", "number_columns": "Ok",
        "unique_key_id": "Ok", "column_not_empty_id": "Ok",
        "tags_items": "Error", "tags_unique_items": "Error", "amount_multiple_of": "Error",
        "column_values_in_range_amount": "Ok", "who_mail_required": "Error",
        "few": "Error", "some": "Ok", "one": "Ok", "not_one": "Error", "gone": "Ok",
        "units": "Ok", "pattern": "Error", "rows": "Ok", "yes": "Ok",
    }  # fmt: skip
    other = spark.createDataFrame([("1", "5")], "id string, amount string")
    assert {
        one.rule.name: one.status.value
        for one in dq.evaluate(other, rules)
        if one.rule.name in {"integer_columns", "number_columns"}
    } == {"integer_columns": "Error", "number_columns": "Error"}
