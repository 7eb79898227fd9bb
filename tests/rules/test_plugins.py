"""Rule types from other packages: found, kept apart, and harmless where they are broken."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WEEKDAYS = """
from typing import Literal
import dq_dagster as dq

class OnWeekdays(dq.plugins.ColumnValueRule):
    '''Dates are weekdays.'''
    type: Literal["{kind}"] = "{kind}"

    def bad_value(self, column):
        return dq.plugins.ValueSql(column, self.blank_is_empty, "weekday({{value}}) > 4")

    def fault(self, bad):
        return "fall on a weekend"

    def demand(self):
        return "Weekdays only."
"""
END = "\n--\n"
GOOD = WEEKDAYS.format(kind="on_weekdays")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "site"


def install(site: Path, package: str, code: str, **entries: str) -> None:
    """What installing a package leaves behind: its module, and what it says of itself."""
    site.mkdir(exist_ok=True)
    (site / f"{package}.py").write_text(code)
    said = site / f"{package}-1.0.dist-info"
    said.mkdir()
    (said / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {package}:{target}" for name, target in entries.items()]
    (said / "entry_points.txt").write_text("\n".join(["[dq_dagster.rules]", *lines]))


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, env=environment
    )


def declare(site: Path, *asked: Mapping[str, object], shown: str = "rules.rules[0]") -> list[str]:
    """What is said of each rule, or shown of it, by one process that declares them one by one."""
    code = (
        "import dq_dagster as dq\n"
        f"for rule in {[dict(rule) for rule in asked]!r}:\n"
        "    try:\n"
        "        rules = dq.RuleSet(asset='orders', rules=[rule])\n"
        f"        print({shown}, end={END!r})\n"
        "    except dq.DeclarationError as error:\n"
        f"        print(*error.problems, sep='\\n', end={END!r})\n"
    )
    done = run(site, "-c", code)
    assert done.returncode == 0, done.stderr
    *said, rest = done.stdout.split(END)
    assert (len(said), rest) == (len(asked), "")
    return said


RULE = {"type": "on_weekdays", "columns": "day", "name": "n"}
TYPE = "rules.rules[0].type"


def test_a_type_of_a_plugin_is_read_like_any_other(site: Path) -> None:
    install(site, "weekdays", GOOD, on_weekdays="OnWeekdays")
    schema = "dq.json_schema()['$defs']['on_weekdays']['properties']['type']"
    found, field, kind = declare(
        site,
        RULE,
        {**RULE, "treshold": "all"},
        {**RULE, "type": "on_weekday"},
        shown=f"type(rules.rules[0]).__name__, {schema}",
    )
    assert found == "OnWeekdays {'const': 'on_weekdays'}"
    assert field == (
        "rule 'n', asset 'orders': unknown field 'treshold'. Did you mean 'threshold'?"
    )
    assert "Did you mean 'on_weekdays'?" in kind


def test_a_function_may_return_several_types(site: Path) -> None:
    code = f"{GOOD}\nclass Other(OnWeekdays):\n    type: Literal['other'] = 'other'\n"
    install(
        site, "weekdays", f"{code}\ndef every():\n    return [OnWeekdays, Other]", every="every"
    )
    other = {**RULE, "type": "other"}
    assert declare(site, RULE, other, shown=TYPE) == ["on_weekdays", "other"]


@pytest.mark.parametrize(
    ("kind", "packages"),
    [("on_weekdays", "'one' and 'two'"), ("column_not_empty", "'dq_dagster' and 'one' and 'two'")],
)
def test_a_clash_names_the_packages_and_harms_no_other_type(
    site: Path, kind: str, packages: str
) -> None:
    for package in ("one", "two"):
        install(site, package, WEEKDAYS.format(kind=kind), **{kind: "OnWeekdays"})
    clashing, other = {**RULE, "type": kind}, {**RULE, "type": "column_empty"}
    clash, found = declare(site, clashing, other, shown=TYPE)
    assert clash == (
        f"rule 'n', asset 'orders': The type '{kind}' comes from {packages}; rename it in one of "
        "them, or uninstall that."
    )
    assert found == "column_empty"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "import nowhere_to_be_found",
            "ModuleNotFoundError: No module named 'nowhere_to_be_found'",
        ),
        ("OnWeekdays = int", "TypeError: <class 'int'> is not a subclass of dq_dagster.Rule"),
        ("", "AttributeError: module 'broken' has no attribute 'OnWeekdays'"),
        (
            "import dq_dagster as dq\nclass OnWeekdays(dq.plugins.ColumnValueRule): ...",
            "TypeError: OnWeekdays has no default for its field 'type'",
        ),
    ],
)
def test_a_broken_plugin_is_told_where_it_matters(site: Path, code: str, reason: str) -> None:
    install(site, "broken", code, on_weekdays="OnWeekdays")
    install(site, "whole", WEEKDAYS.format(kind="whole"), whole="OnWeekdays")
    said = f"The plugin 'broken:OnWeekdays' of package 'broken' cannot be used ({reason})."
    unknown, other = {**RULE, "type": "on_sundays"}, {**RULE, "type": "whole"}
    broken, unknown_said, whole = declare(site, RULE, unknown, other, shown=TYPE)
    assert broken == f"rule 'n', asset 'orders': {said}"
    assert unknown_said.endswith(said)
    assert whole == "whole"
    listed = run(site, "-c", "from dq_dagster.cli.main import main; main()", "schema")
    assert listed.returncode == 0
    assert listed.stderr.splitlines() == [f"Left out: {said}"]
    assert '"whole"' in listed.stdout


def test_plugins_are_not_looked_for_on_import(site: Path) -> None:
    install(site, "loud", f"print('loaded')\n{GOOD}", on_weekdays="OnWeekdays")
    quiet = run(site, "-c", "import dq_dagster as dq; dq.RuleSet(asset='o', rules=[]); dq.Rule")
    assert (quiet.returncode, quiet.stdout) == (0, "")
