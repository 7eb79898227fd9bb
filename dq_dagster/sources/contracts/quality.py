"""Quality entries of a contract as the fields of rules: library, SQL, text and custom."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, get_args

from dq_dagster.errors import DeclarationError, did_you_mean
from dq_dagster.rules.fields.constraints import QualityDimension
from dq_dagster.rules.fields.threshold import ALL
from dq_dagster.sources.contracts.demands import ALL_OPERATORS, Demand, misspelled_operator
from dq_dagster.sources.contracts.document import (
    ENGINE,
    own_properties,
)
from dq_dagster.sources.contracts.library import (
    BESIDE,
    Quality,
    library_rule,
    name_by_default,
    note_on_between,
)
from dq_dagster.sources.contracts.taking import Taking, column_sql
from dq_dagster.sources.migration import Untranslatable
from dq_dagster.sources.reading import Declaration, plain
from dq_dagster.sources.spark_expectations.texts import with_tables
from dq_dagster.sources.yaml.text import read_documents
from dq_dagster.sql.queries import TABLE

_DIMENSIONS = {
    "ac": "accuracy", "cp": "completeness", "cf": "validity", "conformity": "validity",
    "cs": "consistency", "cv": "completeness", "coverage": "completeness", "tm": "timeliness",
    "uq": "uniqueness",
}  # fmt: skip
_SOFT = {"warning", "warn", "info", "information", "low", "minor"}
_HARD = {"error", "critical", "high", "fatal", "blocker", "major", "medium"}
_DOCUMENTATION = (
    "authoritativeDefinitions", "businessImpact", "id", "method", "customProperties",
)  # fmt: skip
_KNOWN = (
    "name", "description", "type", "metric", "rule", "arguments", "unit", "query", "engine",
    "implementation", "dimension", "severity", "tags", "scheduler", "schedule", *_DOCUMENTATION,
    *ALL_OPERATORS,
)  # fmt: skip
_THERE = re.compile(r"\$?\{\s*(?:object|table|model|schema)\s*\}", re.IGNORECASE)
_HERE = re.compile(r"\$?\{\s*(?:property|column|field)\s*\}", re.IGNORECASE)
# Servers whose SQL is Spark's.
_SPARK = {"databricks", "hive", "local", "s3", "azure", "glue", "custom"}


def quality_rule(quality: Quality, found: Taking) -> None:
    """Fills in the fields of the rule; raises Untranslatable if there is none."""
    fields = quality.fields
    found.kind = _kind(fields)
    _unknown(quality, found)
    _TRANSLATORS[found.kind](quality, found)
    if found.kind == "custom":
        return
    _shared_fields(quality, found)


def _kind(fields: Mapping[str, Any]) -> str:
    kind = fields.get("type")
    if kind is None:
        kind = "sql" if "query" in fields else "library"
    if kind not in _TRANSLATORS:
        hint = did_you_mean(str(kind), _TRANSLATORS) or f" There is: {', '.join(_TRANSLATORS)}."
        raise Untranslatable(f"there is no type '{kind}'.{hint}")
    return str(kind)


def _unknown(quality: Quality, found: Taking) -> None:
    for key in quality.fields:
        if key in BESIDE and not quality.fields.get("arguments"):
            found.note(f"'{key}' stands beside 'arguments', and is read as one of them.")
        elif key not in _KNOWN and not key.startswith("x-"):
            hint = misspelled_operator(key) or did_you_mean(key, _KNOWN)
            raise Untranslatable(f"the standard has no field '{key}' here.{hint}")


def _shared_fields(quality: Quality, found: Taking) -> None:
    given, fields = quality.fields, found.fields
    for name in ("name", "description"):
        if given.get(name):
            fields[name] = str(given[name])
    if given.get("tags"):
        fields["tags"] = [str(one) for one in plain(given["tags"])]
    dimension = str(given.get("dimension") or "").lower()
    if dimension:
        known = _DIMENSIONS.get(dimension, dimension)
        if known in get_args(QualityDimension):
            fields["quality_dimension"] = known
        else:
            found.note(f"'{dimension}' is no dimension of the standard, and has no effect.")
    if given.get("schedule") or given.get("scheduler"):
        found.differ("It runs with the build of the asset, not by its schedule.")
    _severity(str(given.get("severity") or "").lower(), found)
    own = own_properties(quality.declared)
    fields.update(own)
    idle = [key for key in _DOCUMENTATION if given.get(key) and not (key[0:6] == "custom" and own)]
    if idle:
        found.note(f"{', '.join(idle)}: documentation.")


def _severity(severity: str, found: Taking) -> None:
    if not severity or severity in _HARD:
        return
    if severity not in _SOFT:
        found.differ(f"'{severity}' is no severity known here: a failure is an Error.")
    elif softened(found.fields):
        found.note(f"Severity '{severity}': a failure is a Warning.")
    else:
        found.fields["blocking"] = False
        found.differ(f"Severity '{severity}': a failure is an Error that stops nothing.")


def softened(fields: dict[str, Any]) -> bool:
    """Makes Warnings of what would be Errors, if the rule has soft bounds for it."""
    if "min" in fields or "max" in fields:
        if "exclusive" in fields:
            return False
        for side in ("min", "max"):
            if side in fields:
                fields[f"soft_{side}"] = fields.pop(side)
        return True
    if "threshold" not in fields:
        return False
    threshold = fields["threshold"]
    if threshold == ALL:
        fields["threshold"] = {"type": "count", "soft_max": 0}
    else:
        fields["threshold"] = {"type": threshold["type"], "soft_max": threshold["max"]}
    return True


def _sql(quality: Quality, found: Taking) -> None:
    query = quality.fields.get("query")
    if not isinstance(query, str) or not query.strip():
        raise Untranslatable("'query' is missing.")
    text = _THERE.sub(TABLE, query.strip().rstrip(";").rstrip())
    if _HERE.search(text):
        name = column_sql(*quality.path)
        text = _HERE.sub(lambda _: name, text)
    text, references = _with_objects(quality, text)
    demand = Demand.of(plain(quality.declared))
    found.fields |= {
        "type": "query_dq",
        "expectation": text if demand is None else demand.condition(f"({text})"),
    }
    if references:
        found.fields["references"] = references
    if demand is not None:
        note_on_between(found, demand)
    where = "_".join(quality.path) if quality.subject is not None else quality.home.name
    name_by_default(found, f"{where}_sql")
    foreign = [one for one in quality.contract.server_types if one.lower() not in _SPARK]
    if foreign:
        found.differ(f"The query was written for {', '.join(foreign)}; here it is Spark's SQL.")


def _with_objects(quality: Quality, text: str) -> tuple[str, dict[str, Any]]:
    """The query with slots for the rows, and for other objects of the contract."""
    slots: dict[tuple[str, ...], str] = {}
    references: dict[str, Any] = {}
    for number, one in enumerate(quality.contract.objects):
        slot = TABLE if one is quality.home else f"{{object_{number}}}"
        if one is not quality.home:
            references[f"object_{number}"] = {"asset": quality.asset_of(one)}
        for name in (one.name, one.physical):
            slots.setdefault(tuple(name.replace("`", "").lower().split(".")), slot)
    named, _ = with_tables(text, slots)
    return named, {key: one for key, one in references.items() if f"{{{key}}}" in named}


def _text(quality: Quality, found: Taking) -> None:
    raise Untranslatable("it is a text for people: there is nothing that could be computed.")


def _custom(quality: Quality, found: Taking) -> None:
    engine = quality.fields.get("engine")
    implementation = quality.fields.get("implementation")
    if engine != ENGINE:
        raise Untranslatable(f"it is written for '{engine}', which would have to run it.")
    if isinstance(implementation, str):
        try:
            [implementation] = read_documents(implementation, name=found.place)
        except (DeclarationError, ValueError):
            raise Untranslatable("'implementation' is not the YAML of one rule.") from None
    if not isinstance(implementation, Declaration):
        raise Untranslatable("'implementation' must be the fields of a rule.")
    found.fields |= plain(implementation)
    if quality.fields.get("name"):
        found.fields.setdefault("name", str(quality.fields["name"]))


_TRANSLATORS: Mapping[str, Callable[[Quality, Taking], None]] = {
    "library": library_rule,
    "sql": _sql,
    "text": _text,
    "custom": _custom,
}
