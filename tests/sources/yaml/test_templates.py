"""Libraries of templates in YAML, rules for several assets, and what hostile files say."""

from __future__ import annotations

import time
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import dq_dagster as dq
from dq_dagster.cli.main import main
from dq_dagster.rules.templates.library import LIBRARY
from dq_dagster.sources.yaml.writing import rule_sets_as_yaml

LATE = """\
templates:
  late:
    description: Rows that came late.
    sql: select count(*) from {table} where {came} > :limit
    parameters: {came: column, limit: {type: date, description: The last day.}}
    holds_when: "<= 3"
    quality_dimension: timeliness
"""
RULES = """\
assets: [orders, shop/returns, orders]
on_empty: warn
rules:
  - type: template
    template: late
    parameters: {came: day, limit: 2024-03-01}
  - type: record_count_in_range
    min: 1
"""


def problems(path: Path) -> list[str]:
    start = time.process_time()
    with pytest.raises(dq.DeclarationError) as raised:
        dq.load_rules(path)
    assert time.process_time() - start < 1
    return [str(problem) for problem in raised.value.problems]


def test_a_library_is_known_to_all_rules_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "zz_library.yaml").write_text(LATE)
    (tmp_path / "rules.yaml").write_text(RULES)
    found = dq.load_rules(tmp_path)
    assert [one.asset_name for one in found] == ["orders", "shop/returns"]
    for one in found:
        late, rows = one.rules
        assert (late.name, late.quality_dimension) == ("template_late_day", "timeliness")
        assert (late.on_empty, rows.on_empty) == ("warn", "warn")
        assert one.origin.of(late) == "rules.yaml:4"
    given = dq.load_rules(
        tmp_path / "rules.yaml", templates=dq.load_templates(tmp_path / "zz_library.yaml")
    )
    assert [one.rules for one in given] == [one.rules for one in found]
    assert "unknown template 'late'" in problems(tmp_path / "rules.yaml")[0]
    written = tmp_path / "written" / "rules.yaml"
    written.parent.mkdir()
    written.write_text(rule_sets_as_yaml(found))
    again = dq.load_rules(written)
    assert [one.rules[0].metrics() for one in again] == [one.rules[0].metrics() for one in found]


def test_every_mistake_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("""\
templates:
  a:
    description: x
    sql: delete from {table}
  b:
    sql: select count(*) from {table} where {x} = :y
    parameters: {x: column}
  row_count:
    sql: select 1 from {table}
  c: 5
  d:
    sql: select 1 from {table}
    holds_when: true
    fails: "> 0"
---
asset: orders
rules:
  - type: template
    template: late
  - type: template
    template: rows_with_empty_field
    parameters:
      column: 5
""")
    (tmp_path / "late.yaml").write_text(LATE + "rule: []\n")
    said = problems(tmp_path)
    assert [text.partition(": ")[0].partition(",")[0] for text in said] == [
        "bad.yaml:4",
        "bad.yaml:6",
        "bad.yaml:9",
        "bad.yaml:10",
        "bad.yaml:13",
        "bad.yaml:14",
        "bad.yaml:18",
        "bad.yaml:22",
        "late.yaml:8",
    ]
    assert said[0].startswith("bad.yaml:4: template 'a': field 'sql': 'delete from {table}' is")
    assert ":y" in said[1]
    assert said[2] == "bad.yaml:9: template 'row_count' is a built-in one: call yours otherwise."
    assert "'column': the name of a column is needed, not 5." in said[7]
    assert "'came' is missing: of type column." in said[6]
    assert "'limit' is missing: of type date, The last day." in said[6]
    assert "beside 'templates' alone nothing can stand" in said[8]


def test_templates_stand_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(LATE)
    (tmp_path / "b.yaml").write_text(LATE)
    with pytest.raises(dq.DeclarationError) as raised:
        dq.load_templates(tmp_path)
    assert "b.yaml:2: template 'late' is declared twice." in str(raised.value)
    (tmp_path / "b.yaml").write_text(RULES)
    with pytest.raises(dq.DeclarationError) as raised:
        dq.load_templates(tmp_path / "b.yaml")
    assert "b.yaml:1: templates are needed" in str(raised.value)


BOMB = "x-a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"x-{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 10)}]\n" for n in range(9)
)
HOSTILE = {
    "bomb": (f"{BOMB}templates: {{t: {{sql: x, parameters: *j}}}}\n", "values, with aliases"),
    "python": ("templates: {t: !!python/object/apply:os.system [x]}\n", "is not allowed"),
    "large": (f"templates: {{t: {{sql: \"{'x' * 50_000_000}\"}}}}\n", "bytes; at most"),
    "deep": (f"templates: {'[' * 5_000}\n", "nested more than 50 levels deep"),
    "no mapping": ("templates: [1, 2]\n", "must be templates by name"),
    "many": (
        "templates: {t: {sql: 'select 1 from {table}', parameters: {"
        + ", ".join(f"p{n}: column" for n in range(5_000))
        + "}}}\n",
        "at most 50 parameters",
    ),
    "long": (f"templates: {{t: {{sql: \"{'(' * 900_000}\"}}}}\n", "template 't'"),
    "file": ("templates: {t: {sql: 'select 1 from {table} join text.`/etc/passwd`'}}\n", "passwd"),
    "write": ("templates: {t: {sql: 'with a as (insert into b select 1) {table}'}}\n", "insert"),
    "comment": ("templates: {t: {sql: 'select 1 from {table} -- x'}}\n", "comment"),
    "call": ("templates: {t: {sql: 'select java_method(1) from {table}'}}\n", "java_method"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_libraries_are_refused_at_once(tmp_path: Path, name: str) -> None:
    text, reason = HOSTILE[name]
    (tmp_path / "library.yaml").write_text(text)
    [said, *_] = problems(tmp_path / "library.yaml")
    assert said.startswith("library.yaml:")
    assert reason in said
    assert len(said) < 1_000


def table(**cells: object) -> pd.DataFrame:
    return pd.DataFrame([{"asset": "orders", "type": "template", **cells}])


def test_rules_tables_may_name_templates_but_have_none(tmp_path: Path) -> None:
    (tmp_path / "library.yaml").write_text(LATE)
    templates = dq.load_templates(tmp_path / "library.yaml")
    built_in = table(
        template="values_not_in_list", parameters='{"column": "a", "values": ["x", "y"]}'
    )
    [found] = dq.load_rules(built_in)
    assert found.rules[0].name == "template_values_not_in_list_a"
    late = table(template="late", parameters="{came: day, limit: 2024-03-01}")
    assert dq.load_rules(late, templates=templates)[0].rules[0].name == "template_late_day"
    refused = [
        (late, "unknown template 'late'"),
        (table(template={"sql": "select 1 from {table}"}), "it has a query, and this source"),
        (
            table(template="row_count_difference", parameters="{other: {files: /etc}}"),
            "it has the path of files, and this source is not trusted",
        ),
    ]
    for rows, reason in refused:
        with pytest.raises(dq.DeclarationError) as raised:
            dq.load_rules(rows)
        assert reason in str(raised.value)
    (tmp_path / "rules.yaml").write_text(f"asset: orders\nrules: []\n{LATE}")
    with pytest.raises(dq.DeclarationError, match="it has queries, and this source is not trus"):
        dq.load_rules(tmp_path / "rules.yaml", trusted=False)
    with pytest.raises(dq.DeclarationError, match="it has queries, and this source is not trus"):
        dq.load_rules(tmp_path / "library.yaml", trusted=False)


def test_the_command_line_lists_them(tmp_path: Path) -> None:
    (tmp_path / "library.yaml").write_text(LATE)
    listed = CliRunner().invoke(main, ["templates"])
    assert listed.exit_code == 0
    names = [
        line.split()[0].partition("(")[0] for line in listed.output.splitlines() if "  " in line
    ]
    assert sorted(names) == sorted(LIBRARY)
    own = ["--library", str(tmp_path / "library.yaml")]
    assert CliRunner().invoke(main, ["templates", "late", *own]).output == (
        "late: Rows that came late.\n\nHolds when <= 3. Quality: timeliness.\n\nParameters\n"
        "  came   column\n  limit  date: The last day.\n\nQuery\n"
        "  select count(*) from {table} where {came} > :limit\n"
    )
    unknown = CliRunner().invoke(main, ["templates", "lat"])
    assert unknown.exit_code == 2
    assert "lat" in unknown.output
