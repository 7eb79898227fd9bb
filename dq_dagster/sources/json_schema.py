"""The JSON Schema of rule files: editors complete and check YAML with it."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from dq_dagster.rules.catalogue import rule_types
from dq_dagster.rules.fields.declared import DeclaredReader
from dq_dagster.ruleset import RuleSet
from dq_dagster.sources.yaml.text import ANCHORS

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """The schema of a rules file: one asset with its rules, several of them, or templates."""
    definitions: dict[str, Any] = {}
    types = rule_types()
    for kind, model in types.items():
        schema = TypeAdapter(model).json_schema(ref_template="#/$defs/{model}")
        definitions |= schema.pop("$defs", {})
        definitions[kind] = _requiring_type(schema, kind)
    definitions["rule"] = {"oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in types]}
    definitions["DeclaredReader"] = TypeAdapter(DeclaredReader).json_schema()
    definitions["rule_set"] = _rule_set(definitions)
    return {
        "$schema": _DIALECT,
        "title": "dq_dagster rules",
        "$defs": definitions,
        "oneOf": [
            {"$ref": "#/$defs/rule_set"},
            _many_assets(),
            _shared(definitions["rule_set"]),
            _library(),
        ],
    }


def _requiring_type(schema: dict[str, Any], kind: str) -> dict[str, Any]:
    required = {"type", *schema.get("required", ())}
    schema["properties"]["type"] = {"const": kind}
    return schema | {"required": sorted(required)}


def _rule_set(definitions: dict[str, Any]) -> dict[str, Any]:
    """The fields of a rule set as its model has them; those of any type as YAML writes them."""
    schema = TypeAdapter(RuleSet).json_schema(ref_template="#/$defs/{model}")
    definitions |= schema.pop("$defs", {})
    fields = {name: _without_null(field) for name, field in schema["properties"].items()}
    for name, form in _IN_YAML.items():
        fields[name] = {**form, "description": fields[name].get("description", "")}
    return {
        "type": "object",
        "additionalProperties": False,
        # A place for anchors that rules refer to.
        "patternProperties": {f"^{ANCHORS}": {}},
        "required": ["asset", "rules"],
        "properties": fields,
    }


def _without_null(field: dict[str, Any]) -> dict[str, Any]:
    """A field that is left out where there is nothing to say, rather than written as null."""
    forms = [form for form in field.get("anyOf", ()) if form != {"type": "null"}]
    kept = {key: value for key, value in field.items() if key not in {"anyOf", "title"}}
    if len(forms) == 1:
        kept |= forms[0]
    elif forms:
        kept["anyOf"] = forms
    return {key: value for key, value in kept.items() if key != "default" or value is not None}


# What the model takes in more ways than a file can write.
_IN_YAML: dict[str, dict[str, Any]] = {
    "asset": {"type": "string"},
    "rules": {"type": "array", "items": {"$ref": "#/$defs/rule"}},
    "metrics": {
        "type": "object",
        "additionalProperties": {"oneOf": [{"type": "string"}, {"$ref": "#/$defs/MetricSource"}]},
    },
    "meanings": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Meaning"}},
    "reader": {"$ref": "#/$defs/DeclaredReader"},
    "templates": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Template"}},
}


def _many_assets() -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "patternProperties": {f"^{ANCHORS}": {}},
        "required": ["assets"],
        "properties": {"assets": {"type": "array", "items": {"$ref": "#/$defs/rule_set"}}},
    }


def _shared(rule_set: dict[str, Any]) -> dict[str, Any]:
    """The same rules for several assets, whose keys are listed."""
    fields = {name: one for name, one in rule_set["properties"].items() if name != "asset"}
    assets = {"type": "array", "minItems": 1, "items": {"type": "string"}}
    return {
        **rule_set,
        "required": ["assets", "rules"],
        "properties": {"assets": assets, **fields},
    }


def _library() -> dict[str, Any]:
    """Templates by themselves, for all rules that are loaded with them."""
    return {
        "type": "object",
        "additionalProperties": False,
        "patternProperties": {f"^{ANCHORS}": {}},
        "required": ["templates"],
        "properties": {"templates": _IN_YAML["templates"]},
    }
