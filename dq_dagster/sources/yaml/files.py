"""Rule sets from YAML files. A file holds one asset with its rules, or several under `assets`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from dq_dagster.errors import DeclarationError, Problem, did_you_mean
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.catalogue import parse_rule
from dq_dagster.ruleset import Origin, RuleSet, collisions, merged
from dq_dagster.sources.yaml.text import ANCHORS, LARGEST_FILE, Located, plain, read_documents

_FIELDS = tuple(RuleSet.model_fields)
_NO_RULES = "an asset with its rules is needed: 'asset: ...' and 'rules: [...]'."


def load_rules(path: str | Path) -> list[RuleSet]:
    """The rule sets of a YAML file, or of all YAML files in a folder and below.

    What several files, or several places of one, say of an asset becomes one rule set. Raises
    DeclarationError with every problem of every file, each with file and line.
    """
    problems: list[Problem] = []
    loaded: list[RuleSet] = []
    for file in _files(Path(path)):
        found: list[Problem] = []
        # Below a folder several files may have one name.
        name = file.name if file == Path(path) else file.relative_to(path).as_posix()
        loaded += _of_file(file, name, found)
        problems += sorted(found, key=_line_of)
    try:
        every = merged(loaded)
    except DeclarationError as error:
        raise DeclarationError([*problems, *error.problems]) from None
    if problems:
        raise DeclarationError(problems)
    return every


def _of_file(file: Path, name: str, problems: list[Problem]) -> list[RuleSet]:
    try:
        documents = read_documents(_text(file, name), name=name)
    except DeclarationError as error:
        problems += error.problems
        return []
    return [
        rule_set
        for declared in _rule_sets(documents, name, problems)
        for rule_set in _load(declared, name, problems)
    ]


def _line_of(problem: Problem) -> int:
    _, _, line = (problem.place or "").rpartition(":")
    return int(line) if line.isdigit() else 0


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    found = sorted(p for p in path.rglob("*") if p.suffix in {".yaml", ".yml"} and p.is_file())
    if not found:
        what = "has no .yaml or .yml file in it" if path.is_dir() else "does not exist"
        raise DeclarationError.of(f"'{path}' {what}.")
    return found


def _text(file: Path, name: str) -> str:
    size = file.stat().st_size
    if size > LARGEST_FILE:
        message = f"the file has {size:,} bytes; at most {LARGEST_FILE:,} are read. Split it."
        raise DeclarationError([Problem(message, place=f"{name}:1")])
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise DeclarationError([Problem("not UTF-8 text.", place=f"{name}:1")]) from None


def _rule_sets(documents: list[Any], name: str, problems: list[Problem]) -> list[Located]:
    """The mappings that declare one asset each."""
    found: list[Located] = []
    # Nothing between two lines of dashes is no mistake, unless there is nothing else.
    present = [document for document in documents if document is not None]
    if not present:
        message = "There are no rules: a file needs 'asset: ...' and 'rules: [...]'."
        problems.append(Problem(message, place=f"{name}:1"))
    for document in present:
        if isinstance(document, Located) and "assets" in document.data:
            many = document.data["assets"]
            entries = many if isinstance(many, list) else [many]
            problems += _beside_assets(document, name)
        else:
            entries = [document]
        for entry in entries:
            if isinstance(entry, Located):
                found.append(entry)
            else:
                problems.append(Problem(_NO_RULES, place=f"{name}:1"))
    return found


def _load(declared: Located, name: str, problems: list[Problem]) -> list[RuleSet]:
    asset = declared.data.get("asset")
    found = _unknown_fields(declared, name)
    rules, homes = _rules(declared, name, found)
    place = f"{name}:{declared.line}"
    if not isinstance(asset, str) or not asset:
        needed = "must be the asset's key as text" if "asset" in declared.data else "is missing"
        message = f"field 'asset' {needed}, such as 'asset: warehouse/orders'."
        found.append(Problem(message, place=place))
    places = [f"{name}:{home.line}" for home in homes]
    found += collisions(rules, places)
    # Each check once: what else is wrong is to be found as well.
    first = {rule.check_name: rule for rule in reversed(rules)}
    by_name = {rule.name: home for rule, home in zip(rules, homes, strict=True)}
    if isinstance(reader := declared.data.get("reader"), str):
        message = f"field 'reader': write {{table: {reader}}} or {{files: {reader}}}."
        found.append(Problem(message, place=f"{name}:{declared.lines['reader']}"))
    settings = {
        key: plain(value)
        for key, value in declared.data.items()
        if key in _FIELDS and key not in {"asset", "rules"}
    }
    rule_set = None
    try:
        rule_set = RuleSet(asset=asset or "?", rules=tuple(reversed(first.values())), **settings)
    except DeclarationError as error:
        found += [
            replace(p, place=_place(p, by_name.get(p.rule or "", declared), name))
            for p in error.problems
        ]
    named = asset if isinstance(asset, str) else None
    problems += [replace(problem, asset=named) for problem in found]
    if found or rule_set is None:
        return []
    stands = zip((rule.check_name for rule in rules), places, strict=True)
    return [rule_set.declared_at(Origin(place, dict(stands)))]


def _rules(
    declared: Located, name: str, problems: list[Problem]
) -> tuple[list[Rule], list[Located]]:
    """The rules that could be read, and where each of them stands."""
    entries = declared.data.get("rules")
    if not isinstance(entries, list):
        place = f"{name}:{declared.lines.get('rules', declared.line)}"
        problems.append(Problem("field 'rules' must be a list of rules.", place=place))
        return [], []
    rules: list[Rule] = []
    homes: list[Located] = []
    for entry in entries:
        located = entry if isinstance(entry, Located) else declared
        try:
            rule = parse_rule(plain(entry))
        except DeclarationError as error:
            problems += [replace(p, place=_place(p, located, name)) for p in error.problems]
            continue
        rules.append(rule)
        homes.append(located)
    return rules, homes


def _place(problem: Problem, located: Located, name: str) -> str:
    """The line of the field a problem is about, else of the rule."""
    return f"{name}:{located.lines.get(problem.field or '', located.line)}"


def _unknown_fields(declared: Located, name: str) -> list[Problem]:
    return [
        Problem(
            f"unknown field '{key}'.{did_you_mean(key, _FIELDS)}", place=f"{name}:{line}", field=key
        )
        for key, line in declared.lines.items()
        if key not in _FIELDS and not key.startswith(ANCHORS)
    ]


def _beside_assets(document: Located, name: str) -> list[Problem]:
    message = "beside 'assets' nothing can stand: put it into each of the assets."
    return [
        Problem(f"field '{key}': {message}", place=f"{name}:{line}")
        for key, line in document.lines.items()
        if key != "assets" and not key.startswith(ANCHORS)
    ]
