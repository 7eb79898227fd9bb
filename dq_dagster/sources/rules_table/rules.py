"""Rules from a table with the fields of rules as its columns, one rule a row."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter

from dq_dagster.errors import DeclarationError, Problem, did_you_mean
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.catalogue import rule_types
from dq_dagster.rules.templates.template import Template
from dq_dagster.ruleset import RuleSet
from dq_dagster.sources.reading import Declaration, Reading, plain
from dq_dagster.sources.rules_table.rows import table_rows
from dq_dagster.sources.yaml.text import read_documents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ASSET = "asset"
_LONGEST = 100_000
# Columns that hold further fields, by name: as JSON, or as a map or struct.
_FURTHER = ("fields", "parameters")
# What tables often call a field.
_ALSO_CALLED = {
    "rule_type": "type",
    "rule": "name",
    "is_active": "enabled",
    "column": "columns",
    "column_name": "columns",
    "tag": "tags",
    "owner": "owners",
}
# How a text is meant: as it is, as words between commas, as a list, or as YAML writes it.
Form = Literal["text", "words", "list", "yaml"]


def load_table(
    source: Any,
    *,
    asset: str | None = None,
    trusted: bool = False,
    ignore: Collection[str] = (),
    templates: Mapping[str, Template] | None = None,
    session: SparkSession | None = None,
) -> list[RuleSet]:
    """The rule sets of a table; raises DeclarationError with every problem of every row."""
    name, rows = table_rows(source, session)
    reading = Reading(trusted=trusted, templates=dict(templates or {}))
    unknown = list(_unknown_columns(name, rows, ignore))
    reading.problems.extend(unknown)
    left_out = [*ignore, *(str(problem.field) for problem in unknown)]
    by_asset: dict[str, list[Declaration]] = {}
    for row in rows:
        key = row.fields.get(_ASSET, asset)
        if not isinstance(key, str) or not key.strip("/"):
            message = "column 'asset' is empty: write the asset's key, such as warehouse/orders."
            reading.problems.append(Problem(message, place=row.place))
            continue
        try:
            by_asset.setdefault(key, []).append(_rule(row, left_out))
        except DeclarationError as error:
            reading.problems.extend(error.problems)
    declared = [
        Declaration({"asset": key, "rules": rules}, name) for key, rules in by_asset.items()
    ]
    found = [one for one in map(reading.rule_set, declared) if one is not None]
    reading.problems.sort(key=_row_of)
    return reading.finished(found)


def _row_of(problem: Problem) -> int:
    _, _, row = (problem.place or "").rpartition(" ")
    return int(row) if row.isdigit() else 0


def _unknown_columns(
    name: str, rows: list[Declaration], ignore: Collection[str]
) -> Iterator[Problem]:
    known = {_ASSET, *_FURTHER, *_ALSO_CALLED, *_every_field()}
    left_out = {column.lower() for column in ignore}
    for column in dict.fromkeys(column for row in rows for column in row.fields):
        if column not in known and column not in left_out:
            hint = did_you_mean(column, known)
            yield Problem(
                f"column '{column}' is no field of any rule.{hint} Columns that are not about "
                f"rules are named by ignore=['{column}'].",
                place=name,
                field=column,
            )


def _every_field() -> Collection[str]:
    return {field for model in rule_types().values() for field in model.model_fields}


def _rule(row: Declaration, ignore: Collection[str]) -> Declaration:
    """The row as the fields of a rule; raises DeclarationError for cells that cannot be read."""
    left_out = {_ASSET, *(column.lower() for column in ignore)}
    cells = {key: value for key, value in row.fields.items() if key not in left_out}
    kind = cells.get("type", cells.get("rule_type"))
    model = rule_types().get(kind) if isinstance(kind, str) else None
    known = {} if model is None else forms(model)
    further = [key for key in _FURTHER if key in cells and key not in known]
    problems: list[Problem] = []
    found: dict[str, Any] = {}
    for key, value in _given(cells, further, row, problems):
        field = key if key in known else _ALSO_CALLED.get(key, key)
        if field in found:
            message = f"field '{field}' is given twice: once in column '{key}'."
            problems.append(Problem(message, place=row.place, field=field))
            continue
        try:
            found[field] = _meant(value, known.get(field, "yaml"))
        except DeclarationError as error:
            message = f"field '{field}': {error.problems[0].message}"
            problems.append(Problem(message, place=row.place, field=field))
    if problems:
        raise DeclarationError([_about(problem, found) for problem in problems])
    return Declaration(found, row.place)


def _about(problem: Problem, found: Mapping[str, Any]) -> Problem:
    name = found.get("name")
    return Problem(
        problem.message,
        rule=name if isinstance(name, str) else None,
        place=problem.place,
        field=problem.field,
    )


def _given(
    cells: Mapping[str, Any], further: list[str], row: Declaration, problems: list[Problem]
) -> Iterator[tuple[str, Any]]:
    """The fields in columns of their own, and those that one column holds together."""
    yield from ((key, value) for key, value in cells.items() if key not in further)
    for key in further:
        held = cells[key]
        if isinstance(held, str):
            try:
                held = _meant(held, "yaml")
            except DeclarationError as error:
                message = f"column '{key}': {error.problems[0].message}"
                problems.append(Problem(message, place=row.place))
                continue
        if not isinstance(held, Mapping):
            message = f"column '{key}' needs fields by name, such as {{\"min\": 1}}."
            problems.append(Problem(message, place=row.place))
            continue
        yield from held.items()


def _meant(value: Any, form: Form) -> Any:
    """A cell as its field takes it: a text means what it would mean in YAML."""
    if not isinstance(value, str) or form == "text":
        return value
    if form == "words" and not value.startswith("["):
        return [word for word in map(str.strip, value.split(",")) if word]
    if len(value) > _LONGEST:
        raise DeclarationError.of(f"{len(value):,} characters are too many; {_LONGEST:,} may be.")
    text = f"[{value}]" if form == "list" and not value.startswith("[") else value
    documents = read_documents(text, name="cell")
    return plain(documents[0]) if documents else None


@cache
def forms(model: type[Rule]) -> Mapping[str, Form]:
    """How texts are meant for each field of a rule type, as its JSON schema tells."""
    schema = TypeAdapter(model).json_schema()
    return {name: _form(field) for name, field in schema["properties"].items()}


def _form(field: Mapping[str, Any]) -> Form:
    kinds = set(_kinds(field)) - {"null"}
    if kinds == {"string"}:
        return "text"
    if kinds == {"string", "words"}:
        return "words"
    return "list" if kinds <= {"words", "array"} else "yaml"


def _kinds(field: Mapping[str, Any]) -> Iterator[str]:
    for form in field.get("anyOf", ()):
        yield from _kinds(form)
    if "anyOf" in field:
        return
    kind = field.get("type", "string" if "const" in field or "enum" in field else "other")
    words = kind == "array" and field.get("items", {}).get("type") == "string"
    yield "words" if words else kind
