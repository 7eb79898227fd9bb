"""The rules of Spark-Expectations as rows with its 17 columns, from its files and its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import DeclarationError, Problem, did_you_mean
from dq_dagster.sources.reading import Declaration
from dq_dagster.sources.rules_table.rows import table_rows
from dq_dagster.sources.yaml.files import read_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULE_TYPES = ("row_dq", "agg_dq", "query_dq")
#: The columns, each with what it is where nothing is said; None: it has to be said.
COLUMNS: Mapping[str, Any] = {
    "product_id": None,
    "table_name": None,
    "rule_type": None,
    "rule": None,
    "column_name": "",
    "expectation": None,
    "action_if_failed": "ignore",
    "tag": "",
    "description": "",
    "enable_for_source_dq_validation": True,
    "enable_for_target_dq_validation": True,
    "is_active": True,
    "enable_error_drop_alert": False,
    "error_drop_threshold": 0,
    "query_dq_delimiter": "",
    "enable_querydq_custom_output": False,
    "priority": "medium",
}
_SUFFIXES = (".yaml", ".yml", ".json")
# The keys of a file beside fields that all of its rules share.
_SHAPE = {"rules", "validations", "tables", "dq_env", "defaults"}


def rows_of_table(source: Any, session: SparkSession | None) -> list[Declaration]:
    """The rows of a rules table: a column that is NULL is not the same as one that is not there."""
    _, rows = table_rows(source, session)
    columns = rows[0].places
    lacking = [name for name in ("rule_type", "rule", "expectation") if name not in columns]
    if lacking:
        hints = [f"'{name}'{did_you_mean(name, columns)}" for name in lacking]
        place = rows[0].place.rpartition(", row")[0]
        message = f"these columns of Spark-Expectations are not there: {', '.join(hints)}"
        raise DeclarationError([Problem(f"{message.removesuffix('.')}.", place=place)])
    return [
        Declaration({key: value for key, value in row.fields.items() if value != "null"},
                    row.place, row.places)
        for row in rows
    ]  # fmt: skip


def rows_of_file(path: str | Path, env: str | None) -> list[Declaration]:
    """The rules of a YAML or JSON file, each with all that holds for it.

    Raises DeclarationError with every problem of the file's shape, each with its line.
    """
    file = Path(path)
    if not file.is_file():
        raise DeclarationError.of(f"'{path}' is not a file.")
    if file.suffix not in _SUFFIXES:
        raise DeclarationError.of(
            f"'{path}' is neither a YAML nor a JSON file: read other formats into a DataFrame."
        )
    documents = [one for one in read_file(file, file.name) if one is not None]
    problems: list[Problem] = []
    found = [
        row
        for document in documents
        for row in _of_document(document, f"{file.name}:1", env, problems)
    ]
    if not found and not problems:
        problems.append(Problem("there are no rules in it.", place=f"{file.name}:1"))
    if problems:
        raise DeclarationError(problems)
    return found


def _of_document(
    document: Any, place: str, env: str | None, problems: list[Problem]
) -> Iterator[Declaration]:
    """All shapes of files that there have been; rules in a list are the present one."""
    if isinstance(document, list):
        yield from _of_list(document, {}, place, problems)
    elif not isinstance(document, Declaration):
        problems.append(Problem(_NO_RULES, place=place))
    elif "validations" in document.fields:
        yield from _of_validations(document, env, problems)
    elif "rules" in document.fields:
        yield from _of_rules(document, {}, env, problems)
    elif "tables" in document.fields:
        yield from _of_tables(document, problems)
    elif document.fields and all(map(_is_rule, document.fields.values())):
        # Each rule under a name of its own.
        yield from _of_list(list(document.fields.values()), {}, place, problems)
    else:
        problems.append(Problem(_NO_RULES, place=document.place))


_NO_RULES = "rules are needed: 'product_id: ...', 'table_name: ...' or 'dq_env: ...', and 'rules:'."


def _is_rule(value: Any) -> bool:
    return isinstance(value, Declaration) and "expectation" in value.fields


def _of_validations(
    document: Declaration, env: str | None, problems: list[Problem]
) -> Iterator[Declaration]:
    shared = _defaults(document, problems)
    entries = document.fields["validations"]
    if not isinstance(entries, list) or not entries:
        message = "field 'validations' must be a list of tables with their rules."
        problems.append(Problem(message, place=document.place_of("validations")))
        return
    for entry in entries:
        if isinstance(entry, Declaration):
            yield from _of_rules(entry, shared, env, problems)
        else:
            message = "a table with its rules is needed: 'product_id', 'table_name' and 'rules'."
            problems.append(Problem(message, place=document.place_of("validations")))


def _of_rules(
    document: Declaration, shared: Mapping[str, Any], env: str | None, problems: list[Problem]
) -> Iterator[Declaration]:
    above = {key: one for key, one in document.fields.items() if key not in _SHAPE and one}
    shared = {
        **shared,
        **_defaults(document, problems),
        # What stands above all rules comes first, but for the table, which an environment names.
        **{key: one for key, one in above.items() if key == "table_name"},
        **_of_environment(document, env, problems),
    }
    rules = document.fields.get("rules")
    if not isinstance(rules, list) or not rules:
        place = document.place_of("rules")
        problems.append(Problem("field 'rules' must be a list of rules.", place=place))
        return
    fixed = {key: one for key, one in above.items() if key == "product_id"}
    yield from _of_list(rules, shared, document.place_of("rules"), problems, fixed)


def _of_tables(document: Declaration, problems: list[Problem]) -> Iterator[Declaration]:
    shared = _defaults(document, problems)
    product = {key: one for key, one in document.fields.items() if key == "product_id"}
    for table, kinds in _fields(document, "tables", problems).items():
        if not isinstance(kinds, Declaration):
            message = f"table '{table}' needs its rules by type: 'row_dq: [...]'."
            problems.append(Problem(message, place=document.place_of("tables")))
            continue
        for kind, rules in kinds.fields.items():
            if not isinstance(rules, list):
                message = f"field '{kind}' must be a list of rules."
                problems.append(Problem(message, place=kinds.place_of(kind)))
                continue
            fixed = {**product, "table_name": table, "rule_type": kind}
            yield from _of_list(rules, shared, kinds.place_of(kind), problems, fixed)


def _of_list(
    rules: list[Any],
    shared: Mapping[str, Any],
    place: str,
    problems: list[Problem],
    fixed: Mapping[str, Any] | None = None,
) -> Iterator[Declaration]:
    for rule in rules:
        if not isinstance(rule, Declaration):
            message = f"a rule is fields such as 'rule: ...' and 'expectation: ...', not {rule!r}."
            problems.append(Problem(message, place=place))
            continue
        said = {**shared, **rule.fields, **(fixed or {})}
        # Null is no value of the table: it stands for what holds where nothing at all is said.
        given = {key: one for key, one in said.items() if one is not None}
        places = {key: where for key, where in rule.places.items() if key in given}
        yield Declaration(given, rule.place, places)


def _defaults(document: Declaration, problems: list[Problem]) -> Mapping[str, Any]:
    if document.fields.get("defaults") is None:
        return {}
    return _fields(document, "defaults", problems)


def _of_environment(
    document: Declaration, env: str | None, problems: list[Problem]
) -> Mapping[str, Any]:
    if "dq_env" not in document.fields:
        return {}
    place = document.place_of("dq_env")
    known = {name.lower(): name for name in _fields(document, "dq_env", problems)}
    listed = ", ".join(known.values())
    if not known:
        return {}
    if env is None:
        message = f"the file has environments ({listed}): choose one by env=."
        problems.append(Problem(message, place=place))
        return {}
    if env.lower() not in known:
        hint = did_you_mean(env, known.values()) or f" There is: {listed}."
        problems.append(Problem(f"there is no environment '{env}'.{hint}", place=place))
        return {}
    chosen = document.fields["dq_env"]
    return _fields(chosen, known[env.lower()], problems)


def _fields(document: Declaration, name: str, problems: list[Problem]) -> Mapping[str, Any]:
    found = document.fields.get(name)
    if isinstance(found, Declaration) and found.fields:
        return found.fields
    message = f"field '{name}' must be a set of fields."
    problems.append(Problem(message, place=document.place_of(name)))
    return {}
