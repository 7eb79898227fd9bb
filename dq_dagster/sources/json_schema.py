"""The JSON Schema of rule files: editors complete and check YAML with it."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from dq_dagster.rules.catalogue import rule_types

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """The schema of a rules file: one asset with its rules, or a list of such under ``assets``."""
    definitions: dict[str, Any] = {}
    types = rule_types()
    for kind, model in types.items():
        schema = TypeAdapter(model).json_schema(ref_template="#/$defs/{model}")
        definitions |= schema.pop("$defs", {})
        definitions[kind] = _requiring_type(schema, kind)
    definitions["rule"] = {"oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in types]}
    definitions["rule_set"] = _rule_set()
    return {
        "$schema": _DIALECT,
        "title": "dq_dagster rules",
        "$defs": definitions,
        "oneOf": [{"$ref": "#/$defs/rule_set"}, _many_assets()],
    }


def _requiring_type(schema: dict[str, Any], kind: str) -> dict[str, Any]:
    required = {"type", *schema.get("required", ())}
    schema["properties"]["type"] = {"const": kind}
    return schema | {"required": sorted(required)}


def _rule_set() -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["asset", "rules"],
        "properties": {
            "asset": {"type": "string", "description": "The asset's key, such as warehouse/orders"},
            "metrics": {
                "type": "object",
                "description": "Metrics that rules call by name",
                "additionalProperties": {
                    "oneOf": [{"type": "string"}, {"$ref": "#/$defs/MetricSource"}]
                },
            },
            "on_empty": {"enum": ["pass", "warn", "error"], "default": "pass"},
            "empty_includes_blank": {"type": "boolean", "default": False},
            "declared_schema": {
                "type": "array",
                "items": {"$ref": "#/$defs/SchemaColumn"},
                "description": "The columns that the asset is meant to have.",
            },
            "meanings": {
                "type": "object",
                "description": "Meanings that the rules can use by name",
                "additionalProperties": {"$ref": "#/$defs/Meaning"},
            },
            "column_meanings": {
                "type": "object",
                "description": "By column, the name of the meaning that from_schema stands for",
                "additionalProperties": {"type": "string"},
            },
            "rules": {"type": "array", "items": {"$ref": "#/$defs/rule"}},
        },
    }


def _many_assets() -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["assets"],
        "properties": {"assets": {"type": "array", "items": {"$ref": "#/$defs/rule_set"}}},
    }
