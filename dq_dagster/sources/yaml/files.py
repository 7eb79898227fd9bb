"""Rule sets from YAML files. A file holds one asset with its rules, or several under `assets`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.ruleset import RuleSet
from dq_dagster.sources.reading import Declaration, Reading
from dq_dagster.sources.yaml.text import ANCHORS, LARGEST_FILE, json_as_yaml, read_documents

_NO_RULES = "an asset with its rules is needed: 'asset: ...' and 'rules: [...]'."


def load_rules(path: str | Path, *, trusted: bool = True) -> list[RuleSet]:
    """The rule sets of a YAML file, or of all YAML files in a folder and below.

    What several files, or several places of one, say of an asset becomes one rule set. Raises
    DeclarationError with every problem of every file, each with file and line.
    """
    reading = Reading()
    loaded: list[RuleSet] = []
    for file in _files(Path(path)):
        # Below a folder several files may have one name.
        name = file.name if file == Path(path) else file.relative_to(path).as_posix()
        of_file = Reading(trusted=trusted)
        loaded += _of_file(file, name, of_file)
        reading.problems.extend(sorted(of_file.problems, key=_line_of))
    return reading.finished(loaded)


def _of_file(file: Path, name: str, reading: Reading) -> list[RuleSet]:
    try:
        documents = read_file(file, name)
    except DeclarationError as error:
        reading.problems.extend(error.problems)
        return []
    declared = _rule_sets(documents, name, reading.problems)
    return [one for one in map(reading.rule_set, declared) if one is not None]


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
        if isinstance(document, Declaration) and "assets" in document.fields:
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
