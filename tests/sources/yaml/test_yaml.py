"""Rules from YAML: the same objects as in Python, and safe against whatever a file holds."""

from __future__ import annotations

import json
import time
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

import dq_dagster as dq


def write(folder: Path, text: str, name: str = "rules.yaml") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def said(path: Path) -> list[str]:
    with pytest.raises(dq.DeclarationError) as caught:
        dq.load_rules(path)
    return [str(problem) for problem in caught.value.problems]


def test_a_file_gives_the_objects_that_python_gives(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        """
        asset: shop/orders
        on_empty: warn
        rules:
          - type: record_count_in_range
            min: 1
          - type: column_values_in_set
            name: countries
            columns: [country]
            values: [NO, SE, 010, true, 1, 1.5, 2024-01-31, null_island]
            threshold: {type: proportion, max: 0.01}
          - type: column_max_in_range
            columns: ts
            max: 2024-01-31T10:00:00+00:00
        """,
    )
    [loaded] = dq.load_rules(file)
    assert loaded == dq.RuleSet(
        asset="shop/orders",
        on_empty="warn",
        rules=[
            dq.RecordCountInRange(min=1),
            dq.ColumnValuesInSet(
                name="countries",
                columns=["country"],
                values=["NO", "SE", "010", True, 1, 1.5, date(2024, 1, 31), "null_island"],
                threshold=dq.AtMost(type="proportion", max=0.01),
            ),
            dq.ColumnMaxInRange(columns="ts", max=datetime(2024, 1, 31, 10, tzinfo=UTC)),
        ],
    )


def test_many_assets_in_a_file_and_files_in_a_folder(tmp_path: Path) -> None:
    rule = "rules: [{type: record_count_in_range, min: 1}]"
    write(tmp_path, f"assets:\n- asset: a\n  {rule}\n- asset: b\n  {rule}\n", "one.yaml")
    write(tmp_path, f"asset: c\n{rule}\n---\nasset: d\n{rule}\n", "deep/two.yml")
    write(tmp_path, "not: read", "notes.txt")
    assert [r.asset_name for r in dq.load_rules(tmp_path)] == ["c", "d", "a", "b"]


def test_problems_come_with_file_and_line_all_at_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        "asset: orders\n"
        "rulez: 1\n"
        "rules:\n"
        "  - type: column_not_empty\n"
        "    columns: id\n"
        "    treshold: all\n"
        "  - type: record_count_in_range\n"
        "    min: 2\n"
        "    max: 1\n"
        "  - type: record_count_in_range\n"
        "    min: 1\n"
        "  - type: record_count_in_range\n"
        "    min: 2\n",
        "a.yaml",
    )
    write(tmp_path, "asset: orders\nrules:\n  - [1]\n  - type: row_dq\n    expectation: 'a b'\n",
          "b.yaml")  # fmt: skip
    found = said(tmp_path)
    assert [text.split(",")[0].split(": ")[0] for text in found] == [
        "a.yaml:2", "a.yaml:6", "a.yaml:7", "a.yaml:12", "b.yaml:1", "b.yaml:5",
    ]  # fmt: skip
    assert "unknown field 'rulez'. Did you mean 'rules'?" in found[0]


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("asset: o\nrules: !!python/object/apply:os.system [ls]", "rules.yaml:2: the tag 'tag:"),
        ("asset: o\nrules:\n- !!python/name:os.system", "rules.yaml:3: the tag 'tag:"),
        ("asset: !secret o", "rules.yaml:1: the tag '!secret' is not allowed."),
        (BOMB, "more than 100,000 values, with aliases."),
        ("a: &a [*a]", "rules.yaml:1: an alias refers to itself."),
        ("asset: o\nasset: p", "rules.yaml:2: 'asset' stands here twice."),
        ("asset: o\nrules: [", "not valid YAML"),
        (
            "asset: o\nrules:\n\t- a",
            "rules.yaml:3: not valid YAML: found character that cannot start",
        ),
        ("asset: o\nrules:\n\t- a", "Indent with spaces, not tabs"),
        ("asset: o: p", "Put a text that has ': ' in it into quotes."),
        ("asset: o\nrules: [a\nb: c]", "A '[' before it is never closed."),
        ("asset: [o]\nrules: []", "rules.yaml:1: field 'asset' must be the asset's key as text"),
        ("assets: []\non_empty: warn", "rules.yaml:2: field 'on_empty': beside 'assets' nothing"),
        (
            "asset: o\nrules: [record_count_in_range]",
            "a rule is fields such as 'type: row_dq', not",
        ),
        ("asset: o\nrules: [row_dq: {expectation: a}]", "is missing. Write 'type: row_dq' beside"),
        ("asset: [1, 2\nrules: }", "rules.yaml:2: not valid YAML"),
        ("- 1", "rules.yaml:1: an asset with its rules is needed"),
        ("asset: o", "rules.yaml:1, asset 'o': field 'rules' must be a list of rules."),
        ("rules: []", "rules.yaml:1: field 'asset' is missing"),
        ("asset: o\nrules: [{type: record_count_in_range, min: 2024-13-45}]", "is not valid"),
        ("[" * 20_000, "rules.yaml:"),
        ("a: " * 5_000, "rules.yaml:1: "),
        ("asset: o\n? [a]\n: 1", "rules.yaml:2: a key must be a plain word."),
    ],
)
def test_hostile_and_broken_files_are_refused_at_once(
    tmp_path: Path, text: str, expected: str
) -> None:
    file = write(tmp_path, text)
    started = time.perf_counter()
    assert expected in said(file)[0]
    assert time.perf_counter() - started < 1


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    file = write(tmp_path, "# " + "x" * 50_000_000)
    started = time.perf_counter()
    assert said(file) == [
        "rules.yaml:1: the file has 50,000,002 bytes; at most 1,048,576 are read. Split it."
    ]
    assert time.perf_counter() - started < 1


def test_a_path_without_rules_is_reported(tmp_path: Path) -> None:
    assert "does not exist" in said(tmp_path / "nothing.yaml")[0]
    assert "has no .yaml or .yml file in it" in said(tmp_path)[0]
    binary = tmp_path / "x.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    assert said(binary) == ["x.yaml:1: not UTF-8 text."]


def test_every_field_of_a_rule_set_can_be_written_in_a_file(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        """
        asset: orders
        incremental: true
        partition_expr: {day: to_date(ordered_at), region: region}
        on_empty: error
        empty_includes_blank: true
        declared_schema: [{name: status, type: string}]
        meanings: {state: {values: [new, paid]}}
        column_meanings: {status: state}
        metrics: {mean: "column_avg:amount"}
        templates: {rows: {sql: "select count(*) from {table}", fails_when: "> 3"}}
        reader: {table: warehouse.orders}
        timeout: 10 min
        samples: [status]
        sensitive: [email]
        rules:
          - {type: record_count_in_range, min: 1}
        """,
    )
    [loaded] = dq.load_rules(file)
    # Whatever is added to the model has to be tried here.
    assert loaded.model_fields_set == set(dq.RuleSet.model_fields)
    assert loaded.incremental is True
    assert loaded.partition_expr == {"day": "to_date(ordered_at)", "region": "region"}


def test_every_field_of_a_rule_set_is_in_the_schema() -> None:
    fields = dq.json_schema()["$defs"]["rule_set"]["properties"]
    assert set(fields) == set(dq.RuleSet.model_fields)
    assert fields["incremental"]["type"] == "boolean"
    assert {"type": "string"} in fields["partition_expr"]["anyOf"]
    assert all(field["description"] for field in fields.values())


def test_json_is_read_as_it_is(tmp_path: Path) -> None:
    values = ["a\tb", "\U0001f600\u00e9", 'say "\\ud83d"', "\\", "x" * 2000, "/"]
    rule = {"type": "column_values_in_set", "columns": ["a"], "values": values}
    text = json.dumps({"asset": "o", "rules": [rule]}, indent="\t").replace("/", "\\/")
    [loaded] = dq.load_rules(write(tmp_path, text, "rules.json"))
    assert loaded == dq.RuleSet(asset="o", rules=[rule])
    text = text.replace('"columns"', '"colums"')
    assert said(write(tmp_path, text, "rules.json"))[1].startswith("rules.json:6, rule 'colu")
