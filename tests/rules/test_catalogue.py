"""The catalogue is complete: every type has a class, a schema, an example and documentation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ConfigDict

import dq_dagster as dq
from dq_dagster.rules.catalogue import RULE_TYPES
from dq_dagster.rules.rule import Rule

DOCS = Path(__file__).parents[2] / "docs" / "rules.md"


@pytest.mark.parametrize("kind", RULE_TYPES)
def test_each_type_is_public_described_and_strict(kind: str) -> None:
    model = RULE_TYPES[kind]
    assert getattr(dq, model.__name__) is model
    assert model.__doc__
    config: ConfigDict = model.model_config
    assert config.get("frozen")
    assert config.get("extra") == "forbid"
    for name, field in model.model_fields.items():
        assert field.description or name == "type", name


@pytest.mark.parametrize("kind", RULE_TYPES)
def test_each_type_is_in_the_schema_and_the_docs(kind: str) -> None:
    schema = dq.json_schema()
    assert schema["$defs"][kind]["properties"]["type"] == {"const": kind}
    assert "type" in schema["$defs"][kind]["required"]
    assert f"`{kind}`" in DOCS.read_text(encoding="utf-8")


def test_the_schema_is_json_and_has_all_common_fields() -> None:
    schema = json.loads(json.dumps(dq.json_schema()))
    for kind in RULE_TYPES:
        assert set(Rule.model_fields) <= set(schema["$defs"][kind]["properties"])
        assert schema["$defs"][kind]["additionalProperties"] is False
