"""The documentation is run: its Python, its YAML, and the output it shows; pages are up to date."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import dagster as dg
import pytest

import dq_dagster as dq
from docs.catalogue.examples import evaluated
from docs.catalogue.pages import pages
from docs.catalogue.template import Misplaced, require_places
from dq_dagster.integration.checks import request, results
from dq_dagster.integration.event_log import codec as record_codec
from dq_dagster.integration.event_log import views
from dq_dagster.integration.guarded import quarantine, replayed, stats
from dq_dagster.monitoring import declared
from dq_dagster.rules.base.column_rules import ColumnRule
from dq_dagster.rules.catalogue import RULE_TYPES
from tests.integration.shelf import status_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
RULES = ROOT / "docs" / "rules.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield Block(found[1], found[2], text.count("\n", 0, found.start()) + 2)


def execute(block: Block, page: Path, namespace: dict[str, Any]) -> str:
    # Line numbers in tracebacks are those of the page.
    # What this file imports from the future is not in the page.
    source = "\n" * (block.line - 1) + block.text
    code = compile(source, str(page), "exec", dont_inherit=True)
    with redirect_stdout(io.StringIO()) as output:
        exec(code, namespace)
    return output.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_runs_and_prints_what_is_shown(
    page: Path, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    printed = ""
    for block in blocks(page):
        if block.language == "python":
            printed = execute(block, page, namespace)
        elif block.language == "text":
            assert printed == block.text, f"{page.name}:{block.line} shows something else"
    for name, test in namespace.items():
        if name.startswith("test_"):
            test()
    defs = namespace.get("defs")
    if isinstance(defs, dg.Definitions):
        assert statuses_of_a_run(defs, tmp_path) == ["Error", "Warning", "Ok", "Ok"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_is_formatted(page: Path) -> None:
    for block in blocks(page):
        if block.language == "python":
            ruff = ["ruff", "format", "--check", "--config", str(ROOT / "pyproject.toml"), "-"]
            done = subprocess.run(
                ruff, input=block.text, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{page.name}:{block.line}: {done.stderr or done.stdout}"


def statuses_of_a_run(defs: dg.Definitions, folder: Path) -> list[str]:
    dg.Definitions.validate_loadable(defs)
    result = defs.resolve_implicit_global_asset_job_def().execute_in_process(
        run_config={"resources": {"io_manager": {"config": {"path": str(folder)}}}}
    )
    evaluations = result.get_asset_check_evaluations()
    return [status_of(evaluation) for evaluation in evaluations]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_yaml_loads(page: Path, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    for block in blocks(page):
        if block.language == "yaml":
            file.write_text(as_rule_set(block.text), encoding="utf-8")
            assert dq.load_rules(file)[0].rules, f"{page.name}:{block.line} has no rules"


def as_rule_set(text: str) -> str:
    """Examples of one rule are shown without the lines around it."""
    return text if re.search("^assets?:", text, re.MULTILINE) else f"asset: orders\nrules:\n{text}"


def documented_fields(text: str) -> set[str]:
    cells = re.findall(r"^\| (`[^|]+) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_generated_pages_are_up_to_date(spark: SparkSession) -> None:
    # In the zone of ./dev docs, not that of the other tests.
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    for page, text in pages(session).items():
        assert page.read_text(encoding="utf-8") == text, f"{page.name}: run ./dev docs"


@pytest.mark.deep
def test_the_command_finds_the_pages_up_to_date() -> None:
    command = [sys.executable, "-m", "docs.catalogue", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"Run ./dev docs:\n{done.stdout}{done.stderr}"


def test_every_example_gives_a_verdict(spark: SparkSession) -> None:
    examples = evaluated(spark)
    assert set(examples) == set(RULE_TYPES)
    assert {example.outcome.status for example in examples.values()} >= {"Ok", "Warning", "Error"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("## A\n<!-- rules -->\n## B", "put '<!-- rules -->' below a heading '## B'"),
        ("## A\n<!-- rules -->\n## B\n<!-- rules -->\n## C\n<!-- rules -->", "no families: C"),
        ("## A\n<!-- rules -->\n<!-- rules -->\n## B\n<!-- rules -->", "two places: A"),
    ],
)
def test_a_family_needs_one_place_on_the_page(text: str, message: str) -> None:
    with pytest.raises(Misplaced, match=re.escape(message)):
        require_places(text, ["A", "B"])


def test_the_shared_fields_are_documented() -> None:
    before = RULES.read_text(encoding="utf-8").split("\n### ", 1)[0]
    assert documented_fields(before) >= set(ColumnRule.model_fields)


def test_all_extras_are_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    install = README.read_text(encoding="utf-8").split("## Install", 1)[1].split("\n## ", 1)[0]
    assert documented_fields(install) == set(project["optional-dependencies"])


def test_all_metadata_keys_are_listed() -> None:
    page = (ROOT / "docs" / "metadata.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`(dq/\w+)`", page))
    known = {
        value
        for module in (views, record_codec, results, request, stats, quarantine, replayed, declared)
        for value in vars(module).values()
        if isinstance(value, str) and re.fullmatch(r"dq/\w+", value)
    }
    assert listed == known


def test_links_and_pictures_exist() -> None:
    for page in PAGES:
        targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        for target in targets:
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
