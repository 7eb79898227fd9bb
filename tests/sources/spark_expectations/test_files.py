"""The files of Spark-Expectations: their shapes, their defaults, and the line of every mistake."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import dq_dagster as dq

RULES = """
rules:
  - rule: id_there
    rule_type: row_dq
    column_name: id
    expectation: "id is not null"
    action_if_failed: drop
    tag: completeness
    description: Each order has an id.
    priority: high
  - rule: paid
    expectation: "amount > 0"
    tag: money
  - rule: enough
    rule_type: agg_dq
    expectation: "count(*) > 0"
    action_if_failed: fail
    is_active: "no"
    query_dq_delimiter: null
"""
ENVIRONMENTS = """
product_id: shop
defaults: {rule_type: row_dq, priority: low, action_if_failed: ignore}
dq_env:
  DEV: {table_name: dev.orders, is_active: true}
  PROD:
    table_name: prod.orders
    action_if_failed: fail
    enable_for_source_dq_validation: false
"""


def write(folder: Path, text: str, name: str = "rules.yaml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def load(folder: Path, text: str, name: str = "rules.yaml", **options: Any) -> dq.Migration:
    return dq.load_spark_expectations(write(folder, text, name), **options)


def said(folder: Path, text: str, name: str = "rules.yaml", **options: Any) -> list[str]:
    with pytest.raises(dq.DeclarationError) as caught:
        load(folder, text, name, **options)
    return [str(problem) for problem in caught.value.problems]


def test_environments_cascade_and_rules_say_the_last_word(tmp_path: Path) -> None:
    loaded = load(tmp_path, ENVIRONMENTS + RULES, env="prod")
    [rules] = loaded.rule_sets
    assert rules == dq.RuleSet(
        asset="prod/orders",
        rules=[
            dq.RowExpectation(
                name="id_there", expectation="id is not null", action_if_failed="drop",
                blocking=False, quality_dimension="completeness",
                description="Each order has an id.", tags=["completeness", "priority:high"],
            ),
            dq.RowExpectation(
                name="paid", expectation="amount > 0", action_if_failed="fail",
                tags=["money", "priority:low"],
            ),
            dq.AggregateExpectation(
                name="enough", expectation="count(*) > 0", action_if_failed="fail",
                on="validated", on_empty="error", enabled=False, tags=["priority:low"],
            ),
        ],
    )  # fmt: skip
    assert rules.origin.of(rules.rules[1]) == "rules.yaml:20"
    assert [entry.place for entry in loaded.report] == [f"rules.yaml:{n}" for n in (12, 20, 23)]
    [dev] = load(tmp_path, ENVIRONMENTS + RULES, env="DEV").rule_sets
    assert (dev.asset_name, dev.rules[1].action_if_failed) == ("dev/orders", "ignore")
    assert (dev.rules[1].blocking, dev.rules[2].on) == (False, "both")


@pytest.mark.parametrize(
    ("above", "rule", "table"),
    [
        ("table_name: shop.orders", "", "shop/orders"),
        ("table_name: ''", "", "shop/usual"),
        ("", "", "shop/usual"),
        ("table_name: shop.orders", "table_name: shop.own", "shop/own"),
    ],
)
def test_the_table_of_the_file_comes_before_that_of_its_defaults(
    tmp_path: Path, above: str, rule: str, table: str
) -> None:
    text = f"""
product_id: shop
{above}
defaults: {{rule_type: row_dq, table_name: shop.usual}}
rules:
  - rule: paid
    expectation: amount > 0
    {rule}
"""
    [rules] = load(tmp_path, text).rule_sets
    assert rules.asset_name == table


def test_null_stands_for_the_default_of_the_library_and_not_of_the_file(tmp_path: Path) -> None:
    text = (
        "product_id: p\ntable_name: t\ndefaults: {action_if_failed: fail, priority: high, tag: x}\n"
        "dq_env:\n  DEV: {priority: null, is_active: false}\nrules:\n"
        "- {rule: a, rule_type: row_dq, expectation: x > 0}\n"
        "- {rule: b, rule_type: row_dq, expectation: x > 0, action_if_failed: , is_active: null}"
    )
    [rules] = load(tmp_path, text, env="dev").rule_sets
    found = [(one.action_if_failed, one.enabled, one.tags) for one in rules.rules]
    assert found == [("fail", False, ("x",)), ("ignore", True, ("x",))]


PLAIN = "product_id: shop\ntable_name: dev.orders\ndefaults: {rule_type: row_dq}\n" + RULES
RULE = '{rule: a, rule_type: row_dq, expectation: "a > 0"}'
FULL = "{product_id: p, table_name: t, rule: %s, rule_type: row_dq, expectation: a > 0}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PLAIN, [("dev/orders", 3)]),
        (f"product_id: p\ntable_name: t\nrules: [{RULE}, {RULE[:-1]}, table_name: u}}]",
         [("t", 1), ("u", 1)]),
        ((f"defaults: {{priority: low}}\nvalidations:\n- {{product_id: p, table_name: t, rules: "
         f"[{RULE}]}}\n- {{product_id: q, table_name: u, rules: [{RULE}]}}"), [("t", 1), ("u", 1)]),
        (("product_id: p\ntables:\n  a.t:\n    row_dq:\n    - {rule: r, expectation: x > 0}\n"
         "    agg_dq:\n    - {rule: s, expectation: count(*) > 0}\n"), [("a/t", 2)]),
        (f"- {FULL % 'a'}\n- {FULL % 'b'}", [("t", 2)]),
        (f"rule_1: {FULL % 'a'}\nrule_2: {FULL % 'b'}", [("t", 2)]),
        (f"---\n- {FULL % 'a'}\n---\n- {FULL % 'b'}\n", [("t", 2)]),
    ],
)  # fmt: skip
def test_every_shape_of_file(tmp_path: Path, text: str, found: list[tuple[str, int]]) -> None:
    loaded = load(tmp_path, text)
    assert [(one.asset_name, len(one.rules)) for one in loaded.rule_sets] == found
    assert loaded.report.refused == ()


def test_json_says_the_same(tmp_path: Path) -> None:
    rules = [{"rule": "a", "rule_type": "row_dq", "expectation": "a rlike '\\\\d{2}'"}]
    text = json.dumps({"product_id": "p", "table_name": "t", "rules": rules}, indent="\t")
    [loaded] = load(tmp_path, text, "rules.json").rule_sets
    assert loaded.rules[0].expectation == "a rlike '\\\\d{2}'"


def test_rules_are_chosen_by_product_and_table(tmp_path: Path) -> None:
    text = "\n".join(
        f"- {{product_id: {product}, table_name: '`{table}`.orders', rule: r, "
        "rule_type: row_dq, expectation: a > 0}"
        for product in ("p", "q")
        for table in ("dev", "{env}")
    )
    loaded = load(tmp_path, text, product_id="p", table="prod.orders", params={"env": "prod"})
    assert [one.asset_name for one in loaded.rule_sets] == ["prod/orders"]
    assert [(entry.taken, *entry.notes) for entry in loaded.report] == [
        ("not chosen", "It is of table 'dev.orders'."),
        ("taken as it is",),
        ("not chosen", "It is of product 'q'."),
        ("not chosen", "It is of product 'q'."),
    ]


def test_assets_are_named_as_the_caller_wants(tmp_path: Path) -> None:
    [one] = load(tmp_path, PLAIN, assets="shop/orders").rule_sets
    [other] = load(tmp_path, PLAIN, assets={"dev.orders": "orders", "x": "y"}).rule_sets
    assert (one.asset_name, other.asset_name) == ("shop/orders", "orders")


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "rules.yaml:1: there are no rules in it."),
        ("a: 1", "rules.yaml:1: rules are needed: 'product_id: ...'"),
        (
            "- 7",
            "rules.yaml:1: a rule is fields such as 'rule: ...' and 'expectation: ...', not 7.",
        ),
        ("product_id: p\nrules: 7", "rules.yaml:2: field 'rules' must be a list of rules."),
        ("product_id: p\nrules:\n- 7\n- {rule: a}", "rules.yaml:2: a rule is fields such as"),
        ("product_id: p\ndq_env: {}\nrules: [{}]", "rules.yaml:2: field 'dq_env' must be a set"),
        ("product_id: p\ndefaults: 7\nrules: [{}]", "rules.yaml:2: field 'defaults' must be a set"),
        (ENVIRONMENTS + RULES, "rules.yaml:4: the file has environments (DEV, PROD): choose"),
        ("validations: {}", "rules.yaml:1: field 'validations' must be a list"),
        ("validations: [7]", "rules.yaml:1: a table with its rules is needed"),
        ("tables: {t: 7}", "rules.yaml:1: table 't' needs its rules by type"),
        ("tables:\n  t:\n    row_dq: 7", "rules.yaml:3: field 'row_dq' must be a list of rules."),
        ("rules: !!python/object/apply:os.system [ls]", "rules.yaml:1: the tag"),
        (BOMB, "more than 100,000 values, with aliases."),
        ("[" * 20_000, "nested more than 50 levels deep."),
        ("x" * 50_000_000, "the file has 50,000,000 bytes; at most 1,048,576 are read."),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, text: str, why: str) -> None:
    file = write(tmp_path, text)
    start = time.monotonic()
    with pytest.raises(dq.DeclarationError) as caught:
        dq.load_spark_expectations(file)
    assert time.monotonic() - start < 1
    assert why in str(caught.value.problems[0])


def test_environments_that_there_are_not(tmp_path: Path) -> None:
    assert said(tmp_path, ENVIRONMENTS + RULES, env="PRD") == [
        "rules.yaml:4: there is no environment 'PRD'. Did you mean 'PROD'?"
    ]
    assert said(tmp_path, "a", "rules.csv")[0].endswith("read other formats into a DataFrame.")
    with pytest.raises(dq.DeclarationError, match=r"'no\.yaml' is not a file"):
        dq.load_spark_expectations("no.yaml")
    source: Any = 7
    with pytest.raises(dq.DeclarationError, match="not from a int"):
        dq.load_spark_expectations(source)


def test_every_problem_of_a_file_comes_at_once(tmp_path: Path) -> None:
    text = "product_id: p\ndefaults: 7\ndq_env:\n  DEV: 7\nrules:\n- 7\n- 8\n"
    assert [one.partition(": ")[0] for one in said(tmp_path, text, env="dev")] == [
        "rules.yaml:2", "rules.yaml:4", "rules.yaml:5", "rules.yaml:5",
    ]  # fmt: skip
