"""Rule sets from YAML files. A file holds one asset with its rules, or several under `assets`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.rules.templates.template import Template
from dq_dagster.ruleset import RuleSet, merged
from dq_dagster.sources.reading import Declaration, Reading
from dq_dagster.sources.yaml.text import ANCHORS, LARGEST_FILE, json_as_yaml, read_documents

_NO_RULES = "an asset with its rules is needed: 'asset: ...' and 'rules: [...]'."


def load_rules(
    path: str | Path, *, trusted: bool = True, templates: Mapping[str, Template] | None = None
) -> list[RuleSet]:
    """The rule sets of a YAML file, or of all YAML files in a folder and below.

    What several files, or several places of one, say of an asset becomes one rule set. Templates
    that a file has by themselves are known in all of them. Raises DeclarationError with every
    problem of every file, each with file and line.
    """
    reading = Reading(trusted=trusted, templates=dict(templates or {}))
    loaded, problems = _read(Path(path), reading)
    return Reading(problems=problems).finished(loaded)


def readable_rules(path: str | Path) -> tuple[list[RuleSet], list[Problem]]:
    """What can be read of the same files, whatever is wrong with the rest; and what that is."""
    reading = Reading()
    _, problems = _read(Path(path), reading)
    try:
        return merged(reading.readable), problems
    except DeclarationError as error:
        return reading.readable, [*problems, *error.problems]


def _read(path: Path, reading: Reading) -> tuple[list[RuleSet], list[Problem]]:
    """The rule sets of all files without any problem, and the problems by file and line."""
    files = [_File.read(file, name, reading) for file, name in _named(path)]
    loaded = [one for file in files for one in file.rule_sets(reading)]
    return loaded, [p for file in files for p in sorted(file.problems, key=_line_of)]


def load_templates(path: str | Path) -> dict[str, Template]:
    """The templates of a YAML file, or of all YAML files in a folder and below, by name.

    Each file has ``templates: {name: {sql: ..., parameters: ..., fails_when: ...}}``. Give them to
    ``dq.load_rules(..., templates=...)`` or ``dq.RuleSet(..., templates=...)``. Raises
    DeclarationError with every problem of every file, each with file and line.
    """
    reading = Reading()
    problems: list[Problem] = []
    for file, name in _named(Path(path)):
        found = _File.read(file, name, reading)
        problems += sorted([*found.problems, *found.without_templates()], key=_line_of)
    if problems:
        raise DeclarationError(problems)
    return reading.templates


@dataclass(frozen=True, slots=True)
class _File:
    """What a file declares besides templates, and what is wrong with it."""

    name: str
    documents: list[Any] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    is_library: bool = False

    @classmethod
    def read(cls, file: Path, name: str, reading: Reading) -> _File:
        """Reads a file; its templates are known to all that is read from now on."""
        try:
            documents = [one for one in read_file(file, name) if one is not None]
        except DeclarationError as error:
            return cls(name, problems=list(error.problems), is_library=True)
        known = len(reading.problems)
        libraries = [one for one in documents if _is_library(one)]
        for one in libraries:
            reading.library(_without_anchors(one))
        problems = reading.problems[known:]
        others = [one for one in documents if not _is_library(one)]
        return cls(name, others, problems, bool(libraries) and not others)

    def rule_sets(self, reading: Reading) -> list[RuleSet]:
        """Its rule sets, with the templates that were read before."""
        if self.is_library:
            return []
        mine = replace(reading, problems=self.problems)
        declared = _rule_sets(self.documents, self.name, self.problems)
        return [one for one in map(mine.rule_set, declared) if one is not None]

    def without_templates(self) -> list[Problem]:
        if self.is_library:
            return []
        message = "templates are needed: 'templates: {name: {sql: ...}}' and nothing else."
        return [Problem(message, place=f"{self.name}:1")]


def _is_library(document: Any) -> bool:
    return (
        isinstance(document, Declaration)
        and "templates" in document.fields
        and document.fields.keys().isdisjoint({"asset", "assets", "rules"})
    )


def _named(path: Path) -> Iterator[tuple[Path, str]]:
    """The files, and what places call them: below a folder several files may have one name."""
    for file in _files(path):
        yield file, file.name if file == path else file.relative_to(path).as_posix()


def _line_of(problem: Problem) -> int:
    _, _, line = (problem.place or "").rpartition(":")
    return int(line) if line.isdigit() else 0


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    found = sorted(p for p in path.rglob("*") if p.suffix in {".yaml", ".yml"} and p.is_file())
    if not found:
        if path.is_dir():
            raise DeclarationError.of(f"'{path}' has no .yaml or .yml file in it.")
        table = f" A table is named by dq.Table('{path}')." if path.name == str(path) else ""
        raise DeclarationError.of(f"'{path}' does not exist.{table}")
    return found


def read_file(file: Path, name: str) -> list[Any]:
    """The documents of a YAML or JSON file, which places call by that name."""
    size = file.stat().st_size
    if size > LARGEST_FILE:
        message = f"the file has {size:,} bytes; at most {LARGEST_FILE:,} are read. Split it."
        raise DeclarationError([Problem(message, place=f"{name}:1")])
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DeclarationError([Problem("not UTF-8 text.", place=f"{name}:1")]) from None
    return read_documents(json_as_yaml(text) if file.suffix == ".json" else text, name=name)


def _rule_sets(documents: list[Any], name: str, problems: list[Problem]) -> list[Declaration]:
    """The mappings that declare one asset each."""
    found: list[Declaration] = []
    # Nothing between two lines of dashes is no mistake, unless there is nothing else.
    present = [document for document in documents if document is not None]
    if not present:
        message = "There are no rules: a file needs 'asset: ...' and 'rules: [...]'."
        problems.append(Problem(message, place=f"{name}:1"))
    for document in present:
        if isinstance(document, Declaration) and _is_shared(document):
            entries: list[Any] = list(_each_asset(document))
        elif isinstance(document, Declaration) and "assets" in document.fields:
            many = document.fields["assets"]
            entries = many if isinstance(many, list) else [many]
            problems += _beside_assets(document)
        else:
            entries = [document]
        for entry in entries:
            if isinstance(entry, Declaration):
                found.append(_without_anchors(entry))
            else:
                problems.append(Problem(_NO_RULES, place=f"{name}:1"))
    return found


def _is_shared(document: Declaration) -> bool:
    """Whether its rules are for several assets, whose keys it lists."""
    assets = document.fields.get("assets")
    return (
        isinstance(assets, list)
        and bool(assets)
        and all(isinstance(one, str) for one in assets)
        and "asset" not in document.fields
    )


def _each_asset(document: Declaration) -> Iterator[Declaration]:
    """The same rules for each of the assets."""
    shared = {key: one for key, one in document.fields.items() if key != "assets"}
    for asset in dict.fromkeys(document.fields["assets"]):
        yield replace(document, fields={"asset": asset, **shared})


def _without_anchors(declared: Declaration) -> Declaration:
    kept = {key: one for key, one in declared.fields.items() if not key.startswith(ANCHORS)}
    return replace(declared, fields=kept)


def _beside_assets(document: Declaration) -> list[Problem]:
    message = "beside 'assets' nothing can stand: put it into each of the assets."
    return [
        Problem(f"field '{key}': {message}", place=place)
        for key, place in document.places.items()
        if key != "assets" and not key.startswith(ANCHORS)
    ]
