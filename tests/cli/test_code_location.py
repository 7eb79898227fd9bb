"""Code locations that cannot be loaded: commands say so, and end as they do for any bad input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from click.testing import CliRunner, Result

from dq_dagster.cli.main import main

FILES = {
    "zero.py": "def half() -> float:\n    return 1 / 0\n\n\nhalf()\n",
    "unfinished.py": "def (\n",
    "needy.py": "import no_such_package\n",
    "declared.py": "import dq_dagster as dq\n\ndq.load_rules('rules.yaml')\n",
    "rules.yaml": "asset: o\nrules:\n  - {type: column_not_emty, columns: [a]}\n",
}
COMMANDS = {
    "run": ["run", "orders"],
    "status": ["status"],
    "coverage": ["coverage"],
    "explain": ["explain", "orders"],
    "report": ["report", "-o", "report.md"],
    "rows": ["rows", "orders"],
    "replay": ["replay", "orders"],
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    with dg.instance_for_test(set_dagster_home=True):
        yield tmp_path
    for name in set(sys.modules) - before & {Path(one).stem for one in FILES}:
        sys.modules.pop(name, None)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(
    ("file", "message"),
    [
        (
            "zero.py",
            "'zero.py' cannot be loaded: ZeroDivisionError: division by zero (zero.py, line 2).",
        ),
        ("unfinished.py", "'unfinished.py' cannot be loaded: SyntaxError: invalid syntax (unfin"),
        (
            "needy.py",
            "ModuleNotFoundError: No module named 'no_such_package' (needy.py, line 1).",
        ),
        ("declared.py", "unknown type 'column_not_emty'. Did you mean 'column_not_empty'?"),
    ],
)
def test_code_that_breaks(project: Path, command: list[str], file: str, message: str) -> None:
    """Not with 1, which says that data is bad."""
    done = run(*command, "-f", file)
    assert (done.exit_code, message in done.stderr) == (2, True), done.output


def test_a_module_that_is_not_there(project: Path) -> None:
    assert (
        "Module 'nowhere' cannot be found. Name it with -m"
        in run("status", "-m", "nowhere.at").stderr
    )
    needy = run("status", "-m", "needy")
    assert "'needy' cannot be loaded: ModuleNotFoundError" in needy.stderr


def test_reports_do_without_a_code_location_and_say_so(project: Path) -> None:
    done = run("report", "-o", "report.md")
    assert (done.exit_code, "Without" in done.stderr) == (0, False), done.output
    (project / "pyproject.toml").write_text('[tool.dagster]\nmodule_name = "needy"\n')
    done = run("report", "-o", "report.md")
    assert done.exit_code == 0, done.output
    assert "Without the code location in this folder: 'needy' cannot be loaded: Mod" in done.stderr
