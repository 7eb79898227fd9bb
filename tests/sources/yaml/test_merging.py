"""What several places say of one asset, and every field of a rule set in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.integration.checks.readers import reader_of
from dq_dagster.ruleset import merged
from dq_dagster.sources.reading import plain
from dq_dagster.sources.yaml.text import read_documents

RULE = "{type: record_count_in_range, min: 1}"


def load(folder: Path, **files: str) -> list[dq.RuleSet]:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    return dq.load_rules(folder)


def said(folder: Path, **files: str) -> list[str]:
    with pytest.raises(dq.DeclarationError) as caught:
        load(folder, **files)
    return [str(problem) for problem in caught.value.problems]


def test_files_of_one_asset_are_one_and_keep_their_own_defaults(tmp_path: Path) -> None:
    [orders, other] = load(
        tmp_path,
        a="asset: o\non_empty: warn\nrules: [{type: column_not_empty, columns: a}]",
        b="asset: p\nrules: [{type: column_not_empty, columns: a}]",
        c="asset: o\nempty_includes_blank: true\nincremental: true\n"
        "rules: [{type: column_not_empty, columns: b}]",
    )
    assert (orders.asset_name, other.asset_name) == ("o", "p")
    assert orders.incremental
    assert [(r.columns, r.on_empty, r.empty_includes_blank) for r in orders.rules] == [
        (("a",), "warn", False),
        (("b",), "pass", True),
    ]


def test_assets_of_one_file_may_be_there_twice(tmp_path: Path) -> None:
    [one] = load(
        tmp_path,
        a=f"assets:\n- asset: o\n  rules: [{RULE}]\n- asset: o\n"
        "  rules: [{type: column_unique, columns: a}]\n",
    )
    assert len(one.rules) == 2


def test_rules_of_one_name_clash_with_both_places(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.yaml").write_text(f"asset: o\nrules:\n- {RULE}\n")
    assert said(tmp_path, a=f"asset: o\nrules:\n- {RULE}\n- {RULE[:-1]}, name: n}}\n") == [
        (
            "deep/a.yaml:3, rule 'record_count_in_range', asset 'o': 2 rules become the same check "
            "'record_count_in_range' (record_count_in_range at a.yaml:3, record_count_in_range at "
            "deep/a.yaml:3). Give each a 'name' of its own."
        )
    ]
    assert said(tmp_path / "deep", a=f"asset: o\nrules:\n- {RULE}\n- {RULE}\n") == [
        (
            "a.yaml:4, rule 'record_count_in_range', asset 'o': 2 rules become the same check "
            "'record_count_in_range' (record_count_in_range at a.yaml:3, record_count_in_range at "
            "a.yaml:4). Give each a 'name' of its own."
        )
    ]


def test_what_holds_for_the_asset_is_said_once_or_alike(tmp_path: Path) -> None:
    def other(name: str) -> str:
        return f"rules: [{RULE[:-1]}, name: {name}}}]\n"

    same = "asset: o\npartition_expr: day\nreader: {table: t}\ntimeout: "
    [one] = load(
        tmp_path,
        a=same + "60\n" + other("a"),
        b=same + "1 min\n" + other("b"),
        c="asset: o\n" + other("c"),
    )
    assert (one.partition_expr, one.timeout, len(one.rules)) == ("day", 60, 3)
    assert said(
        tmp_path,
        a="asset: o\npartition_expr: day\nincremental: true\ntimeout: 60\n" + other("a"),
        b="asset: o\npartition_expr: month\nincremental: false\ntimeout: 2 min\n" + other("b"),
        c="asset: o\nmetrics: {m: record_count}\n" + other("c"),
        d="asset: o\nmetrics: {m: column_count}\n" + other("d"),
    ) == [
        f"{place}, asset 'o': two rule sets of the asset ({first}) and ({place}) say different "
        f"things of {what}: say it once."
        for what, first, place in (
            ("metric 'm'", "c.yaml:1", "d.yaml:1"),
            ("field 'partition_expr'", "a.yaml:1", "b.yaml:1"),
            ("field 'incremental'", "a.yaml:1", "b.yaml:1"),
            ("field 'timeout'", "a.yaml:1", "b.yaml:1"),
        )
    ]


def test_python_and_python() -> None:
    rules = [dq.ColumnUnique(columns="a")]
    sets = [
        dq.RuleSet(asset="o", rules=[dq.RecordCountInRange(min=1)], incremental=True),
        dq.RuleSet(asset="o", rules=rules, meanings={"m": {"values": [1]}}),
        dq.RuleSet(
            asset="o",
            rules=[dq.ColumnValidMeaning(columns="a", meaning="n")],
            meanings={"n": {"values": [2]}},
        ),
    ]
    [one] = merged(sets)
    assert one.incremental
    assert set(one.meanings) == {"m", "n"}
    assert len(one.rules) == 3
    with pytest.raises(dq.DeclarationError, match=r"\(Python\) and \(Python\) say different"):
        merged([sets[0], dq.RuleSet(asset="o", rules=rules, incremental=False)])


EVERY_FIELD: dict[str, Any] = {
    "asset": "shop/orders",
    "rules": [{"type": "metric_in_range", "metric": "m", "min": 1}],
    "metrics": {"m": "record_count"},
    "templates": {"t": {"sql": "select count(*) from {table}", "fails_when": "> 3"}},
    "on_empty": "warn",
    "empty_includes_blank": True,
    "declared_schema": [{"name": "a", "type": "int"}],
    "meanings": {"code": {"pattern": "[A-Z]+"}},
    "column_meanings": {"a": "code"},
    "reader": {"files": "orders/*.csv", "format": "csv", "options": {"header": "true"}},
    "partition_expr": {"day": "day", "country": "upper(land)"},
    "incremental": True,
    "timeout": "1 h 30 min",
    "samples": ["a"],
    "sensitive": ["b", "c"],
}


def test_every_field_of_a_rule_set_works_in_a_file(tmp_path: Path) -> None:
    assert set(EVERY_FIELD) == set(dq.RuleSet.model_fields)
    schema = dq.json_schema()
    assert set(schema["$defs"]["rule_set"]["properties"]) == set(EVERY_FIELD)
    [loaded] = load(tmp_path, a=json.dumps(EVERY_FIELD))
    assert loaded == dq.RuleSet(**EVERY_FIELD)
    assert reader_of(loaded.reader) == dq.Files(
        "orders/*.csv", format="csv", options={"header": "true"}
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("incremental: maybe", "a.yaml:2, asset 'o': field 'incremental': true or false is needed"),
        ("partition_expr: day)", "a.yaml:2, asset 'o': field 'partition_expr'"),
        ("reader: {table: t, files: f}", "a.yaml:2, asset 'o': field 'reader': one of table and"),
        ("reader: {tabel: t}", "a.yaml:2, asset 'o': unknown field 'reader.tabel'. Did you mean"),
        ("reader: orders", "a.yaml:2, asset 'o': field 'reader': write {table: orders} or {files:"),
        ("timeout: soon", "a.yaml:2, asset 'o': field 'timeout': 'soon' is not a length of time: "),
        ("timeout: 0", "a.yaml:2, asset 'o': field 'timeout': a length of time of more than 0 is"),
        ("timeout: -5 min", "a.yaml:2, asset 'o': field 'timeout': a length of time of more than"),
        ("timeout: true", "a.yaml:2, asset 'o': field 'timeout': a time such as '2 hours' is nee"),
        ("timeout: 2 months", "a.yaml:2, asset 'o': field 'timeout': '2 months' has no fixed len"),
        ("increment: true", "a.yaml:2, asset 'o': unknown field 'increment'. Did you mean 'incr"),
    ],
)
def test_a_field_that_is_wrong_comes_with_its_line(tmp_path: Path, text: str, why: str) -> None:
    found = said(tmp_path, a=f"asset: o\n{text}\nrules: [{RULE}]\n")
    assert found[0].startswith(why), found


def test_problems_come_in_the_order_of_lines(tmp_path: Path) -> None:
    found = said(
        tmp_path,
        a="asset: o\n"
        "rules:\n"
        "- type: record_count_in_range\n"
        "  mn: 1\n"
        "- {type: column_unique, columns: a}\n"
        "- {type: column_unique, columns: a}\n"
        "- type: nothing\n"
        "incremental: maybe\n",
        b="asset: p\nrules: 7\n",
    )
    assert [text.split(",")[0] for text in found] == [
        "a.yaml:4", "a.yaml:6", "a.yaml:7", "a.yaml:8", "b.yaml:2",
    ]  # fmt: skip


# --- YAML's own ways to say things once ---------------------------------------------------------

MERGED: list[tuple[str, Any]] = [
    ("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}", {"x": 1, "y": 3}),
    ("a: &a {x: 1, y: 2}\nb: {y: 3, <<: *a}", {"x": 1, "y": 3}),
    ("a: [&p {x: 1}, &q {x: 2, y: 2}]\nb: {<<: [*p, *q], z: 3}", {"x": 1, "y": 2, "z": 3}),
    ("a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b, x: 9}", {"x": 9, "y": 2}),
    ("b: {<<: {x: 1}}", {"x": 1}),
    ("b: {'<<': 1}", {"<<": 1}),
]


@pytest.mark.parametrize(("text", "value"), MERGED)
def test_merge_keys(text: str, value: Any) -> None:
    [document] = read_documents(text, name="r.yaml")
    assert list(plain(document).values())[-1] == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("b: {<<: 1}", "r.yaml:1: '<<' takes over fields"),
        ("b:\n  <<: [{x: 1}, 2]", "r.yaml:2: '<<' takes over fields"),
        ("b:\n  <<: {x: 1}\n  <<: {y: 1}", "r.yaml:3: '<<' stands here twice."),
        ("a: &a {<<: *a}", "r.yaml:1: an alias refers to itself."),
    ],
)
def test_merge_keys_that_cannot_be(text: str, why: str) -> None:
    with pytest.raises(dq.DeclarationError) as caught:
        read_documents(text, name="r.yaml")
    assert str(caught.value.problems[0]).startswith(why)


def test_a_bomb_of_merge_keys_is_refused() -> None:
    lines = ["a0: &a0 {k: [x, x, x, x, x, x, x, x, x, x]}"]
    lines += [
        f"a{n}: &a{n} {{k{n}: [{', '.join([f'*a{n - 1}'] * 9)}], <<: *a{n - 1}}}"
        for n in range(1, 12)
    ]
    with pytest.raises(dq.DeclarationError, match="more than 100,000 values, with aliases"):
        read_documents("\n".join(lines), name="r.yaml")


def test_rules_that_inherit_fields_and_the_lines_of_their_mistakes(tmp_path: Path) -> None:
    text = (
        "x-quiet: &quiet\n"
        "  blocking: false\n"
        "  owners: [crm]\n"
        "asset: o\n"
        "rules:\n"
        "- {<<: *quiet, type: column_not_empty, columns: a}\n"
        "- {<<: *quiet, type: column_unique, columns: a, blocking: true}\n"
    )
    [loaded] = load(tmp_path, a=text)
    assert [(r.blocking, r.owners) for r in loaded.rules] == [(False, ("crm",)), (True, ("crm",))]
    assert "^x-" in dq.json_schema()["$defs"]["rule_set"]["patternProperties"]
    assert said(tmp_path, a=text.replace("owners", "owner")) == [
        (
            "a.yaml:3, rule 'column_not_empty a', asset 'o': unknown field 'owner'. Did you mean "
            "'owners'?"
        ),
        (
            "a.yaml:3, rule 'column_unique a', asset 'o': unknown field 'owner'. Did you mean "
            "'owners'?"
        ),
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing yet\n", "---\n", "---\n---\n", "null\n"])
def test_an_empty_file_is_told_with_its_name(tmp_path: Path, text: str) -> None:
    assert said(tmp_path, a=text, b=f"asset: o\nrules: [{RULE}]\n") == [
        ("a.yaml:1: There are no rules: a file needs 'asset: ...' and 'rules: [...]'.")
    ]


def test_an_empty_part_of_a_file_is_no_mistake(tmp_path: Path) -> None:
    assert len(load(tmp_path, a=f"---\nasset: o\nrules: [{RULE}]\n---\n")) == 1
