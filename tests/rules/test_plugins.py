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


def declare(site: Path, rule: Mapping[str, object], shown: str = "rules.rules[0]") -> str:
    code = (
        "import dq_dagster as dq\n"
        "try:\n"
        f"    rules = dq.RuleSet(asset='orders', rules=[{dict(rule)!r}])\n"
        f"    print({shown})\n"
        "except dq.DeclarationError as error:\n"
        "    print(*error.problems, sep='\\n')\n"
    )
    done = run(site, "-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


RULE = {"type": "on_weekdays", "columns": "day", "name": "n"}


def test_a_type_of_a_plugin_is_read_like_any_other(site: Path) -> None:
    install(site, "weekdays", GOOD, on_weekdays="OnWeekdays")
    assert declare(site, RULE, "type(rules.rules[0]).__name__") == "OnWeekdays"
    said = declare(site, {**RULE, "treshold": "all"})
    assert said == ("rule 'n', asset 'orders': unknown field 'treshold'. Did you mean 'threshold'?")
    assert "Did you mean 'on_weekdays'?" in declare(site, {**RULE, "type": "on_weekday"})
    schema = "dq.json_schema()['$defs']['on_weekdays']['properties']['type']"
    assert declare(site, RULE, schema) == "{'const': 'on_weekdays'}"


def test_a_function_may_return_several_types(site: Path) -> None:
    code = f"{GOOD}\nclass Other(OnWeekdays):\n    type: Literal['other'] = 'other'\n"
    install(
        site, "weekdays", f"{code}\ndef every():\n    return [OnWeekdays, Other]", every="every"
    )
    assert declare(site, RULE, "rules.rules[0].type") == "on_weekdays"
    assert declare(site, {**RULE, "type": "other"}, "rules.rules[0].type") == "other"


@pytest.mark.parametrize(
    ("kind", "packages"),
    [("on_weekdays", "'one' and 'two'"), ("column_not_empty", "'dq_dagster' and 'one' and 'two'")],
)
def test_a_clash_names_the_packages_and_harms_no_other_type(
    site: Path, kind: str, packages: str
) -> None:
    for package in ("one", "two"):
        install(site, package, WEEKDAYS.format(kind=kind), **{kind: "OnWeekdays"})
    assert declare(site, {**RULE, "type": kind}) == (
        f"rule 'n', asset 'orders': The type '{kind}' comes from {packages}; rename it in one of "
        "them, or uninstall that."
    )
    assert declare(site, {**RULE, "type": "column_empty"}, "rules.rules[0].type") == "column_empty"


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
    assert declare(site, RULE) == f"rule 'n', asset 'orders': {said}"
    assert declare(site, {**RULE, "type": "on_sundays"}).endswith(said)
    assert declare(site, {**RULE, "type": "whole"}, "rules.rules[0].type") == "whole"
    listed = run(site, "-c", "from dq_dagster.cli.main import main; main()", "schema")
    assert listed.returncode == 0
    assert listed.stderr.splitlines() == [f"Left out: {said}"]
    assert '"whole"' in listed.stdout


def test_plugins_are_not_looked_for_on_import(site: Path) -> None:
    install(site, "loud", f"print('loaded')\n{GOOD}", on_weekdays="OnWeekdays")
    quiet = run(site, "-c", "import dq_dagster as dq; dq.RuleSet(asset='o', rules=[]); dq.Rule")
    assert (quiet.returncode, quiet.stdout) == (0, "")
