"""Contracts of the standard become rule sets; the report accounts for every element."""

# ruff: noqa: E501 (contracts on one line each)
from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.sources.migration import MigrationEntry
from dq_dagster.sources.yaml.writing import rule_as_written

HEAD = "apiVersion: v3.1.0\nkind: DataContract\nid: x\nversion: 1.0.0\nstatus: active\n"


def load(folder: Path, body: str, **arguments: Any) -> Any:
    file = folder / "shop.odcs.yaml"
    file.write_text(HEAD + body, encoding="utf-8")
    return dq.load_contract(file, **arguments)


def rules_of(found: Any) -> dict[str, dict[str, Any]]:
    """The fields of every rule by its name."""
    return {
        rule.name: rule_as_written(rule, one) | {"name": rule.name}
        for one in found.rule_sets
        for rule in one.rules
    }


def table(*lines: str, quality: tuple[str, ...] = ()) -> str:
    """A contract of one table with these columns, each a flow mapping."""
    columns = "".join(f"      - {line}\n" for line in lines)
    entries = "".join(f"      - {line}\n" for line in quality)
    return (
        "schema:\n  - name: orders\n"
        + (f"    properties:\n{columns}" if lines else "")
        + (f"    quality:\n{entries}" if quality else "")
    )


def only(found: Any) -> tuple[dict[str, Any], MigrationEntry]:
    """The one rule that there is, and the entry of the element that it comes from."""
    [fields] = rules_of(found).values()
    entry = next(one for one in found.report if one.name == fields["name"])
    return fields, entry


# The quality entry of the column "a", and the fields of its rule beside type, name and columns.
LIBRARY = {
    "metric: nullValues, mustBe: 0": ("column_not_empty", {}),
    "metric: nullValues, mustBeLessThan: 10": (
        "column_not_empty",
        {"threshold": {"type": "count", "max": 9}},
    ),
    "metric: nullValues, mustBeLessOrEqualTo: 1, unit: percent": (
        "column_not_empty",
        {"threshold": {"type": "proportion", "max": 0.01}},
    ),
    "metric: nullValues, mustBeLessThan: 1, unit: percent": (
        "metric_in_range",
        {
            "metric": {"sql": "try_divide(100 * count_if(`a` IS NULL), count(*))"},
            "max": 1,
            "exclusive": "max",
        },
    ),
    "metric: nullValues, mustBe: 5": (
        "metric_in_range",
        {"metric": {"sql": "count_if(`a` IS NULL)"}, "min": 5, "max": 5},
    ),
    "metric: nullValues, mustNotBe: 5": ("agg_dq", {"expectation": "count_if(`a` IS NULL) <> 5"}),
    "metric: nullValues, mustNotBeBetween: [2, 5]": (
        "agg_dq",
        {"expectation": "(count_if(`a` IS NULL) < 2 OR count_if(`a` IS NULL) > 5)"},
    ),
    "metric: nullValues, mustBe: 0, severity: warning": (
        "column_not_empty",
        {"threshold": {"type": "count", "soft_max": 0}},
    ),
    "metric: missingValues, arguments: {missingValues: [null]}, mustBe: 0": (
        "column_not_empty",
        {},
    ),
    "metric: missingValues, arguments: {missingValues: [null, '', n/a]}, mustBeLessThan: 3": (
        "row_dq",
        {
            "expectation": "`a` IS NOT NULL AND `a` NOT IN ('', 'n/a')",
            "threshold": {"type": "count", "max": 2},
            "quality_dimension": "completeness",
        },
    ),
    "metric: missingValues, arguments: {missingValues: [x]}, mustBe: 0": (
        "row_dq",
        {
            "expectation": "`a` IS NULL OR `a` NOT IN ('x')",
            "quality_dimension": "completeness",
        },
    ),
    "metric: invalidValues, arguments: {validValues: [kg, 1]}, mustBe: 0": (
        "column_values_in_set",
        {"values": ["kg", 1]},
    ),
    "metric: invalidValues, arguments: {pattern: '^[A-Z]{2}$'}, mustBeLessOrEqualTo: 2": (
        "column_values_match",
        {"pattern": "[A-Z]{2}", "threshold": {"type": "count", "max": 2}},
    ),
    "metric: invalidValues, arguments: {pattern: 'a|^b$'}, mustBe: 0": (
        "column_values_match",
        {"pattern": "a|^b$", "match": "search"},
    ),
    # As the standard's own example has it.
    "metric: invalidValues, mustBe: 0, arguments: , pattern: '^a$'": (
        "column_values_match",
        {"pattern": "a"},
    ),
    "metric: duplicateValues, mustBe: 0, dimension: uq": ("column_unique", {}),
    "rule: duplicateCount, mustBeLessThan: 10, unit: rows": (
        "column_unique",
        {"threshold": {"type": "count", "max": 9}},
    ),
    "rule: validValues, validValues: [pounds]": ("column_values_in_set", {"values": ["pounds"]}),
    "type: sql, query: 'SELECT count(*) FROM {object} WHERE {property} < 0;', mustBe: 0": (
        "query_dq",
        {"expectation": "(SELECT count(*) FROM {table} WHERE `a` < 0) = 0"},
    ),
    "type: sql, query: 'SELECT max(${column}) FROM ${table}', mustBeBetween: [1, 9.5]": (
        "query_dq",
        {
            "expectation": "(SELECT max(`a`) FROM {table}) > 1 AND (SELECT max(`a`) FROM {table}) "
            "< 9.5"
        },
    ),
    "type: sql, query: 'SELECT count(*) > 0 FROM orders', mustBe: true": (
        "query_dq",
        {"expectation": "(SELECT count(*) > 0 FROM {table}) = TRUE"},
    ),
    "type: custom, engine: dq_dagster, implementation: {type: column_avg_in_range, columns: [a], "
    "min: 1}": ("column_avg_in_range", {"min": 1}),
    "type: custom, engine: dq_dagster, implementation: 'type: record_count_typical'": (
        "record_count_typical",
        {},
    ),
}


@pytest.mark.parametrize(("entry", "expected"), LIBRARY.items())
def test_quality_of_a_column(
    entry: str, expected: tuple[str, dict[str, Any]], tmp_path: Path
) -> None:
    found = load(tmp_path, table(f"{{name: a, quality: [{{{entry}}}]}}"))
    fields, _ = only(found)
    del fields["name"]
    assert fields.pop("columns", ["a"]) == ["a"]
    assert (fields.pop("type"), fields) == expected
    assert not found.report.refused


ROWS = {
    "mustBe: 5": {"min": 5, "max": 5},
    "mustBeGreaterThan: 100": {"min": 101},
    "mustBeGreaterOrEqualTo: 100": {"min": 100},
    "mustBeBetween: [100, 120]": {"min": 101, "max": 119},
    "mustBeGreaterThan: 1, mustBeLessOrEqualTo: 4": {"min": 2, "max": 4},
    "mustBeLessThan: 2.5": {"max": 2},
    "mustBeGreaterOrEqualTo: 5, severity: info": {"soft_min": 5},
}


@pytest.mark.parametrize(("entry", "bounds"), ROWS.items())
def test_numbers_of_rows(entry: str, bounds: dict[str, Any], tmp_path: Path) -> None:
    fields, _ = only(load(tmp_path, table(quality=(f"{{metric: rowCount, {entry}}}",))))
    assert fields == {
        "type": "record_count_in_range", "name": "record_count_in_range", **bounds,
    }  # fmt: skip


COLUMNS = {
    "required: true": {"column_not_empty": {}},
    "unique: true": {"column_unique": {}},
    "primaryKey: true": {"unique_key": {}, "column_not_empty": {}},
    "enum: [{value: x}, {value: y, label: Y}]": {"column_values_in_set": {"values": ["x", "y"]}},
    "physicalType: 'decimal(10,2)'": {
        "schema_contains": {"expected": [{"type": "decimal(10,2)", "name": "a"}]}
    },
    "logicalType: string, logicalTypeOptions: {minLength: 2, maxLength: 5}": {
        "schema_contains": {"expected": [{"type": "string", "name": "a"}]},
        "column_value_lengths_in_range": {"min": 2, "max": 5},
    },
    "logicalType: integer, logicalTypeOptions: {format: i64, minimum: 1, exclusiveMaximum: 9}": {
        "schema_contains": {"expected": [{"type": "bigint", "name": "a"}]},
        "column_values_in_range": {"min": 1, "max": 9, "exclusive": "max"},
    },
    "logicalType: integer, logicalTypeOptions: {multipleOf: 5}": {
        "agg_dq": {
            "expectation": "count_if(typeof(`a`) NOT IN ('tinyint', 'smallint', 'int', 'bigint')) "
            "= 0",
            "quality_dimension": "consistency",
        },
        "row_dq": {"expectation": "`a` % 5 = 0", "null_is": "pass"},
    },
    "physicalType: string, logicalType: string, logicalTypeOptions: {format: email}": {
        "schema_contains": {"expected": [{"type": "string", "name": "a"}]},
        "column_valid_meaning": {"meaning": "email", "empty_is_valid": True},
    },
    "physicalType: 'array<int>', logicalType: array, logicalTypeOptions: {minItems: 1, "
    "uniqueItems: true}": {
        "schema_contains": {"expected": [{"type": "array<int>", "name": "a"}]},
        "row_dq": {"expectation": "`a` IS NULL OR (size(`a`) >= 1)"},
        "row_dq 2": {
            "expectation": "size(array_distinct(`a`)) = size(`a`)",
            "null_is": "pass",
        },
    },
    "logicalType: object, properties: [{name: b, physicalType: int, required: true}]": {
        "schema_contains": {
            "expected": [{"type": "struct", "fields": [{"type": "int", "name": "b"}], "name": "a"}]
        },
        "row_dq": {
            "expectation": "`a` IS NULL OR `a`.`b` IS NOT NULL",
            "quality_dimension": "completeness",
        },
    },
}


@pytest.mark.parametrize(("column", "expected"), COLUMNS.items())
def test_what_is_said_of_a_column(
    column: str, expected: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    found = load(tmp_path, table(f"{{name: a, {column}}}"))
    assert not found.report.refused
    rules = list(rules_of(found).values())
    for fields in rules:
        del fields["name"]
        assert fields.pop("columns", ["a"]) == ["a"]
    kinds = [(kind.partition(" ")[0], fields) for kind, fields in expected.items()]
    assert [(fields.pop("type"), fields) for fields in rules] == kinds


def test_keys_and_references_between_objects(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        """\
schema:
  - name: orders
    physicalName: dwh.orders_v2
    relationships:
      - {type: foreignKey, from: [orders.customer, orders.country], to: [people.id, people.land]}
    properties:
      - {name: number, physicalName: order_no, primaryKey: true, primaryKeyPosition: 2, required: true}
      - {name: line, primaryKey: true, primaryKeyPosition: 1}
      - {name: customer, relationships: [{to: people.id}]}
      - {name: country}
    quality:
      - metric: duplicateValues
        mustBe: 0
        name: lines
        arguments: {properties: [number, line]}
      - type: sql
        name: known
        query: select count(*) from dwh.orders_v2 o where o.customer not in (select id from people)
        mustBe: 0
  - name: people
    properties: [{name: id}, {name: land}]
""",
        assets={"people": "crm/people"},
    )
    assert [one.asset_name for one in found.rule_sets] == ["orders"]
    rules = rules_of(found)
    reference = {"reference": {"asset": "crm/people"}}
    assert rules["unique_key_line_order_no"]["columns"] == ["line", "order_no"]
    assert {"column_not_empty_line", "column_not_empty_order_no"} <= set(rules)
    assert rules["column_values_in_reference_customer"] == {
        "type": "column_values_in_reference", "name": "column_values_in_reference_customer",
        "columns": ["customer"], "reference_columns": ["id"], **reference,
    }  # fmt: skip
    together = rules["column_values_in_reference_customer_country"]
    assert together["reference_columns"] == ["id", "land"]
    assert rules["lines"]["columns"] == ["order_no", "line"]
    assert rules["known"]["expectation"] == (
        "(select count(*) from {table} o where o.customer not in (select id from {object_1})) = 0"
    )
    assert rules["known"]["references"] == {"object_1": {"asset": "crm/people"}}


def test_service_levels(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        table("{name: at}", "{name: id}")
        + """\
slaDefaultElement: at
slaProperties:
  - {property: latency, value: 4, unit: h, element: orders.at, description: fresh}
  - {property: fy, value: 1, unit: y}
  - {property: retention, value: 3, unit: y}
  - {property: endOfLife, value: "2042-05-12"}
  - {property: timeToRepair, value: 3, unit: d}
  - {property: latency, value: 4, unit: M, element: at}
  - {property: latency, value: 4, unit: d, element: orders.when}
  - latency
""",
    )
    rules = rules_of(found)
    assert rules["freshness_at"] == {
        "type": "freshness", "name": "freshness_at", "description": "fresh", "columns": ["at"],
        "max": 14_400,
    }  # fmt: skip
    inserted = rules["row_inserted_count_in_range_at"]
    assert (inserted["window"], inserted["min"]) == (31_536_000, 1)
    said = {(one.rule, one.taken.value): " ".join(one.notes) for one in found.report}
    assert said["sla.latency", "means something else here"] == (
        "It is the age of the newest 'at' when the check runs."
    )
    assert "A year is taken as 365 days." in said["sla.fy", "means something else here"]
    assert said["sla.endOfLife", "documentation"] == "It is a date of the service."
    refused = [one.notes[-1] for one in found.report.refused]
    assert refused == [
        "It says when rows are deleted, which their table does not show.",
        "It is about the service, and not about what the data holds.",
        "'M' is no unit of a fixed length: write d, h, min or s.",
        "'orders.when' is no property of an object of this contract.",
        "It is about the service, and not about what the data holds.",
    ]


REFUSED = {
    "metric: nullValue, mustBe: 0": "The library has no metric 'nullValue'. Did you mean "
    "'nullValues'?",
    "metric: nullValues": "It says what is counted, but not what the number must be: 'mustBe'.",
    "metric: nullValues, mustBeLesThan: 3": "The standard has no field 'mustBeLesThan' here. Did "
    "you mean 'mustBeLessThan'?",
    "metric: nullValues, mustBe: none": "A number is needed, not 'none'.",
    "metric: nullValues, mustBe: 0, unit: bytes": "A library metric counts rows or percent, not "
    "'bytes'.",
    "metric: nullValues, mustBeLessThan: 0": "A number of rows cannot be negative.",
    "metric: nullValues, mustBeLessOrEqualTo: 101, unit: percent": "101 percent is more than all.",
    "metric: nullValues, mustBeBetween: [5, 1]": "'mustBeBetween' needs the smaller number first.",
    "metric: nullValues, mustBe: 0, mustNotBe: 4": "'mustBe' and 'mustNotBe' cannot stand together.",
    "metric: invalidValues, mustBe: 0": "It needs one of 'validValues' and 'pattern': write two "
    "entries.",
    "metric: invalidValues, mustBe: 0, arguments: {pattern: '('}": "a '(' of the pattern is never closed",
    "metric: duplicateValues, mustBeGreaterThan: 3": "Duplicates are limited from above only: "
    "'mustBe: 0', 'mustBeLessOrEqualTo' or, for rows, 'mustBeLessThan'.",
    "metric: rowCount, mustBe: 3, unit: percent": "A number of rows is no share of anything: leave "
    "'unit' out.",
    "type: text, description: verified": "It is a text for people: there is nothing that could be "
    "computed.",
    "type: custom, engine: soda, implementation: x": "It is written for 'soda', which would have to "
    "run it.",
    "type: custom, engine: dq_dagster, implementation: {type: nope}": "Unknown type 'nope'.",
    "type: custom, engine: dq_dagster, implementation: '!!python/object:os.system [x]'": "not the "
    "YAML of one rule",
    "type: sql, query: drop table x, mustBe: 0": "'drop table' is a statement that changes something",
    "type: sql, query: '', mustBe: 0": "'query' is missing.",
    "type: sgl, query: select 1, mustBe: 0": "There is no type 'sgl'. Did you mean 'sql'?",
}


@pytest.mark.parametrize(("entry", "reason"), REFUSED.items())
def test_what_is_refused_has_a_reason_and_a_place(entry: str, reason: str, tmp_path: Path) -> None:
    found = load(tmp_path, table(f"{{name: a, quality: [{{{entry}}}]}}"))
    [refused] = found.report.refused
    assert reason in refused.notes[-1]
    assert refused.place == "shop.odcs.yaml:9"
    assert found.rule_sets == []
    with pytest.raises(dq.DeclarationError, match=r"shop\.odcs\.yaml:9"):
        found.report.require_all()
    with pytest.raises(dq.DeclarationError, match=r"shop\.odcs\.yaml:9"):
        dq.load_contract(tmp_path / "shop.odcs.yaml", strict=True)


def test_columns_that_are_refused(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        table(
            "{name: a, requird: true, logicalType: integr}",
            "{name: b, physicalType: NUMBER, logicalType: number}",
            "{name: c, physicalType: NUMBER}",
            "{name: d, logicalTypeOptions: {minLength: 1}}",
            "{name: e, logicalType: string, logicalTypeOptions: {maximum: 1, format: hostname}}",
            "{name: f, required: often, relationships: [{to: others.id}]}",
            "{name: g, logicalType: array, items: {logicalType: integer, required: true}}",
            "{name: h, properties: [{name: i, unique: true, quality: [{metric: nullValues, mustBe: "
            "0}]}]}",
        ),
    )
    said = {one.rule: one.notes[-1] for one in found.report.refused}
    assert said == {
        "orders.a.requird": "The standard has no field 'requird' here. Did you mean 'required'?",
        "orders.a.logicalType": "There is no logicalType 'integr'. Did you mean 'integer'?",
        "orders.c.physicalType": "'NUMBER' is no type of Spark's.",
        "orders.d.logicalTypeOptions.minLength": "Options need a 'logicalType' to say what they "
        "mean.",
        "orders.e.logicalTypeOptions.maximum": "'string' has no option 'maximum'.",
        "orders.e.logicalTypeOptions.format": "There is no meaning for the format 'hostname': give "
        "a 'pattern'.",
        "orders.f.required": "'required' is true or false, not 'often'.",
        "orders.f.relationship": "'others.id' is not in this contract: declare a "
        "column_values_in_reference rule that names its asset, table or files.",
        "orders.g.items": "What is demanded of the items of a column has no rule: write a condition "
        "in SQL, such as forall(items, item -> item > 0).",
        "orders.h.i.unique": "It is about a field within a column, which rules on columns are not.",
        "orders.h.i.quality 1": "It is about a field within a column: write it as SQL, or for the "
        "column.",
    }  # fmt: skip
    [differs] = [one for one in found.report if one.rule == "orders.b.physicalType"]
    assert differs.notes == ("'NUMBER' is no type of Spark's: the logicalType is checked instead.",)


def test_documentation_is_listed_and_secrets_are_masked(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        "domain: sales\nteam: [{username: ada}]\ntags: []\nservers: [{server: s, type: postgres}]\n"
        + table(
            "{name: mail, description: hm, classification: PII, required: true}",
            "{name: id, classification: odd}",
            quality=(
                "{type: sql, query: 'select count(*) from {object}', mustBe: 1, schedule: x}",
            ),
        ),
    )
    said = {one.rule: " ".join(one.notes) for one in found.report if one.taken == "documentation"}
    assert said == {
        "contract": "domain, team, servers.",
        "orders.mail": "description.",
        "orders.mail.classification": "Its values are masked wherever values are shown "
        "(sensitive).",
        "orders.id.classification": "'odd' is not known here: add the column to 'sensitive' to mask "
        "its values.",
    }
    [rules] = found.rule_sets
    assert rules.sensitive == ("mail",)
    [otherwise] = found.report.of("means something else here")
    assert (
        otherwise.notes
        == (
            "It runs with the build of the asset, not by its schedule.",
            "The query was written for postgres; here it is Spark's SQL.",
        )[::-1]
    )
    assert str(found.report).startswith(
        "6 elements: 1 with another meaning here, 1 taken as they are, 4 documentation\n"
    )
    assert json.loads(found.report.to_json())["counts"]["documentation"] == 4


def test_one_name_is_one_rule_where_only_columns_differ(tmp_path: Path) -> None:
    entry = "quality: [{name: there, metric: nullValues, mustBe: 0}]"
    other = "quality: [{name: there, metric: nullValues, mustBeLessThan: 3}]"
    found = load(
        tmp_path,
        table(f"{{name: a, {entry}}}", f"{{name: b, {entry}}}", f"{{name: c, {other}}}",
              "{name: d, required: true, quality: [{metric: nullValues, mustBe: 0}]}"),
    )  # fmt: skip
    rules = rules_of(found)
    assert {name: fields["columns"] for name, fields in rules.items()} == {
        "column_not_empty_d": ["d"], "there": ["a", "b"], "there_nullValues": ["c"],
    }  # fmt: skip
    notes = {one.rule: one.notes for one in found.report}
    assert notes["orders.c.there"] == ("Another rule of the object has its name.",)
    assert notes["orders.d.quality 1"] == ("Another element says the same.",)


def test_objects_and_assets_are_chosen(tmp_path: Path) -> None:
    body = """\
schema:
  - {name: a, properties: [{name: x, required: true}]}
  - {name: b, properties: [{name: at, required: true}]}
  - {name: ../c, properties: [{name: x, required: true}]}
slaProperties: [{property: latency, value: 1, unit: d, element: b.at}]
"""
    found = load(tmp_path, body, objects=["a", "../c"], assets={"a": ["dwh", "a"]})
    assert [one.asset_name for one in found.rule_sets] == ["dwh/a"]
    assert [one.rule for one in found.report.of("not chosen")] == ["b", "sla.latency"]
    [refused] = found.report.refused
    assert refused.notes == ("'../c' is no name of an asset: name it by assets=.",)


def test_code_is_refused_where_files_are_not_trusted(tmp_path: Path) -> None:
    body = (
        table(
            "{name: a, required: true}",
            quality=(
                "{type: sql, query: 'select count(*) from {object}', mustBe: 1}",
                "{type: custom, engine: dq_dagster, implementation: {type: python, function: os:exit}}",
            ),
        )
        + "    customProperties: [{property: dq_dagster, value: {timeout: 60}}]\n"
    )
    found = load(tmp_path, body, trusted=False)
    assert [one.notes[-1].partition(",")[0] for one in found.report.refused] == [
        "It has a query", "It has a function of Python",
    ]  # fmt: skip
    assert list(rules_of(found)) == ["column_not_empty_a"]
    assert found.rule_sets[0].timeout == 60
    reader = "    customProperties: [{property: dq_dagster, value: {reader: {files: /etc}}}]\n"
    found = load(tmp_path, table("{name: a, required: true}") + reader, trusted=False)
    assert found.rule_sets == []
    assert "Field 'reader': it has data of its author's choice" in found.report.refused[0].notes[0]


SHAPES = {
    "apiVersion: v2.2.2\nkind: DataContract\n": "x.yaml:1: field 'apiVersion' must be a version 3 of "
    "the standard, not 'v2.2.2'.",
    "apiVersion: v3.0.2\nkind: Contract\n": "x.yaml:2: field 'kind' must be DataContract, not "
    "'Contract'.",
    HEAD + "schema: {a: 1}\n": "x.yaml:6: field 'schema' must be a list of tables.",
    HEAD + "schema:\n- {physicalName: a}\n": "x.yaml:7: an object needs a 'name'.",
    HEAD + "schema:\n- {name: a}\n- {name: a}\n": "x.yaml:8: there are two objects 'a'.",
    HEAD + "schema:\n- {name: a, properties: [{name: b}, {name: b}]}\n": "x.yaml:7: the property 'b' "
    "is there twice.",
    HEAD + "schema:\n- {name: a, properties: [b], quality: x}\n": "x.yaml:7: field 'quality' must be "
    "a list of checks.",
    "- a\n": "x.yaml:1: a contract is one set of fields",
    "a: !!python/object/apply:os.system [x]\n": "the tag 'tag:yaml.org,2002:python/object/apply:"
    "os.system' is not allowed.",
    "a: &a [x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\n"
    + "".join(f"c{n}: &c{n} [{', '.join([f'*c{n - 1}' if n else '*b'] * 9)}]\n" for n in range(9)):
    "more than 100,000 values, with aliases.",
    "[" * 60: "x.yaml:1: nested more than 50 levels deep.",
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), SHAPES.items(), ids=range(len(SHAPES)))
def test_files_that_are_no_contracts(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(text, encoding="utf-8")
    start = time.monotonic()
    with pytest.raises(dq.DeclarationError) as error:
        dq.load_contract(file)
    assert message in str(error.value)
    assert time.monotonic() - start < 1


def test_large_and_hostile_files_are_refused_at_once(tmp_path: Path) -> None:
    large = tmp_path / "large.yaml"
    large.write_text(HEAD + "x: " + "a" * 50_000_000)
    wide = tmp_path / "wide.yaml"
    wide.write_text(HEAD + "schema:\n" + "- {name: a}\n" * 6_000)
    start = time.monotonic()
    with pytest.raises(dq.DeclarationError, match=r"large.yaml:1: the file has 50,\d+,\d+ bytes"):
        dq.load_contract(large)
    assert time.monotonic() - start < 1
    with pytest.raises(dq.DeclarationError, match=r"wide.yaml:6: more than 5,000 objects"):
        dq.load_contract(wide)
    for path in ("missing.yaml", "no.txt"):
        with pytest.raises(dq.DeclarationError):
            dq.load_contract(tmp_path / path)


def test_names_are_never_sql(tmp_path: Path) -> None:
    name = "x`) or (1 = 1) or (`x"
    found = load(
        tmp_path,
        table(
            f'{{name: "{name}", logicalType: integer, quality: [{{metric: nullValues, mustBe: 3}}, '
            '{metric: missingValues, arguments: {missingValues: ["it\'s"]}, mustBe: 0}]}'
        ),
    )
    assert not found.report.refused
    texts = [str(fields) for fields in rules_of(found).values()]
    assert all("`x``) or (1 = 1) or (``x`" in text for text in texts)
    assert "CAST(X'69742773' AS STRING)" in texts[-1]


def test_hostile_names_forge_no_line_of_the_report(tmp_path: Path) -> None:
    name = r"a\u202eb\nTaken as they are\e[31m"
    body = f'schema:\n  - name: "{name}"\n    properties: [{{name: a, required: true}}]\n'
    report = load(tmp_path, body).report
    assert (
        str(report)
        .splitlines()[3]
        .startswith(
            r"  a\u202eb Taken as they are\x1b[31m (object)  [a\u202eb Taken as they are\x1b[31m; "
        )
    )
    for text in (str(report), report.to_markdown()):
        assert all(line.isprintable() for line in text.splitlines())
    assert len(str(report).splitlines()) == 5
