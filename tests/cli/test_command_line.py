"""All commands together: each is documented, prints JSON, and helps without loading much."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from dq_dagster.cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "command_line.md"
# They print nothing but JSON, or have other ways to ask for it.
WITHOUT_OPTION = {
    ("schema",),
    ("ui",),
    ("plan",),
    ("import", "spark-expectations"),
    ("contract", "import"),
    ("contract", "export"),
}


def commands(group: click.Group, *above: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *above, name)
        else:
            yield (*above, name), command


def test_every_command_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    listed = re.findall(r"^\| `dq-dagster ([\w-]+)` \|", text, re.MULTILINE)
    assert sorted(listed) == sorted(main.commands)
    codes = text.partition("## Exit codes")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.*?`) \|", codes, re.MULTILINE)
    with_codes = [name for cell in cells for name in re.findall(r"`([\w-]+)`", cell)]
    assert sorted(with_codes) == sorted(main.commands)


def test_every_command_has_json_for_machines() -> None:
    lacking = {
        path
        for path, command in commands(main)
        if not any("--json" in option.opts for option in command.params)
    }
    assert lacking == WITHOUT_OPTION


def test_help_loads_neither_rules_nor_what_they_run_on() -> None:
    """It is there at once: rules alone take longer to load than a reader waits gladly."""
    paths = [[], *([*path] for path, _ in commands(main))]
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from dq_dagster.cli.main import main\n"
        f"for path in {paths!r}:\n"
        "    done = CliRunner().invoke(main, [*path, '--help'])\n"
        "    assert done.exit_code == 0 and 'Usage:' in done.stdout, path\n"
        "heavy = {'dagster', 'pandas', 'py4j', 'pydantic', 'pyspark', 'rich', 'starlette',\n"
        "         'dq_dagster.rules', 'dq_dagster.ruleset', 'dq_dagster.evaluation'}\n"
        "print(*sorted(set(sys.modules) & heavy))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == ""
